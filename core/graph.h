#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/stream.h>

namespace halfgrad {

/// The GPU work of a function, captured once and replayed by one call, as torch.cuda.CUDAGraph:
///
///   step();                            // a normal run first: allocates states, caches and streams
///   Graph graph(device);
///   graph.capture(step);               // records kernels, computes nothing
///   for (...) graph.replay();
///
/// A replay runs the same kernels with the same addresses and host values. So values that change
/// from step to step must be in device memory, where before_replay() can write them. Results appear
/// at the addresses of the captured run. Memory that the function allocates belongs to the graph
/// until it is destroyed; arrays from outside, pinned ones included, must live as long. A wait for
/// the device during capture throws std::runtime_error. Each replay draws new random numbers, the
/// same as separate calls would draw: see Generator.
///
/// On the CPU capture() stores the function and replay() calls it.
class Graph {
 public:
  explicit Graph(Device device = kCUDA);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Captures the work that `function` queues on current_stream(device), which is a stream of the
  /// graph. Empties the allocator cache first: the graph has its own memory, and blocks cached by a
  /// warm-up would stay unused. Rethrows an exception of `function` and leaves the graph unchanged.
  /// Throws std::logic_error if the graph has already captured.
  void capture(const std::function<void()>& function);

  /// Begin and end of capture(), for code that is not one function. GPU only; both calls on one
  /// thread. Between them a stream of the graph is current. capture_end() throws std::runtime_error
  /// if the work cannot become a graph, for example if another stream joined the capture and was
  /// not waited for. The graph is then as before capture_begin().
  void capture_begin();
  void capture_end();

  /// Calls `send` now. While this thread captures a graph, stores `send` instead, and each replay
  /// of that graph calls it first, with the stream of the replay current. It sends host values that
  /// change between steps, such as a learning rate, to where captured kernels read them.
  static void before_replay(std::function<void()> send);

  /// Calls `prepare` now and then at the start of every capture on a GPU, of any thread, before
  /// the capture begins.
  static void before_captures(std::function<void()> prepare);

  /// Queues the captured work on current_stream(device); the host does not wait. Throws
  /// std::logic_error if nothing was captured.
  void replay();

  /// True while this thread captures a graph on a GPU.
  static bool is_capturing();
  /// A second stream of the graph that this thread captures, or null. Work there must wait for the
  /// current stream first, and the current stream for that work before the capture ends.
  static const Stream* side_stream();
  /// Number of replays on GPUs so far, of all graphs. Memory of a captured run is up to date only
  /// with the last one.
  static std::uint64_t replays();

 private:
  struct Capture {
    Capture(Graph& graph, const Stream& on);
    ~Capture();

    Graph* outer;
    Stream stream;
    StreamScope scope;
    allocator::PoolScope pool;
    detail::CapturedRandom::Scope random;
  };

  void forget_captured();

  Device device_;
  Stream home_;  // gets the pool's memory at the end
  Stream replayed_on_;
  std::optional<detail::OwnStream> captured_on_, side_;
  allocator::Pool pool_;
  detail::CapturedRandom random_;
  std::optional<Capture> capturing_;
  std::vector<std::function<void()>> sends_;  // called before each replay
  std::function<void()> function_;            // CPU only
  std::int64_t launches_ = 0;                 // captured
  void* native_ = nullptr;
};

}  // namespace halfgrad
