#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <halfgrad/core/stream.h>
#include <halfgrad/dist/communicator.h>
#include <halfgrad/dist/host/call.h>
#include <halfgrad/dist/host/collective_observers.h>
#include <halfgrad/dist/host/host_work.h>
#include <halfgrad/dist/host/transport.h>

namespace halfgrad::dist {

/// A communicator that computes on the host. A thread of its own executes the collectives in the
/// order of the calls, so they overlap with the caller's work. Arrays of a GPU are copied to pinned
/// memory and back, on a stream of that thread.
class HostCommunicator final : public Communicator {
 public:
  explicit HostCommunicator(std::unique_ptr<Transport> transport);
  /// Completes all collectives, unless an exception is being thrown: they are given up then, so
  /// that the exception is seen. Tells the other ranks.
  ~HostCommunicator() override;

  int rank() const override { return transport_->rank(); }
  int size() const override { return transport_->size(); }
  std::string name_of(int rank) const override { return transport_->name_of(rank); }

  Array empty(const Shape& sizes, DType dtype, Device device) override;
  Work all_reduce(const Array& array, ReduceOp op) override;
  Work reduce_scatter(const Array& output, const Array& input, ReduceOp op) override;
  Work all_gather(const Array& output, const Array& input) override;
  Work broadcast(const Array& array, int root) override;
  void barrier() override;
  std::shared_ptr<void> watch(std::function<void(const CollectiveSpan&)> observer) override {
    return observers_.add(std::move(observer));
  }

 private:
  /// A collective on host memory.
  using Algorithm = std::function<void(std::byte* output, const std::byte* input)>;

  struct Job {
    Call call;
    Array output, input;
    Algorithm algorithm;
    std::shared_ptr<HostWork> work;
    std::chrono::steady_clock::time_point start = {};
  };

  Work launch(Call call, const Array& output, const Array& input, Algorithm algorithm);
  void run();
  std::optional<Job> next_job();
  std::string idle();
  void execute(Job& job);
  void on_host(const Job& job);
  void on_gpu(const Job& job);
  void end(const Job& job);
  void give_up(const Job& job, const std::string& error);

  const std::unique_ptr<Transport> transport_;
  std::mutex mutex_;
  std::condition_variable job_arrived_;
  std::deque<Job> jobs_;
  std::int64_t calls_ = 0;
  std::string broken_;  // the first error; empty while there is none
  bool stopping_ = false;
  CollectiveObservers observers_;
  std::map<Device, halfgrad::detail::OwnStream> streams_;  // GPUs' streams; only thread_ uses them
  std::thread thread_;                                     // last: it uses the others
};

}  // namespace halfgrad::dist
