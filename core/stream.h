#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <halfgrad/core/device.h>

namespace halfgrad {

class Event;

namespace detail {

struct LateWork;

}  // namespace detail

/// A queue of work for a device. Work on one stream runs in order; work on different streams may
/// overlap. Copies of a Stream name the same queue. On the CPU, work is finished when the call
/// returns, and streams do nothing.
class Stream {
 public:
  /// Selects one of 32 streams of `device`, round robin, as c10::cuda::getStreamFromPool.
  explicit Stream(Device device);
  /// Wraps a cudaStream_t, as torch.cuda.ExternalStream; it must outlive this object.
  Stream(Device device, void* native) : device_(device), native_(native) {}

  Device device() const { return device_; }
  /// The cudaStream_t; nullptr is the default stream.
  void* native() const { return native_; }

  /// Blocks the host until all work queued so far is done. Throws std::out_of_range if a kernel
  /// reported an index out of range; the error names the op.
  void synchronize() const;
  /// Makes later work on this stream wait for the event, or for all work queued on `other` so far.
  /// The host does not wait.
  void wait_event(const Event& event) const;
  void wait_stream(const Stream& other) const;

  friend bool operator==(const Stream&, const Stream&) = default;

 private:
  Device device_;
  void* native_ = nullptr;
};

/// The stream that CUDA uses for kernels launched without a stream.
Stream default_stream(Device device);

/// The stream on which this thread queues work for `device`: the one of the innermost StreamScope,
/// else the default stream.
Stream current_stream(Device device);

/// Makes `stream` the current stream of this thread on its device, and that device the current one,
/// until the end of the scope.
class StreamScope {
 public:
  [[nodiscard]] explicit StreamScope(const Stream& stream);

 private:
  DeviceGuard guard_;
  std::optional<detail::GuardedValue<void*>> stream_;  // empty on the CPU
};

/// A point in the work of a stream, as torch.cuda.Event.
class Event {
 public:
  explicit Event(bool enable_timing = false) : timing_(enable_timing) {}
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  /// Records all work queued on `stream` so far, with the late updates that Optimizer::step()
  /// started from it; a second call replaces the first. Throws std::invalid_argument if the earlier
  /// record was on another device.
  void record(const Stream& stream);
  /// Makes later work on `stream` wait for this event. An event that was never recorded counts as
  /// complete.
  void wait(const Stream& stream) const;
  /// True when the recorded work is done.
  bool query() const;
  /// Blocks the host until the recorded work is done; throws as Stream::synchronize().
  void synchronize() const;
  /// Milliseconds from this event to `end`. Throws std::logic_error unless both were made with
  /// enable_timing and recorded on the same device. Both must be complete.
  double elapsed_time(const Event& end) const;

 private:
  friend struct detail::LateWork;

  void record_alone(const Stream& stream);  // without late work

  bool timing_;
  bool recorded_ = false;
  Device device_;
  void* native_ = nullptr;
  std::chrono::steady_clock::time_point at_;  // time of record() on the CPU
};

namespace cuda {

/// Blocks the host until all streams of `device` are done; throws as Stream::synchronize().
void synchronize(Device device = kCUDA);

/// Number of times this process has waited for a GPU. A training step should not increase it.
std::int64_t host_waits();

}  // namespace cuda

namespace detail {

/// A stream reserved for one owner until this object is destroyed.
class OwnStream {
 public:
  /// Kernels of a high-priority stream start first when multiprocessors become free.
  explicit OwnStream(Device device, bool high_priority = false);
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  const Stream& get() const { return stream_; }

 private:
  Stream stream_;
  bool high_priority_;
};

/// Blocks the host until `stream` is done, for `op`, and counts the wait. Throws std::runtime_error
/// while the stream is captured in a graph, where waiting is impossible, and std::out_of_range if a
/// kernel reported an index out of range: see core/cuda/kernels/indices.h.
void wait_for(const Stream& stream, const char* op);
/// Counts a CUDA call that waits implicitly, such as cudaFree.
void count_host_wait() noexcept;

}  // namespace detail

}  // namespace halfgrad
