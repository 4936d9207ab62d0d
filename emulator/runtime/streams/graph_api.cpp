#include <halfgrad/emulator/runtime/streams/graph_api.h>

#include <algorithm>

#include <halfgrad/emulator/runtime/streams/capture.h>
#include <halfgrad/emulator/runtime/streams/graph_dot.h>

// Graphs as a whole, and their edges (CUDA Runtime API, "Graph Management").

namespace halfgrad::emulator {
namespace {

/// Answers a query of a list: without an array, its length; else at most *count elements, the rest
/// of the arrays is cleared, and *count becomes the number of elements copied.
template <class Element, class Write>
cudaError_t answer(const std::vector<Element>& elements, bool has_array, std::size_t* count,
                   Write write) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (!has_array) {
    *count = elements.size();
    return cudaSuccess;
  }
  const std::size_t capacity = *count;
  for (std::size_t i = 0; i < capacity; ++i) write(i, i < elements.size() ? &elements[i] : nullptr);
  *count = std::min(capacity, elements.size());
  return cudaSuccess;
}

cudaError_t answer_nodes(const std::vector<GraphNode*>& nodes, cudaGraphNode_t* array,
                         std::size_t* count) {
  return answer(nodes, array != nullptr, count, [&](std::size_t i, GraphNode* const* node) {
    array[i] = node == nullptr ? nullptr : (*node)->handle;
  });
}

struct FullEdge {
  GraphNode *from, *to;
  cudaGraphEdgeData data;
};

std::vector<FullEdge> edges_into(const GraphNode& node) {
  std::vector<FullEdge> result;
  for (const GraphEdge& edge : node.dependencies) {
    result.push_back({edge.from, const_cast<GraphNode*>(&node), edge.data});
  }
  return result;
}

cudaError_t answer_edges(const std::vector<FullEdge>& edges, cudaGraphNode_t* from,
                         cudaGraphNode_t* to, cudaGraphEdgeData* data, std::size_t* count) {
  const bool has_array = from != nullptr || to != nullptr;
  return answer(edges, has_array, count, [&](std::size_t i, const FullEdge* edge) {
    if (from != nullptr) from[i] = edge == nullptr ? nullptr : edge->from->handle;
    if (to != nullptr) to[i] = edge == nullptr ? nullptr : edge->to->handle;
    if (data != nullptr) data[i] = edge == nullptr ? cudaGraphEdgeData{} : edge->data;
  });
}

/// Calls change(from, to, i) for every pair of nodes, all of which must belong to the graph.
template <class Check, class Change>
cudaError_t change_edges(const char* function, cudaGraph_t handle, const cudaGraphNode_t* from,
                         const cudaGraphNode_t* to, std::size_t count, Check check, Change change) {
  return with_graph(function, handle, [&](Graph& graph) {
    if (count == 0) return cudaSuccess;
    if (from == nullptr || to == nullptr) return cudaErrorInvalidValue;
    std::vector<std::pair<GraphNode*, GraphNode*>> pairs;
    for (std::size_t i = 0; i < count; ++i) {
      GraphNode* const first = find_node(from[i], function);
      GraphNode* const second = find_node(to[i], function);
      if (first == nullptr || second == nullptr || first == second || first->graph != &graph ||
          second->graph != &graph || !check(*first, *second)) {
        return cudaErrorInvalidValue;
      }
      pairs.emplace_back(first, second);
    }
    for (std::size_t i = 0; i < count; ++i) change(*pairs[i].first, *pairs[i].second, i);
    return cudaSuccess;
  });
}

}  // namespace

Graph* find_graph(cudaGraph_t handle, const char* function) {
  Graph* const graph = graph_table().find(handle);
  if (graph != nullptr && !graph->is_executable) return graph;
  report_call(FindingKind::invalid_call, function, "the handle is not a live graph's");
  return nullptr;
}

GraphNode* find_node(cudaGraphNode_t handle, const char* function) {
  GraphNode* const node = graph_table().find(handle);
  if (node == nullptr) {
    report_call(FindingKind::invalid_call, function, "the handle is not a live node's");
  }
  return node;
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  return locked_call("cudaGraphCreate", [&](StreamState&) {
    if (out == nullptr || flags != 0) return cudaErrorInvalidValue;
    Graph& made = graph_table().make_graph();
    made.made_at = call_sites();
    *out = made.handle;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return stream_call("cudaGraphDestroy", [&] {
    const std::lock_guard lock(stream_state().mutex);
    Graph* const graph = find_graph(handle, "cudaGraphDestroy");
    if (graph == nullptr || graph->parent != nullptr || graph->is_captured) {
      return cudaErrorInvalidValue;
    }
    graph_table().destroy(*graph);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphClone(cudaGraph_t* out, cudaGraph_t handle) {
  return with_graph("cudaGraphClone", handle, [&](Graph& graph) {
    if (out == nullptr) return cudaErrorInvalidValue;
    Graph& made = graph_table().clone(graph);
    made.made_at = call_sites();
    *out = made.handle;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* out,
                                                           cudaGraphNode_t original,
                                                           cudaGraph_t handle) {
  return with_graph("cudaGraphNodeFindInClone", handle, [&](Graph& graph) {
    const GraphNode* const node = find_in_clone(graph, original);
    if (out == nullptr || node == nullptr) return cudaErrorInvalidValue;
    *out = node->handle;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle,
                                                       cudaGraphNodeType* type) {
  return with_node("cudaGraphNodeGetType", handle, [&](GraphNode& node) {
    if (type == nullptr) return cudaErrorInvalidValue;
    *type = node.type;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return with_node("cudaGraphDestroyNode", handle, [&](GraphNode& node) {
    if (node.graph->is_captured) return cudaErrorInvalidValue;
    graph_table().destroy(node);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes,
                                                    std::size_t* count) {
  return with_graph("cudaGraphGetNodes", handle,
                    [&](Graph& graph) { return answer_nodes(graph.nodes, nodes, count); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes,
                                                        std::size_t* count) {
  return with_graph("cudaGraphGetRootNodes", handle, [&](Graph& graph) {
    std::vector<GraphNode*> roots;
    for (GraphNode* node : graph.nodes) {
      if (node->dependencies.empty()) roots.push_back(node);
    }
    return answer_nodes(roots, nodes, count);
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from,
                                                    cudaGraphNode_t* to, cudaGraphEdgeData* data,
                                                    std::size_t* count) {
  return with_graph("cudaGraphGetEdges", handle, [&](Graph& graph) {
    std::vector<FullEdge> edges;
    for (const GraphNode* node : graph.nodes) {
      for (const FullEdge& edge : edges_into(*node)) edges.push_back(edge);
    }
    return answer_edges(edges, from, to, data, count);
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle,
                                                               cudaGraphNode_t* nodes,
                                                               cudaGraphEdgeData* data,
                                                               std::size_t* count) {
  return with_node("cudaGraphNodeGetDependencies", handle, [&](GraphNode& node) {
    return answer_edges(edges_into(node), nodes, nullptr, data, count);
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle,
                                                                 cudaGraphNode_t* nodes,
                                                                 cudaGraphEdgeData* data,
                                                                 std::size_t* count) {
  return with_node("cudaGraphNodeGetDependentNodes", handle, [&](GraphNode& node) {
    std::vector<FullEdge> edges;
    for (const GraphNode* dependent : node.dependents) {
      for (const FullEdge& edge : edges_into(*dependent)) {
        if (edge.from == &node) edges.push_back(edge);
      }
    }
    return answer_edges(edges, nullptr, nodes, data, count);
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph,
                                                           const cudaGraphNode_t* from,
                                                           const cudaGraphNode_t* to,
                                                           const cudaGraphEdgeData* data,
                                                           std::size_t count) {
  return change_edges(
      "cudaGraphAddDependencies", graph, from, to, count,
      [](const GraphNode& a, const GraphNode& b) { return !has_edge(a, b); },
      [&](GraphNode& a, GraphNode& b, std::size_t i) {
        add_edge(a, b, data == nullptr ? cudaGraphEdgeData{} : data[i]);
      });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                              const cudaGraphNode_t* from,
                                                              const cudaGraphNode_t* to,
                                                              const cudaGraphEdgeData*,
                                                              std::size_t count) {
  return change_edges(
      "cudaGraphRemoveDependencies", graph, from, to, count,
      [](const GraphNode& a, const GraphNode& b) { return has_edge(a, b); },
      [](GraphNode& a, GraphNode& b, std::size_t) { remove_edge(a, b); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path,
                                                         unsigned) {
  return with_graph("cudaGraphDebugDotPrint", handle, [&](Graph& graph) {
    if (path == nullptr) return cudaErrorInvalidValue;
    return write_dot(graph, path) ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

}  // namespace halfgrad::emulator
