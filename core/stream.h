#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <halfgrad/core/device.h>

namespace halfgrad {

class Event;

/// A queue of work for a device: what is queued on one stream runs in order, what is queued on
/// different streams may run at once. A Stream is a name for such a queue; copies name the same
/// one. On the CPU work is done when the call returns, and all of this does nothing.
class Stream {
 public:
  /// One of 32 streams of `device`, in turn, as c10::cuda::getStreamFromPool.
  explicit Stream(Device device);
  /// A cudaStream_t made elsewhere, as torch.cuda.ExternalStream; it must stay alive.
  Stream(Device device, void* native) : device_(device), native_(native) {}

  Device device() const { return device_; }
  /// The cudaStream_t; nullptr names the default stream.
  void* native() const { return native_; }

  /// The host waits until all that was queued here is done. Throws std::out_of_range when a kernel
  /// of the device was given an index out of range, by an op that it names.
  void synchronize() const;
  /// What is queued here from now on runs after the event, or after what `other` has been given so
  /// far. The host does not wait.
  void wait_event(const Event& event) const;
  void wait_stream(const Stream& other) const;

  friend bool operator==(const Stream&, const Stream&) = default;

 private:
  Device device_;
  void* native_ = nullptr;
};

/// The stream that kernels launched without naming one use.
Stream default_stream(Device device);

/// Where this thread queues work for `device`: the default stream unless a StreamScope says
/// otherwise.
Stream current_stream(Device device);

/// Makes `stream` this thread's current stream on its device, and that device current, until the
/// end of the scope.
class StreamScope {
 public:
  [[nodiscard]] explicit StreamScope(const Stream& stream);

 private:
  DeviceGuard guard_;
  std::optional<detail::GuardedValue<void*>> stream_;  // none on the CPU
};

/// A mark in a stream, as torch.cuda.Event.
class Event {
 public:
  explicit Event(bool enable_timing = false) : timing_(enable_timing) {}
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  /// Puts the mark behind all that was queued on `stream` so far, moving it if it was recorded
  /// before. Throws std::invalid_argument for a stream of another device than before.
  void record(const Stream& stream);
  /// As Stream::wait_event. An event that was never recorded has passed.
  void wait(const Stream& stream) const;
  /// True when all that stands before the mark is done.
  bool query() const;
  /// The host waits until the mark has passed, and throws as Stream::synchronize().
  void synchronize() const;
  /// Milliseconds from this mark to `end`. Throws std::logic_error unless both were made with
  /// enable_timing and recorded on one device; both must have passed.
  double elapsed_time(const Event& end) const;

 private:
  bool timing_;
  bool recorded_ = false;
  Device device_;
  void* native_ = nullptr;
  std::chrono::steady_clock::time_point at_;  // on the CPU
};

namespace cuda {

/// The host waits until all that was queued on any stream of `device` is done, and throws as
/// Stream::synchronize().
void synchronize(Device device = kCUDA);

/// How often this process has waited for a GPU. A training step should not change it.
std::int64_t host_waits();

}  // namespace cuda

namespace detail {

/// A stream that nobody else is given as long as this object lives.
class OwnStream {
 public:
  explicit OwnStream(Device device);
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  const Stream& get() const { return stream_; }

 private:
  Stream stream_;
};

/// Where the host waits for a GPU on behalf of `op`: counts it, and throws std::runtime_error while
/// the stream's work is captured, when nothing would ever arrive. Throws std::out_of_range when the
/// work done meanwhile was given an index out of range: see core/cuda/indices.h.
void wait_for(const Stream& stream, const char* op);
/// Counts a call that waits by itself, such as cudaFree.
void count_host_wait() noexcept;

}  // namespace detail

}  // namespace halfgrad
