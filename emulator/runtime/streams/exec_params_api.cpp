#include <halfgrad/emulator/runtime/streams/graph_api.h>
#include <halfgrad/emulator/runtime/streams/node_contents.h>
#include <halfgrad/emulator/runtime/streams/set_contents.h>

// Parameters of an executable graph's nodes, which later launches use (CUDA Runtime API, "Graph
// Management"). Nodes are named by those of the graph that was instantiated.

namespace halfgrad::emulator {
namespace {

template <class Build>
cudaError_t set_exec_node(const char* function, cudaGraphExec_t exec, cudaGraphNode_t handle,
                          Build build) {
  return stream_call(function, [&] {
    if (const cudaError_t error = may_call(function)) return error;
    NodeContents contents;
    if (const cudaError_t error = build(contents)) return error;
    return locked_call(function, [&](StreamState&) {
      GraphNode* const node = find_exec_node(exec, handle, function);
      if (node == nullptr) return cudaErrorInvalidValue;
      if (contents.type != cudaGraphNodeTypeGraph) {
        return set_contents(function, *node, std::move(contents));
      }
      const Graph* const child = find_graph(contents.child, function);
      if (child == nullptr || node->child == nullptr) return cudaErrorInvalidValue;
      return update(*node->child, *child).result == cudaGraphExecUpdateSuccess
                 ? cudaSuccess
                 : cudaErrorGraphExecUpdateFailure;
    });
  });
}

cudaError_t set_exec_event(const char* function, cudaGraphExec_t exec, cudaGraphNode_t node,
                           cudaGraphNodeType type, cudaEvent_t event) {
  return set_exec_node(function, exec, node, [&](NodeContents& contents) {
    contents = event_contents(type, event);
    return cudaSuccess;
  });
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  return set_exec_node("cudaGraphExecKernelNodeSetParams", exec, node,
                       [&](NodeContents& c) { return kernel_contents(parameters, false, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecMemcpyNodeSetParams(
    cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
  return set_exec_node("cudaGraphExecMemcpyNodeSetParams", exec, node,
                       [&](NodeContents& c) { return copy_contents(parameters, c); });
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                                                     cudaGraphNode_t node, void* to,
                                                                     const void* from,
                                                                     std::size_t bytes,
                                                                     cudaMemcpyKind kind) {
  return set_exec_node("cudaGraphExecMemcpyNodeSetParams1D", exec, node,
                       [&](NodeContents& c) { return copy_contents(to, from, bytes, kind, c); });
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, const void* symbol, const void* from,
    std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set_exec_node(
      "cudaGraphExecMemcpyNodeSetParamsToSymbol", exec, node,
      [&](NodeContents& c) { return copy_to_symbol(symbol, from, bytes, offset, kind, c); });
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* symbol, std::size_t bytes,
    std::size_t offset, cudaMemcpyKind kind) {
  return set_exec_node(
      "cudaGraphExecMemcpyNodeSetParamsFromSymbol", exec, node,
      [&](NodeContents& c) { return copy_from_symbol(to, symbol, bytes, offset, kind, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecMemsetNodeSetParams(
    cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  return set_exec_node("cudaGraphExecMemsetNodeSetParams", exec, node,
                       [&](NodeContents& c) { return memset_contents(parameters, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecHostNodeSetParams(
    cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return set_exec_node("cudaGraphExecHostNodeSetParams", exec, node,
                       [&](NodeContents& c) { return host_contents(parameters, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                                       cudaGraphNode_t node,
                                                                       cudaGraph_t child) {
  return set_exec_node("cudaGraphExecChildGraphNodeSetParams", exec, node,
                       [&](NodeContents& contents) {
                         contents = child_contents(child, false);
                         return cudaSuccess;
                       });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec,
                                                                       cudaGraphNode_t node,
                                                                       cudaEvent_t event) {
  return set_exec_event("cudaGraphExecEventRecordNodeSetEvent", exec, node,
                        cudaGraphNodeTypeEventRecord, event);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec,
                                                                     cudaGraphNode_t node,
                                                                     cudaEvent_t event) {
  return set_exec_event("cudaGraphExecEventWaitNodeSetEvent", exec, node,
                        cudaGraphNodeTypeWaitEvent, event);
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec,
                                                             cudaGraphNode_t node,
                                                             cudaGraphNodeParams* parameters) {
  constexpr const char* kFunction = "cudaGraphExecNodeSetParams";
  return set_exec_node(kFunction, exec, node, [&](NodeContents& c) {
    return contents_of(kFunction, parameters, nullptr, c);
  });
}

}  // namespace halfgrad::emulator
