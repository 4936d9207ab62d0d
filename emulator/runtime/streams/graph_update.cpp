#include <unordered_map>

#include <halfgrad/emulator/runtime/streams/graph_exec.h>

namespace halfgrad::emulator {
namespace {

using Info = cudaGraphExecUpdateResultInfo;

Info failure(cudaGraphExecUpdateResult result, const GraphNode* node = nullptr,
             const GraphNode* from = nullptr) {
  return {result, node == nullptr ? nullptr : node->handle,
          from == nullptr ? nullptr : from->handle};
}

bool is_cooperative(const GraphNode& node) {
  return node.work != nullptr && node.work->parameters != nullptr &&
         node.work->parameters->cooperative;
}

/// Compares the graphs node by node in order of creation.
Info compare(const Graph& executable, const Graph& graph) {
  if (executable.nodes.size() != graph.nodes.size()) {
    return failure(cudaGraphExecUpdateErrorTopologyChanged);
  }
  std::unordered_map<const GraphNode*, const GraphNode*> partner;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    partner[graph.nodes[i]] = executable.nodes[i];
  for (const GraphNode* node : graph.nodes) {
    const GraphNode& old = *partner.at(node);
    if (node->type != old.type) return failure(cudaGraphExecUpdateErrorNodeTypeChanged, node);
    if (node->dependencies.size() != old.dependencies.size()) {
      return failure(cudaGraphExecUpdateErrorTopologyChanged, node);
    }
    for (const GraphEdge& edge : node->dependencies) {
      if (!has_edge(*partner.at(edge.from), old)) {
        return failure(cudaGraphExecUpdateErrorTopologyChanged, node, edge.from);
      }
    }
    if (is_cooperative(*node) != is_cooperative(old)) {
      return failure(cudaGraphExecUpdateErrorAttributesChanged, node);
    }
    if (node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree ||
        node->type == cudaGraphNodeTypeConditional) {
      return failure(cudaGraphExecUpdateErrorNotSupported, node);
    }
    if (node->child == nullptr) continue;
    const Info inside = compare(*old.child, *node->child);
    if (inside.result != cudaGraphExecUpdateSuccess) return inside;
  }
  return failure(cudaGraphExecUpdateSuccess);
}

void take_parameters(Graph& executable, const Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    executable.nodes[i]->work = graph.nodes[i]->work;
    executable.nodes[i]->event = graph.nodes[i]->event;
    if (graph.nodes[i]->child != nullptr) {
      take_parameters(*executable.nodes[i]->child, *graph.nodes[i]->child);
    }
  }
}

}  // namespace

Info update(Graph& executable, const Graph& graph) {
  const Info info = compare(executable, graph);
  if (info.result == cudaGraphExecUpdateSuccess) take_parameters(executable, graph);
  return info;
}

}  // namespace halfgrad::emulator
