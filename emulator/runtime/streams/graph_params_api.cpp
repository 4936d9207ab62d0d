#include <halfgrad/emulator/runtime/streams/graph_api.h>
#include <halfgrad/emulator/runtime/streams/node_contents.h>
#include <halfgrad/emulator/runtime/streams/set_contents.h>

// Parameters of a graph's nodes (CUDA Runtime API, "Graph Management").

namespace halfgrad::emulator {
namespace {

/// Builds the contents without a lock, then gives them to the node.
template <class Build>
cudaError_t set_node(const char* function, cudaGraphNode_t handle, Build build) {
  return stream_call(function, [&] {
    if (const cudaError_t error = may_call(function)) return error;
    NodeContents contents;
    if (const cudaError_t error = build(contents)) return error;
    return with_node(function, handle, [&](GraphNode& node) {
      return set_contents(function, node, std::move(contents));
    });
  });
}

/// Copies the parameters of a node whose work has them.
template <class Parameters>
cudaError_t get(const char* function, cudaGraphNode_t handle, Parameters* out) {
  return with_node(function, handle, [&](GraphNode& node) {
    if (out == nullptr || node.work == nullptr) return cudaErrorInvalidValue;
    if (node.work->parameters == nullptr) {
      return not_implemented(function, "parameters of nodes that libraries make");
    }
    const auto* const found = std::get_if<Parameters>(&node.work->parameters->values);
    if (found == nullptr) return cudaErrorInvalidValue;
    *out = *found;
    return cudaSuccess;
  });
}

cudaError_t get_event(const char* function, cudaGraphNode_t handle, cudaGraphNodeType type,
                      cudaEvent_t* event) {
  return with_node(function, handle, [&](GraphNode& node) {
    if (event == nullptr || node.type != type) return cudaErrorInvalidValue;
    *event = node.event;
    return cudaSuccess;
  });
}

cudaError_t set_node_event(const char* function, cudaGraphNode_t handle, cudaGraphNodeType type,
                           cudaEvent_t event) {
  return set_node(function, handle, [&](NodeContents& contents) {
    contents = event_contents(type, event);
    return cudaSuccess;
  });
}

bool launches_cooperatively(const GraphNode& node) {
  return node.work != nullptr && node.work->parameters != nullptr &&
         node.work->parameters->cooperative;
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                               cudaKernelNodeParams* parameters) {
  return get("cudaGraphKernelNodeGetParams", node, parameters);
}
HALFGRAD_EMULATOR_API cudaError_t
cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  return set_node("cudaGraphKernelNodeSetParams", node,
                  [&](NodeContents& c) { return kernel_contents(parameters, false, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                               cudaMemcpy3DParms* parameters) {
  return get("cudaGraphMemcpyNodeGetParams", node, parameters);
}
HALFGRAD_EMULATOR_API cudaError_t
cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
  return set_node("cudaGraphMemcpyNodeSetParams", node,
                  [&](NodeContents& c) { return copy_contents(parameters, c); });
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to,
                                                                 const void* from,
                                                                 std::size_t bytes,
                                                                 cudaMemcpyKind kind) {
  return set_node("cudaGraphMemcpyNodeSetParams1D", node,
                  [&](NodeContents& c) { return copy_contents(to, from, bytes, kind, c); });
}
HALFGRAD_EMULATOR_API cudaError_t
cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from,
                                     std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set_node("cudaGraphMemcpyNodeSetParamsToSymbol", node, [&](NodeContents& c) {
    return copy_to_symbol(symbol, from, bytes, offset, kind, c);
  });
}
HALFGRAD_EMULATOR_API cudaError_t
cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol,
                                       std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set_node("cudaGraphMemcpyNodeSetParamsFromSymbol", node, [&](NodeContents& c) {
    return copy_from_symbol(to, symbol, bytes, offset, kind, c);
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                               cudaMemsetParams* parameters) {
  return get("cudaGraphMemsetNodeGetParams", node, parameters);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                               const cudaMemsetParams* parameters) {
  return set_node("cudaGraphMemsetNodeSetParams", node,
                  [&](NodeContents& c) { return memset_contents(parameters, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                             cudaHostNodeParams* parameters) {
  return get("cudaGraphHostNodeGetParams", node, parameters);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                             const cudaHostNodeParams* parameters) {
  return set_node("cudaGraphHostNodeSetParams", node,
                  [&](NodeContents& c) { return host_contents(parameters, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t handle,
                                                                  cudaGraph_t* graph) {
  return with_node("cudaGraphChildGraphNodeGetGraph", handle, [&](GraphNode& node) {
    if (graph == nullptr || node.child == nullptr) return cudaErrorInvalidValue;
    *graph = node.child->handle;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node,
                                                                   cudaEvent_t* event) {
  return get_event("cudaGraphEventRecordNodeGetEvent", node, cudaGraphNodeTypeEventRecord, event);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node,
                                                                   cudaEvent_t event) {
  return set_node_event("cudaGraphEventRecordNodeSetEvent", node, cudaGraphNodeTypeEventRecord,
                        event);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node,
                                                                 cudaEvent_t* event) {
  return get_event("cudaGraphEventWaitNodeGetEvent", node, cudaGraphNodeTypeWaitEvent, event);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node,
                                                                 cudaEvent_t event) {
  return set_node_event("cudaGraphEventWaitNodeSetEvent", node, cudaGraphNodeTypeWaitEvent, event);
}

HALFGRAD_EMULATOR_API cudaError_t
cudaGraphMemAllocNodeGetParams(cudaGraphNode_t handle, cudaMemAllocNodeParams* parameters) {
  return with_node("cudaGraphMemAllocNodeGetParams", handle, [&](GraphNode& node) {
    if (parameters == nullptr || node.memory == nullptr || node.type != cudaGraphNodeTypeMemAlloc) {
      return cudaErrorInvalidValue;
    }
    *parameters = node.memory->parameters;
    return cudaSuccess;
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t handle,
                                                                void* address) {
  return with_node("cudaGraphMemFreeNodeGetParams", handle, [&](GraphNode& node) {
    if (address == nullptr || node.memory == nullptr || node.type != cudaGraphNodeTypeMemFree) {
      return cudaErrorInvalidValue;
    }
    *static_cast<void**>(address) = node.memory->parameters.dptr;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node,
                                                         cudaGraphNodeParams* parameters) {
  constexpr const char* kFunction = "cudaGraphNodeSetParams";
  return set_node(kFunction, node,
                  [&](NodeContents& c) { return contents_of(kFunction, parameters, nullptr, c); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t handle,
                                                                  cudaKernelNodeAttrID attribute,
                                                                  cudaKernelNodeAttrValue* value) {
  return with_node("cudaGraphKernelNodeGetAttribute", handle, [&](GraphNode& node) {
    if (value == nullptr || node.type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    *value = {};
    if (attribute == cudaLaunchAttributeCooperative)
      value->cooperative = launches_cooperatively(node);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphKernelNodeSetAttribute(
    cudaGraphNode_t handle, cudaKernelNodeAttrID attribute, const cudaKernelNodeAttrValue* value) {
  constexpr const char* kFunction = "cudaGraphKernelNodeSetAttribute";
  return stream_call(kFunction, [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    switch (attribute) {
      case cudaLaunchAttributeCooperative:
        break;
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeAccessPolicyWindow:
        return cudaSuccess;  // hints
      default:
        return not_implemented(kFunction, "this attribute of kernel nodes");
    }
    cudaKernelNodeParams parameters{};
    if (const cudaError_t error = get(kFunction, handle, &parameters)) return error;
    return set_node(kFunction, handle, [&](NodeContents& contents) {
      return kernel_contents(&parameters, value->cooperative != 0, contents);
    });
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to,
                                                                    cudaGraphNode_t from) {
  cudaKernelNodeAttrValue value{};
  const cudaError_t error =
      cudaGraphKernelNodeGetAttribute(from, cudaLaunchAttributeCooperative, &value);
  if (error != cudaSuccess) return error;
  return cudaGraphKernelNodeSetAttribute(to, cudaLaunchAttributeCooperative, &value);
}

}  // namespace halfgrad::emulator
