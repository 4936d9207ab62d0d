#include <halfgrad/core/cuda/runtime/runtime.h>

#include <dlfcn.h>

#include <halfgrad/core/cuda/runtime/check.h>

namespace halfgrad::detail::runtime {
namespace {

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

// Allows allocation and queries while this thread captures, until the end of the scope. CUDA
// refuses them, since they might break the captured work; ours do not touch it.
class NotCaptured {
 public:
  NotCaptured() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~NotCaptured() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  NotCaptured(const NotCaptured&) = delete;
  NotCaptured& operator=(const NotCaptured&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

bool succeeded(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

cudaEvent_t recorded_event(const Stream& stream) {
  const DeviceGuard guard(stream.device());
  if (is_capturing(stream.device().index(), stream.native())) return nullptr;
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "record", "cudaEventCreate");
  if (succeeded(cudaEventRecord(event, stream_of(stream.native())))) return event;
  succeeded(cudaEventDestroy(event));
  return nullptr;
}

// The functions of MemorySource that handle events.
void* record_on(const Stream& stream) {
  const NotCaptured relaxed;
  try {
    return recorded_event(stream);
  } catch (const std::runtime_error&) {
    return nullptr;  // the GPU is lost, and the next call that needs it throws
  }
}

bool event_done(void* event) {
  const NotCaptured relaxed;
  const bool done = succeeded(cudaEventQuery(event_of(event)));
  if (done) destroy_event(event);
  return done;
}

void wait_event(void* event) {
  const NotCaptured relaxed;
  count_host_wait();
  succeeded(cudaEventSynchronize(event_of(event)));
}

// The function by which allocators tell halfgrad-emulate that memory is used again; null on a GPU.
void (*emulators_forget_contents())(void*, std::size_t) {
  void* const found = dlsym(RTLD_DEFAULT, "halfgrad_emulate_forget_contents");
  return reinterpret_cast<void (*)(void*, std::size_t)>(found);
}

}  // namespace

int device_count() noexcept {
  int count = 0;
  return succeeded(cudaGetDeviceCount(&count)) ? count : 0;
}

std::string why_unavailable() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaGetLastError();
  return error == cudaSuccess ? "no GPU was found" : cudaGetErrorString(error);
}

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "current_device", "cudaGetDevice");
  return device;
}

void set_device(int index) { check(cudaSetDevice(index), "set_device", "cudaSetDevice"); }

cuda::DeviceProperties device_properties(int device) {
  cudaDeviceProp found{};
  check(cudaGetDeviceProperties(&found, device), "get_device_properties",
        "cudaGetDeviceProperties");
  const auto attribute = [device](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device), "get_device_properties",
          "cudaDeviceGetAttribute");
    return value;
  };
  // CUDA reports both clock rates in kHz; memory makes two transfers a clock.
  const double clock_rate = 1e3 * attribute(cudaDevAttrClockRate);
  const double transfers = 2e3 * attribute(cudaDevAttrMemoryClockRate);
  const double bytes = attribute(cudaDevAttrGlobalMemoryBusWidth) / 8.0;
  return {found.name, found.major,      found.minor, found.multiProcessorCount,
          clock_rate, transfers * bytes};
}

void synchronize_device(int device) {
  const DeviceGuard guard(Device(kCUDA, device));
  check(cudaDeviceSynchronize(), "synchronize", "cudaDeviceSynchronize");
}

void* create_stream(int device, bool high_priority) {
  const DeviceGuard guard(Device(kCUDA, device));
  int lowest = 0, highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "Stream",
        "cudaDeviceGetStreamPriorityRange");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                     high_priority ? highest : lowest),
        "Stream", "cudaStreamCreateWithPriority");
  return stream;
}

void synchronize_stream(int device, void* stream) {
  const DeviceGuard guard(Device(kCUDA, device));
  check(cudaStreamSynchronize(stream_of(stream)), "synchronize", "cudaStreamSynchronize");
}

void* create_event(int device, bool timing) {
  const DeviceGuard guard(Device(kCUDA, device));
  cudaEvent_t event = nullptr;
  const unsigned flags = timing ? cudaEventDefault : cudaEventDisableTiming;
  check(cudaEventCreateWithFlags(&event, flags), "Event", "cudaEventCreate");
  return event;
}

void destroy_event(void* event) noexcept { succeeded(cudaEventDestroy(event_of(event))); }

void record_event(int device, void* event, void* stream) {
  const DeviceGuard guard(Device(kCUDA, device));
  check(cudaEventRecord(event_of(event), stream_of(stream)), "record", "cudaEventRecord");
}

void make_wait(int device, void* stream, void* event) {
  const DeviceGuard guard(Device(kCUDA, device));
  check(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0), "wait", "cudaStreamWaitEvent");
}

bool has_passed(void* event) {
  const cudaError_t error = cudaEventQuery(event_of(event));
  if (error == cudaErrorNotReady) return succeeded(error);
  check(error, "query", "cudaEventQuery");
  return true;
}

void synchronize_event(void* event) {
  check(cudaEventSynchronize(event_of(event)), "synchronize", "cudaEventSynchronize");
}

float elapsed_time(void* start, void* end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event_of(start), event_of(end)), "elapsed_time",
        "cudaEventElapsedTime");
  return milliseconds;
}

MemorySource device_memory(int device) {
  const Device gpu(kCUDA, device);
  const auto request = [gpu](std::size_t bytes) {
    const NotCaptured relaxed;
    const DeviceGuard guard(gpu);
    void* block = nullptr;
    return succeeded(cudaMalloc(&block, bytes)) ? block : nullptr;
  };
  const auto release = [gpu](void* block) {
    const NotCaptured relaxed;
    const DeviceGuard guard(gpu);
    count_host_wait();
    succeeded(cudaFree(block));
  };
  return {request, release, emulators_forget_contents(), record_on, event_done, wait_event};
}

MemorySource pinned_memory() {
  const auto request = [](std::size_t bytes) {
    const NotCaptured relaxed;
    void* block = nullptr;
    return succeeded(cudaHostAlloc(&block, bytes, cudaHostAllocPortable)) ? block : nullptr;
  };
  const auto release = [](void* block) {
    const NotCaptured relaxed;
    count_host_wait();
    succeeded(cudaFreeHost(block));
  };
  return {request, release, nullptr, record_on, event_done, wait_event};
}

bool is_capturing(int device, void* stream) {
  const DeviceGuard guard(Device(kCUDA, device));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream_of(stream), &status), "is_capturing", "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

void begin_capture(int device, void* stream) {
  const DeviceGuard guard(Device(kCUDA, device));
  check(cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeThreadLocal), "capture",
        "cudaStreamBeginCapture");
}

void* end_capture(int device, void* stream) {
  const DeviceGuard guard(Device(kCUDA, device));
  cudaGraph_t recorded = nullptr;
  check(cudaStreamEndCapture(stream_of(stream), &recorded), "capture", "cudaStreamEndCapture");
  cudaGraphExec_t graph = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&graph, recorded, 0);
  cudaGraphDestroy(recorded);
  check(error, "capture", "cudaGraphInstantiate");
  return graph;
}

void launch_graph(int device, void* graph, void* stream) {
  const DeviceGuard guard(Device(kCUDA, device));
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream_of(stream)), "replay",
        "cudaGraphLaunch");
}

void destroy_graph(void* graph) noexcept {
  succeeded(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)));
}

}  // namespace halfgrad::detail::runtime
