#pragma once
// A model of a GPU with one stream, in sixty lines: what is queued, who waits, what a graph keeps.

#include <deque>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace model {

/// A device with memory of type Memory. A kernel is a function of that memory. As on a GPU,
/// launch() returns before the kernel has run, and the host's variables that a kernel uses must be
/// copied into it, as kernel arguments are.
template <class Memory>
class Device {
 public:
  using Kernel = std::function<void(Memory&)>;
  using Graph = std::vector<Kernel>;

  explicit Device(Memory memory) : memory_(std::move(memory)) {}

  /// Queues a kernel; while the device captures, records it instead.
  void launch(Kernel kernel) {
    if (capturing_) {
      captured_.push_back(std::move(kernel));
      return;
    }
    ++launches_;
    queue_.push_back(std::move(kernel));
  }

  /// Copies device memory to the host: waits until the queue is empty. A captured stream does not
  /// run, so waiting for it would never end: CUDA returns an error, this class throws.
  Memory read() {
    if (capturing_) {
      throw std::logic_error(
          "read: expected no wait during capture, got one; keep the value in "
          "device memory");
    }
    ++waits_;
    for (; !queue_.empty(); queue_.pop_front()) {
      ++kernels_;
      queue_.front()(memory_);
    }
    return memory_;
  }

  void begin_capture() {
    capturing_ = true;
    captured_.clear();
  }
  Graph end_capture() {
    capturing_ = false;
    return std::move(captured_);
  }
  /// Queues all kernels of a graph in one call.
  void launch(const Graph& graph) {
    ++launches_;
    for (const Kernel& kernel : graph) queue_.push_back(kernel);
  }

  int launches() const { return launches_; }  ///< calls by the host
  int kernels() const { return kernels_; }    ///< kernels that have run
  int waits() const { return waits_; }        ///< times that the host waited

 private:
  Memory memory_;
  std::deque<Kernel> queue_;
  Graph captured_;
  bool capturing_ = false;
  int launches_ = 0, kernels_ = 0, waits_ = 0;
};

}  // namespace model
