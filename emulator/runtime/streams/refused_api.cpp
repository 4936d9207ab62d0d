#include <halfgrad/emulator/runtime/streams/api.h>

// Features of graphs that the emulator refuses by name.

namespace halfgrad::emulator {
namespace {

cudaError_t refuse(const char* function, const char* feature) {
  return stream_call(function, [&] { return not_implemented(function, feature); });
}

constexpr const char* kConditional = "conditional graph nodes";
constexpr const char* kUserObjects = "user objects of graphs";
constexpr const char* kSemaphores = "graph nodes of external semaphores";

}  // namespace

#if CUDART_VERSION >= 12030
HALFGRAD_EMULATOR_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle*,
                                                                   cudaGraph_t, unsigned,
                                                                   unsigned) {
  return refuse("cudaGraphConditionalHandleCreate", kConditional);
}
#endif

HALFGRAD_EMULATOR_API cudaError_t cudaUserObjectCreate(cudaUserObject_t*, void*, cudaHostFn_t,
                                                       unsigned, unsigned) {
  return refuse("cudaUserObjectCreate", kUserObjects);
}
HALFGRAD_EMULATOR_API cudaError_t cudaUserObjectRetain(cudaUserObject_t, unsigned) {
  return refuse("cudaUserObjectRetain", kUserObjects);
}
HALFGRAD_EMULATOR_API cudaError_t cudaUserObjectRelease(cudaUserObject_t, unsigned) {
  return refuse("cudaUserObjectRelease", kUserObjects);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t, cudaUserObject_t, unsigned,
                                                            unsigned) {
  return refuse("cudaGraphRetainUserObject", kUserObjects);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t, cudaUserObject_t,
                                                             unsigned) {
  return refuse("cudaGraphReleaseUserObject", kUserObjects);
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphAddExternalSemaphoresSignalNode(
    cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, std::size_t,
    const cudaExternalSemaphoreSignalNodeParams*) {
  return refuse("cudaGraphAddExternalSemaphoresSignalNode", kSemaphores);
}
HALFGRAD_EMULATOR_API cudaError_t
cudaGraphAddExternalSemaphoresWaitNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*,
                                       std::size_t, const cudaExternalSemaphoreWaitNodeParams*) {
  return refuse("cudaGraphAddExternalSemaphoresWaitNode", kSemaphores);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphExternalSemaphoresSignalNodeGetParams(
    cudaGraphNode_t, cudaExternalSemaphoreSignalNodeParams*) {
  return refuse("cudaGraphExternalSemaphoresSignalNodeGetParams", kSemaphores);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphExternalSemaphoresSignalNodeSetParams(
    cudaGraphNode_t, const cudaExternalSemaphoreSignalNodeParams*) {
  return refuse("cudaGraphExternalSemaphoresSignalNodeSetParams", kSemaphores);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphExternalSemaphoresWaitNodeGetParams(
    cudaGraphNode_t, cudaExternalSemaphoreWaitNodeParams*) {
  return refuse("cudaGraphExternalSemaphoresWaitNodeGetParams", kSemaphores);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphExternalSemaphoresWaitNodeSetParams(
    cudaGraphNode_t, const cudaExternalSemaphoreWaitNodeParams*) {
  return refuse("cudaGraphExternalSemaphoresWaitNodeSetParams", kSemaphores);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecExternalSemaphoresSignalNodeSetParams(
    cudaGraphExec_t, cudaGraphNode_t, const cudaExternalSemaphoreSignalNodeParams*) {
  return refuse("cudaGraphExecExternalSemaphoresSignalNodeSetParams", kSemaphores);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphExecExternalSemaphoresWaitNodeSetParams(
    cudaGraphExec_t, cudaGraphNode_t, const cudaExternalSemaphoreWaitNodeParams*) {
  return refuse("cudaGraphExecExternalSemaphoresWaitNodeSetParams", kSemaphores);
}

// Memory of graphs lives as long as its nodes and belongs to no pool.

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGraphMemTrim(int device) {
  return stream_call("cudaDeviceGraphMemTrim", [&] {
    const bool exists = device >= 0 && device < process().settings.devices;
    return exists ? cudaSuccess : cudaErrorInvalidDevice;
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetGraphMemAttribute(int, cudaGraphMemAttributeType,
                                                                 void*) {
  return refuse("cudaDeviceGetGraphMemAttribute", "counters of graph memory");
}
HALFGRAD_EMULATOR_API cudaError_t cudaDeviceSetGraphMemAttribute(int, cudaGraphMemAttributeType,
                                                                 void*) {
  return refuse("cudaDeviceSetGraphMemAttribute", "counters of graph memory");
}

}  // namespace halfgrad::emulator
