#include <halfgrad/core/stream.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/core/cuda/kernels/indices.h>
#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/late_work.h>

namespace halfgrad {
namespace {

constexpr std::size_t kStreamsPerDevice = 32;

// Streams are never destroyed: the allocator orders reuse of memory by stream, even after the last
// use of a stream.
class StreamPool {
 public:
  void* next(int device) {
    const std::lock_guard lock(mutex_);
    streams_.resize(static_cast<std::size_t>(cuda::device_count()));
    PerDevice& own = streams_[static_cast<std::size_t>(device)];
    void*& stream = own.streams[own.turn++ % kStreamsPerDevice];
    if (stream == nullptr) stream = detail::runtime::create_stream(device);
    return stream;
  }

 private:
  struct PerDevice {
    std::array<void*, kStreamsPerDevice> streams{};
    std::size_t turn = 0;
  };

  std::mutex mutex_;
  std::vector<PerDevice> streams_;
};

void require_device(Device device, const char* op) {
  if (device.is_cpu() || device.index() < cuda::device_count()) return;
  const std::string reason = cuda::why_unavailable();
  detail::fail<std::runtime_error>(op, "expected a device this process can use, got {}{}", device,
                                   reason.empty() ? "" : " (" + reason + ")");
}

void* pool_stream(Device device) {
  require_device(device, "Stream");
  static auto* const pool = new StreamPool;
  return device.is_cpu() ? nullptr : pool->next(device.index());
}

// The current streams of this thread by device index; absent means the default stream. A std::map,
// because its values keep their addresses.
thread_local std::map<int, void*> current_streams;

std::atomic<std::int64_t> waits{0};

}  // namespace

Stream::Stream(Device device) : Stream(device, pool_stream(device)) {}

void Stream::synchronize() const { detail::wait_for(*this, "synchronize"); }

void Stream::wait_event(const Event& event) const { event.wait(*this); }

void Stream::wait_stream(const Stream& other) const {
  if (other == *this || other.device_.is_cpu()) return;
  Event reached;
  reached.record(other);
  reached.wait(*this);
}

Stream default_stream(Device device) {
  require_device(device, "default_stream");
  return {device, nullptr};
}

Stream current_stream(Device device) {
  require_device(device, "current_stream");
  if (device.is_cpu()) return {device, nullptr};
  const auto found = current_streams.find(device.index());
  return {device, found != current_streams.end() ? found->second : nullptr};
}

StreamScope::StreamScope(const Stream& stream) : guard_(stream.device()) {
  if (stream.device().is_cpu()) return;
  stream_.emplace("StreamScope", current_streams[stream.device().index()], stream.native());
}

Event::~Event() {
  if (native_ != nullptr) detail::runtime::destroy_event(native_);
}

Event::Event(Event&& other) noexcept
    : timing_(other.timing_),
      recorded_(std::exchange(other.recorded_, false)),
      device_(other.device_),
      native_(std::exchange(other.native_, nullptr)),
      at_(other.at_) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(timing_, other.timing_);
  std::swap(recorded_, other.recorded_);
  std::swap(device_, other.device_);
  std::swap(native_, other.native_);
  std::swap(at_, other.at_);
  return *this;
}

void Event::record(const Stream& stream) {
  detail::join_late_work(stream);
  record_alone(stream);
}

void Event::record_alone(const Stream& stream) {
  const Device device = stream.device();
  if (recorded_ && device != device_) {
    detail::fail("record", "expected a stream of {}, got one of {}", device_, device);
  }
  if (device.is_cpu()) {
    at_ = std::chrono::steady_clock::now();
  } else {
    if (native_ == nullptr) native_ = detail::runtime::create_event(device.index(), timing_);
    detail::runtime::record_event(device.index(), native_, stream.native());
  }
  device_ = device;
  recorded_ = true;
}

void Event::wait(const Stream& stream) const {
  if (native_ == nullptr) return;
  if (stream.device().is_cpu()) {
    synchronize();
  } else {
    detail::runtime::make_wait(stream.device().index(), stream.native(), native_);
  }
}

bool Event::query() const { return native_ == nullptr || detail::runtime::has_passed(native_); }

void Event::synchronize() const {
  if (native_ == nullptr) return;
  detail::count_host_wait();
  detail::runtime::synchronize_event(native_);
  detail::throw_reported_index(device_);
}

double Event::elapsed_time(const Event& end) const {
  if (!timing_ || !end.timing_ || !recorded_ || !end.recorded_ || device_ != end.device_) {
    detail::fail<std::logic_error>(
        "elapsed_time", "expected two events with enable_timing, recorded on the same device");
  }
  if (native_ != nullptr) {
    return static_cast<double>(detail::runtime::elapsed_time(native_, end.native_));
  }
  return std::chrono::duration<double, std::milli>(end.at_ - at_).count();
}

namespace cuda {

void synchronize(Device device) {
  require_device(device, "synchronize");
  if (device.is_cpu()) return;
  detail::count_host_wait();
  detail::runtime::synchronize_device(device.index());
  detail::throw_reported_index(device);
}

std::int64_t host_waits() { return waits.load(std::memory_order_relaxed); }

}  // namespace cuda

namespace detail {
namespace {

// Streams of all devices that no OwnStream holds now, of normal and of high priority.
struct OwnStreams {
  std::mutex mutex;
  std::array<std::vector<Stream>, 2> free;
};

OwnStreams& own_streams() {
  static auto* const streams = new OwnStreams;
  return *streams;
}

Stream take_own_stream(Device device, bool high_priority) {
  require_device(device, "Stream");
  OwnStreams& streams = own_streams();
  const std::lock_guard lock(streams.mutex);
  std::vector<Stream>& free = streams.free[high_priority];
  const auto found =
      std::find_if(free.begin(), free.end(), [=](const Stream& s) { return s.device() == device; });
  if (found == free.end()) return {device, runtime::create_stream(device.index(), high_priority)};
  const Stream stream = *found;
  free.erase(found);
  return stream;
}

}  // namespace

OwnStream::OwnStream(Device device, bool high_priority)
    : stream_(take_own_stream(device, high_priority)), high_priority_(high_priority) {}

OwnStream::~OwnStream() {
  OwnStreams& streams = own_streams();
  const std::lock_guard lock(streams.mutex);
  streams.free[high_priority_].push_back(stream_);
}

void count_host_wait() noexcept { waits.fetch_add(1, std::memory_order_relaxed); }

void wait_for(const Stream& stream, const char* op) {
  const Device device = stream.device();
  if (device.is_cpu()) return;
  if (runtime::is_capturing(device.index(), stream.native())) {
    fail<std::runtime_error>(op,
                             "expected no wait for {} while its work is captured in a graph; read "
                             "the value after a replay",
                             device);
  }
  join_late_work(stream);
  count_host_wait();
  runtime::synchronize_stream(device.index(), stream.native());
  throw_reported_index(device);
}

}  // namespace detail

}  // namespace halfgrad
