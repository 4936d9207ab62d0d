#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/stream.h>

namespace halfgrad {

/// A function's GPU work, recorded once and queued again by one call, as torch.cuda.CUDAGraph:
///
///   step();                            // once as usual: state, caches and streams come to be
///   Graph graph(device);
///   graph.capture(step);               // computes nothing
///   for (...) graph.replay();
///
/// A replay repeats the kernels with the same addresses and host values. What changes from step to
/// step must therefore be read from device memory, where before_replay() may put it, and results
/// appear where the captured run put them. Memory that the function allocates stays the graph's own
/// for its lifetime; arrays from outside that it uses, pinned memory included, have to live as
/// long. Whatever waits for the device inside throws std::runtime_error. Random numbers differ from
/// replay to replay, as they would from call to call: see Generator.
///
/// On the CPU replay() runs the function, and capture() only keeps it.
class Graph {
 public:
  explicit Graph(Device device = kCUDA);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Records `function`, which queues work on current_stream(device), a stream of the graph's own.
  /// Cached blocks are given back to the system first: the graph's memory is its own, and those
  /// that a warm-up has left would stay unused beside it. What the function throws is passed on,
  /// and the graph is as before. Throws std::logic_error for a graph that has captured already.
  void capture(const std::function<void()>& function);

  /// The two ends of capture(), for code that is no function; on a GPU alone, on one thread.
  /// Between them a stream of the graph's own is current. capture_end() throws std::runtime_error
  /// where the work is not to be had as a graph, as when another stream has joined it and has not
  /// been waited for; then the graph is as before capture_begin().
  void capture_begin();
  void capture_end();

  /// Calls `send` now or, while this thread captures a graph, before each of that graph's replays
  /// instead, with the replay's stream current: how what the host changes between steps (a learning
  /// rate) gets to where captured kernels read it.
  static void before_replay(std::function<void()> send);

  /// Queues the work on current_stream(device); the host does not wait.
  /// Throws std::logic_error when nothing was captured.
  void replay();

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
  Stream home_;  // the pool's memory goes back there
  Stream replayed_on_;
  std::optional<detail::OwnStream> captured_on_;
  allocator::Pool pool_;
  detail::CapturedRandom random_;
  std::optional<Capture> capturing_;
  std::vector<std::function<void()>> sends_;  // before each replay
  std::function<void()> function_;            // on the CPU
  void* native_ = nullptr;
};

}  // namespace halfgrad
