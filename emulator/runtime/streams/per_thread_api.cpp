#include <cuda_runtime_api.h>

#include <halfgrad/emulator/runtime/per_thread_stream.h>
#include <halfgrad/emulator/runtime/process.h>

// Programs compiled with --default-stream per-thread call functions with the suffix _ptsz, for
// which stream 0 is the calling thread's default stream.

using halfgrad::emulator::or_per_thread;

HALFGRAD_EMULATOR_API cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return cudaStreamSynchronize(or_per_thread(stream));
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) {
  return cudaStreamQuery(or_per_thread(stream));
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event,
                                                           unsigned flags) {
  return cudaStreamWaitEvent(or_per_thread(stream), event, flags);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream,
                                                             cudaStreamCallback_t callback,
                                                             void* data, unsigned flags) {
  return cudaStreamAddCallback(or_per_thread(stream), callback, data, flags);
}
HALFGRAD_EMULATOR_API cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream,
                                                          cudaHostFn_t function, void* data) {
  return cudaLaunchHostFunc(or_per_thread(stream), function, data);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* address,
                                                                std::size_t bytes, unsigned flags) {
  return cudaStreamAttachMemAsync(or_per_thread(stream), address, bytes, flags);
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned* flags) {
  return cudaStreamGetFlags(or_per_thread(stream), flags);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return cudaStreamGetPriority(or_per_thread(stream), priority);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream,
                                                       unsigned long long* id) {
  return cudaStreamGetId(or_per_thread(stream), id);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return cudaStreamGetDevice(or_per_thread(stream), device);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to,
                                                                cudaStream_t from) {
  return cudaStreamCopyAttributes(or_per_thread(to), or_per_thread(from));
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream,
                                                              cudaStreamAttrID attribute,
                                                              cudaStreamAttrValue* value) {
  return cudaStreamGetAttribute(or_per_thread(stream), attribute, value);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream,
                                                              cudaStreamAttrID attribute,
                                                              const cudaStreamAttrValue* value) {
  return cudaStreamSetAttribute(or_per_thread(stream), attribute, value);
}

HALFGRAD_EMULATOR_API cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecord(event, or_per_thread(stream));
}
HALFGRAD_EMULATOR_API cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event,
                                                                cudaStream_t stream,
                                                                unsigned flags) {
  return cudaEventRecordWithFlags(event, or_per_thread(stream), flags);
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream,
                                                              cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(or_per_thread(stream), mode);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamBeginCaptureToGraph_ptsz(
    cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* data, std::size_t count, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(or_per_thread(stream), graph, dependencies, data, count,
                                       mode);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream,
                                                            cudaGraph_t* graph) {
  return cudaStreamEndCapture(or_per_thread(stream), graph);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream,
                                                             cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(or_per_thread(stream), status);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetCaptureInfo_ptsz(
    cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
    cudaGraph_t* graph, const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
    std::size_t* count) {
  return cudaStreamGetCaptureInfo(or_per_thread(stream), status, id, graph, dependencies, edges,
                                  count);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(
    cudaStream_t stream, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* data,
    std::size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(or_per_thread(stream), dependencies, data, count,
                                             flags);
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return cudaGraphLaunch(exec, or_per_thread(stream));
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return cudaGraphUpload(exec, or_per_thread(stream));
}
HALFGRAD_EMULATOR_API cudaError_t cudaGraphInstantiateWithParams_ptsz(
    cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphInstantiateParams* parameters) {
  return cudaGraphInstantiateWithParams(exec, graph, parameters);
}
