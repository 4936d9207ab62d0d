#include <halfgrad/emulator/runtime/streams/graph_api.h>
#include <halfgrad/emulator/runtime/streams/node_contents.h>
#include <halfgrad/emulator/runtime/streams/set_contents.h>

// Nodes that programs add to a graph (CUDA Runtime API, "Graph Management").

namespace halfgrad::emulator {
namespace {

struct Dependencies {
  const cudaGraphNode_t* nodes;
  std::size_t count;
  const cudaGraphEdgeData* data = nullptr;
};

cudaError_t insert(const char* function, cudaGraphNode_t* out, cudaGraph_t handle,
                   const Dependencies& dependencies, NodeContents contents) {
  return with_graph(function, handle, [&](Graph& graph) {
    if (out == nullptr) return cudaErrorInvalidValue;
    if (dependencies.count != 0 && dependencies.nodes == nullptr) return cudaErrorInvalidValue;
    std::vector<GraphNode*> from;
    for (std::size_t i = 0; i < dependencies.count; ++i) {
      from.push_back(find_node(dependencies.nodes[i], function));
      if (from.back() == nullptr || from.back()->graph != &graph) return cudaErrorInvalidValue;
    }
    GraphNode& node = graph_table().add_node(graph, contents.type);
    if (const cudaError_t error = set_contents(function, node, std::move(contents))) {
      graph_table().destroy(node);
      return error;
    }
    for (std::size_t i = 0; i < dependencies.count; ++i) {
      add_edge(*from[i], node,
               dependencies.data == nullptr ? cudaGraphEdgeData{} : dependencies.data[i]);
    }
    *out = node.handle;
    return cudaSuccess;
  });
}

/// Builds the contents without a lock, then inserts the node.
template <class Build>
cudaError_t add(const char* function, cudaGraphNode_t* out, cudaGraph_t graph,
                const Dependencies& dependencies, Build build) {
  return stream_call(function, [&] {
    if (const cudaError_t error = may_call(function)) return error;
    NodeContents contents;
    if (const cudaError_t error = build(contents)) return error;
    return insert(function, out, graph, dependencies, std::move(contents));
  });
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                         const cudaGraphNode_t* dependencies,
                                                         std::size_t count,
                                                         const cudaKernelNodeParams* parameters) {
  return add("cudaGraphAddKernelNode", out, graph, {dependencies, count},
             [&](NodeContents& c) { return kernel_contents(parameters, false, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                         const cudaGraphNode_t* dependencies,
                                                         std::size_t count,
                                                         const cudaMemcpy3DParms* parameters) {
  return add("cudaGraphAddMemcpyNode", out, graph, {dependencies, count},
             [&](NodeContents& c) { return copy_contents(parameters, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph,
                                                           const cudaGraphNode_t* dependencies,
                                                           std::size_t count, void* to,
                                                           const void* from, std::size_t bytes,
                                                           cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNode1D", out, graph, {dependencies, count},
             [&](NodeContents& c) { return copy_contents(to, from, bytes, kind, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(
    cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count,
    const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
    cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNodeToSymbol", out, graph, {dependencies, count},
             [&](NodeContents& c) { return copy_to_symbol(symbol, from, bytes, offset, kind, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(
    cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count,
    void* to, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNodeFromSymbol", out, graph, {dependencies, count},
             [&](NodeContents& c) { return copy_from_symbol(to, symbol, bytes, offset, kind, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                         const cudaGraphNode_t* dependencies,
                                                         std::size_t count,
                                                         const cudaMemsetParams* parameters) {
  return add("cudaGraphAddMemsetNode", out, graph, {dependencies, count},
             [&](NodeContents& c) { return memset_contents(parameters, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                       const cudaGraphNode_t* dependencies,
                                                       std::size_t count,
                                                       const cudaHostNodeParams* parameters) {
  return add("cudaGraphAddHostNode", out, graph, {dependencies, count},
             [&](NodeContents& c) { return host_contents(parameters, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* out,
                                                             cudaGraph_t graph,
                                                             const cudaGraphNode_t* dependencies,
                                                             std::size_t count, cudaGraph_t child) {
  return insert("cudaGraphAddChildGraphNode", out, graph, {dependencies, count},
                child_contents(child, false));
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                        const cudaGraphNode_t* dependencies,
                                                        std::size_t count) {
  return insert("cudaGraphAddEmptyNode", out, graph, {dependencies, count}, {});
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* out,
                                                              cudaGraph_t graph,
                                                              const cudaGraphNode_t* dependencies,
                                                              std::size_t count,
                                                              cudaEvent_t event) {
  return insert("cudaGraphAddEventRecordNode", out, graph, {dependencies, count},
                event_contents(cudaGraphNodeTypeEventRecord, event));
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                            const cudaGraphNode_t* dependencies,
                                                            std::size_t count, cudaEvent_t event) {
  return insert("cudaGraphAddEventWaitNode", out, graph, {dependencies, count},
                event_contents(cudaGraphNodeTypeWaitEvent, event));
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                           const cudaGraphNode_t* dependencies,
                                                           std::size_t count,
                                                           cudaMemAllocNodeParams* parameters) {
  return add("cudaGraphAddMemAllocNode", out, graph, {dependencies, count},
             [&](NodeContents& c) { return allocation_contents(parameters, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                          const cudaGraphNode_t* dependencies,
                                                          std::size_t count, void* address) {
  return add("cudaGraphAddMemFreeNode", out, graph, {dependencies, count},
             [&](NodeContents& c) { return free_contents(address, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                   const cudaGraphNode_t* dependencies,
                                                   const cudaGraphEdgeData* data, std::size_t count,
                                                   cudaGraphNodeParams* parameters) {
  constexpr const char* kFunction = "cudaGraphAddNode";
  return add(kFunction, out, graph, {dependencies, count, data},
             [&](NodeContents& c) { return contents_of(kFunction, parameters, graph, c); });
}

}  // namespace halfgrad::emulator
