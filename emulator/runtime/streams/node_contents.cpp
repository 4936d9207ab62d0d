#include <halfgrad/emulator/runtime/streams/node_contents.h>

#include <utility>

#include <halfgrad/emulator/runtime/streams/api.h>

namespace halfgrad::emulator {
namespace {

/// Keeps the parameters if the builder of the work did not.
template <class Parameters>
NodeContents contents_with(cudaGraphNodeType type, Work work, const Parameters& parameters) {
  if (work.parameters == nullptr) {
    auto kept = std::make_shared<WorkParameters>();
    kept->values = parameters;
    work.parameters = std::move(kept);
  }
  NodeContents contents;
  contents.type = type;
  contents.work = std::make_shared<const Work>(std::move(work));
  return contents;
}

cudaKernelNodeParams without_context(const cudaKernelNodeParamsV2& p) {
  return {p.func, p.gridDim, p.blockDim, p.sharedMemBytes, p.kernelParams, p.extra};
}

}  // namespace

cudaError_t kernel_contents(const cudaKernelNodeParams* parameters, bool cooperative,
                            NodeContents& contents) {
  if (parameters == nullptr || parameters->func == nullptr) return cudaErrorInvalidValue;
  Work work;
  if (const cudaError_t error = kernel_work(*parameters, cooperative, work)) return error;
  contents = contents_with(cudaGraphNodeTypeKernel, std::move(work), *parameters);
  return cudaSuccess;
}

cudaError_t copy_contents(const cudaMemcpy3DParms* parameters, NodeContents& contents) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  Work work;
  if (const cudaError_t error = copy_work(*parameters, work)) return error;
  contents = contents_with(cudaGraphNodeTypeMemcpy, std::move(work), *parameters);
  return cudaSuccess;
}

cudaError_t copy_contents(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                          NodeContents& contents) {
  Work work;
  if (const cudaError_t error = copy_work(to, from, bytes, kind, work)) return error;
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  parameters.dstPtr = {to, bytes, bytes, 1};
  parameters.extent = {bytes, 1, 1};
  parameters.kind = kind;
  contents = contents_with(cudaGraphNodeTypeMemcpy, std::move(work), parameters);
  return cudaSuccess;
}

cudaError_t memset_contents(const cudaMemsetParams* parameters, NodeContents& contents) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  Work work;
  if (const cudaError_t error = memset_work(*parameters, work)) return error;
  contents = contents_with(cudaGraphNodeTypeMemset, std::move(work), *parameters);
  return cudaSuccess;
}

cudaError_t host_contents(const cudaHostNodeParams* parameters, NodeContents& contents) {
  if (parameters == nullptr || parameters->fn == nullptr) return cudaErrorInvalidValue;
  Work work;
  if (const cudaError_t error = host_work(parameters->fn, parameters->userData, work)) return error;
  contents = contents_with(cudaGraphNodeTypeHost, std::move(work), *parameters);
  return cudaSuccess;
}

NodeContents event_contents(cudaGraphNodeType type, cudaEvent_t event) {
  NodeContents contents;
  contents.type = type;
  contents.event = event;
  return contents;
}

NodeContents child_contents(cudaGraph_t child, bool moves) {
  NodeContents contents;
  contents.type = cudaGraphNodeTypeGraph;
  contents.child = child;
  contents.child_moves = moves;
  return contents;
}

cudaError_t allocation_contents(cudaMemAllocNodeParams* parameters, NodeContents& contents) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  contents.type = cudaGraphNodeTypeMemAlloc;
  if (const cudaError_t error = allocate_graph_memory(*parameters, contents.memory)) return error;
  contents.work = graph_memory_work(*contents.memory, "memory allocation node");
  return cudaSuccess;
}

cudaError_t free_contents(void* address, NodeContents& contents) {
  contents.type = cudaGraphNodeTypeMemFree;
  contents.memory = graph_memory_at(address);
  if (contents.memory == nullptr || contents.memory->is_freed_by_graph) {
    report_call(FindingKind::invalid_call, "cudaGraphAddMemFreeNode",
                "the address is not that of a memory allocation node without a free node");
    return cudaErrorInvalidValue;
  }
  contents.memory->is_freed_by_graph = true;
  contents.work = graph_memory_work(*contents.memory, "memory free node");
  return cudaSuccess;
}

cudaError_t contents_of(const char* function, cudaGraphNodeParams* parameters, cudaGraph_t new_in,
                        NodeContents& contents) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParams kernel = without_context(parameters->kernel);
      return kernel_contents(&kernel, false, contents);
    }
    case cudaGraphNodeTypeMemcpy:
      return copy_contents(&parameters->memcpy.copyParams, contents);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParamsV2& p = parameters->memset;
      const cudaMemsetParams memset{p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
      return memset_contents(&memset, contents);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host{parameters->host.fn, parameters->host.userData};
      return host_contents(&host, contents);
    }
    case cudaGraphNodeTypeGraph:
#if CUDART_VERSION >= 12090
      contents = child_contents(parameters->graph.graph,
                                parameters->graph.ownership == cudaGraphChildGraphOwnershipMove);
#else
      contents = child_contents(parameters->graph.graph, false);
#endif
      return cudaSuccess;
    case cudaGraphNodeTypeEmpty:
      contents = {};
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      contents = event_contents(parameters->type, parameters->eventWait.event);
      return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
      contents = event_contents(parameters->type, parameters->eventRecord.event);
      return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc: {
      if (new_in == nullptr) return cudaErrorInvalidValue;
      cudaMemAllocNodeParamsV2& p = parameters->alloc;
      cudaMemAllocNodeParams alloc{p.poolProps, p.accessDescs, p.accessDescCount, p.bytesize, {}};
      const cudaError_t error = allocation_contents(&alloc, contents);
      p.dptr = alloc.dptr;
      return error;
    }
    case cudaGraphNodeTypeMemFree:
      if (new_in == nullptr) return cudaErrorInvalidValue;
      return free_contents(parameters->free.dptr, contents);
    case cudaGraphNodeTypeConditional:
      if (new_in == nullptr) return cudaErrorInvalidValue;
      contents.type = parameters->type;
      return make_conditional(parameters->conditional, new_in, contents.conditional);
    default:
      return not_implemented(function, "graph nodes of external semaphores");
  }
}

}  // namespace halfgrad::emulator
