#include <halfgrad/emulator/runtime/streams/capture.h>
#include <halfgrad/emulator/runtime/streams/graph_api.h>

// Executable graphs (CUDA Runtime API, "Graph Management").

namespace halfgrad::emulator {
namespace {

cudaError_t make_exec(const char* function, cudaGraphExec_t* out, cudaGraph_t handle,
                      unsigned long long flags) {
  constexpr unsigned long long kKnown =
      cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
      cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  return with_graph(function, handle, [&](Graph& graph) {
    if (out == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
      return not_implemented(function, "launches of graphs from kernels");
    }
    GraphExec* const exec = instantiate(graph, flags);
    if (exec == nullptr) {
      report_call(FindingKind::invalid_call, function, "the graph has a cycle", Severity::note);
      return cudaErrorInvalidValue;
    }
    exec->graph->made_at = call_sites();
    *out = exec->handle;
    return cudaSuccess;
  });
}

template <class Body>
cudaError_t with_exec(const char* function, cudaGraphExec_t handle, Body body) {
  return locked_call(function, [&](StreamState&) {
    GraphExec* const exec = find_exec(handle, function);
    return exec == nullptr ? cudaErrorInvalidValue : body(*exec);
  });
}

template <class Body>
cudaError_t with_exec_node(const char* function, cudaGraphExec_t exec, cudaGraphNode_t handle,
                           Body body) {
  return locked_call(function, [&](StreamState&) {
    GraphNode* const node = find_exec_node(exec, handle, function);
    return node == nullptr ? cudaErrorInvalidValue : body(*node);
  });
}

}  // namespace

GraphExec* find_exec(cudaGraphExec_t handle, const char* function) {
  GraphExec* const exec = find_exec(handle);
  if (exec == nullptr) {
    report_call(FindingKind::invalid_call, function, "the handle is not a live executable graph's");
  }
  return exec;
}

GraphNode* find_exec_node(cudaGraphExec_t exec_handle, cudaGraphNode_t handle,
                          const char* function) {
  GraphExec* const exec = find_exec(exec_handle, function);
  if (exec == nullptr) return nullptr;
  GraphNode* const node = find_in_clone(*exec->graph, handle);
  if (node == nullptr) {
    report_call(FindingKind::invalid_call, function,
                "the node is not of the graph that was instantiated");
  }
  return node;
}

#if CUDART_VERSION >= 12000
HALFGRAD_EMULATOR_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph,
                                                       unsigned long long flags) {
  return make_exec("cudaGraphInstantiate", out, graph, flags);
}
#endif
HALFGRAD_EMULATOR_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out,
                                                                cudaGraph_t graph,
                                                                unsigned long long flags) {
  return make_exec("cudaGraphInstantiateWithFlags", out, graph, flags);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphInstantiateWithParams(
    cudaGraphExec_t* out, cudaGraph_t graph, cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return stream_call("", [] { return cudaErrorInvalidValue; });
  const cudaError_t error =
      make_exec("cudaGraphInstantiateWithParams", out, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess
                           : error == cudaErrorInvalidValue
                               ? cudaGraphInstantiateInvalidStructure
                               : cudaGraphInstantiateNodeOperationNotSupported;
  return error;
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle,
                                                        unsigned long long* flags) {
  return with_exec("cudaGraphExecGetFlags", handle, [&](GraphExec& exec) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = exec.flags;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return stream_call("cudaGraphExecDestroy", [&] {
    const std::lock_guard lock(stream_state().mutex);
    GraphExec* const exec = find_exec(handle, "cudaGraphExecDestroy");
    if (exec == nullptr) return cudaErrorInvalidValue;
    destroy_exec(*exec);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream) {
  constexpr const char* kFunction = "cudaGraphUpload";
  return with_exec(kFunction, handle, [&](GraphExec&) {
    return find_stream(stream, kFunction) == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphLaunch(cudaGraphExec_t handle,
                                                  cudaStream_t stream_handle) {
  constexpr const char* kFunction = "cudaGraphLaunch";
  const cudaError_t error = locked_call(kFunction, [&](StreamState& state) {
    GraphExec* const exec = find_exec(handle, kFunction);
    Stream* const stream = find_stream(stream_handle, kFunction);
    if (exec == nullptr) return cudaErrorInvalidValue;
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t refused = may_give_work(*stream, kFunction)) return refused;
    state.host_reads.check();
    if (stream->capture == nullptr) return launch(state, *exec, *stream);
    GraphNode& node = capture_node(*stream, cudaGraphNodeTypeGraph);
    node.child = &graph_table().clone(*exec->graph);
    node.child->parent = &node;
    return cudaSuccess;
  });
  if (error == cudaSuccess) stream_state().run_eagerly();
  return error;
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle,
                                                      cudaGraph_t graph_handle,
                                                      cudaGraphExecUpdateResultInfo* info) {
  constexpr const char* kFunction = "cudaGraphExecUpdate";
  return with_exec(kFunction, handle, [&](GraphExec& exec) {
    cudaGraphExecUpdateResultInfo result{cudaGraphExecUpdateError, nullptr, nullptr};
    const Graph* const graph = find_graph(graph_handle, kFunction);
    if (graph != nullptr) result = update(*exec.graph, *graph);
    if (info != nullptr) *info = result;
    if (graph == nullptr) return cudaErrorInvalidValue;
    return result.result == cudaGraphExecUpdateSuccess ? cudaSuccess
                                                       : cudaErrorGraphExecUpdateFailure;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec,
                                                          cudaGraphNode_t handle,
                                                          unsigned is_enabled) {
  return with_exec_node("cudaGraphNodeSetEnabled", exec, handle, [&](GraphNode& node) {
    const bool may_change = node.type == cudaGraphNodeTypeKernel ||
                            node.type == cudaGraphNodeTypeMemcpy ||
                            node.type == cudaGraphNodeTypeMemset;
    if (!may_change) return cudaErrorInvalidValue;
    node.enabled = is_enabled != 0;
    return cudaSuccess;
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec,
                                                          cudaGraphNode_t handle,
                                                          unsigned* is_enabled) {
  return with_exec_node("cudaGraphNodeGetEnabled", exec, handle, [&](GraphNode& node) {
    if (is_enabled == nullptr) return cudaErrorInvalidValue;
    *is_enabled = node.enabled ? 1 : 0;
    return cudaSuccess;
  });
}

}  // namespace halfgrad::emulator
