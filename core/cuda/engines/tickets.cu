#include <halfgrad/core/cuda/engines/tickets.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <halfgrad/core/cuda/runtime/check.h>
#include <halfgrad/core/cuda/runtime/runtime.h>

namespace halfgrad::detail {
namespace {

constexpr std::int64_t kSlots = 16;  // launches whose counters are allocated together

// Lets this thread allocate and wait while it captures a graph, which these calls do not touch.
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Returns memory of value 0 that every stream may use. The host waits for its own stream only, on
// which nothing else is queued.
unsigned* zeros(Device device) {
  const DeviceGuard guard(device);
  const RelaxedCapture relaxed;
  constexpr std::size_t kBytes = kSlots * kTickets * sizeof(unsigned);
  const OwnStream own(device);
  auto* const stream = static_cast<cudaStream_t>(own.get().native());
  void* memory = nullptr;
  check(cudaMalloc(&memory, kBytes), "tickets", "cudaMalloc");
  check(cudaMemsetAsync(memory, 0, kBytes, stream), "tickets", "cudaMemsetAsync");
  check(cudaStreamSynchronize(stream), "tickets", "cudaStreamSynchronize");
  return static_cast<unsigned*>(memory);
}

struct PerDevice {
  std::vector<unsigned*> unused;
  std::map<void*, unsigned*> of_stream;
};

unsigned* take(PerDevice& own, Device device) {
  if (own.unused.empty()) {
    unsigned* const memory = zeros(device);
    for (std::int64_t i = kSlots; i-- > 0;) own.unused.push_back(memory + i * kTickets);
  }
  unsigned* const taken = own.unused.back();
  own.unused.pop_back();
  return taken;
}

}  // namespace

unsigned* tickets_for(const Stream& stream) {
  static std::mutex mutex;
  static auto* const devices = new std::map<int, PerDevice>;  // captured graphs outlive statics
  const int device = stream.device().index();
  const std::lock_guard lock(mutex);
  PerDevice& own = (*devices)[device];
  if (runtime::is_capturing(device, stream.native())) return take(own, stream.device());
  unsigned*& known = own.of_stream[stream.native()];
  if (known == nullptr) known = take(own, stream.device());
  return known;
}

}  // namespace halfgrad::detail
