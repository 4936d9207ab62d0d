#pragma once

#include <string>

#include <halfgrad/emulator/runtime/streams/api.h>
#include <halfgrad/emulator/runtime/streams/graph.h>
#include <halfgrad/emulator/runtime/streams/graph_exec.h>

namespace halfgrad::emulator {

/// The live object, or nullptr after a finding. Handles of executable copies count as unknown.
Graph* find_graph(cudaGraph_t handle, const char* function);
GraphNode* find_node(cudaGraphNode_t handle, const char* function);
GraphExec* find_exec(cudaGraphExec_t handle, const char* function);

/// The node of an executable graph that stands for a node of the graph it was made from.
GraphNode* find_exec_node(cudaGraphExec_t exec, cudaGraphNode_t node, const char* function);

template <class Body>
cudaError_t with_graph(const char* function, cudaGraph_t handle, Body body) {
  return locked_call(function, [&](StreamState&) {
    Graph* const graph = find_graph(handle, function);
    return graph == nullptr ? cudaErrorInvalidValue : body(*graph);
  });
}
template <class Body>
cudaError_t with_node(const char* function, cudaGraphNode_t handle, Body body) {
  return locked_call(function, [&](StreamState&) {
    GraphNode* const node = find_node(handle, function);
    return node == nullptr ? cudaErrorInvalidValue : body(*node);
  });
}

}  // namespace halfgrad::emulator
