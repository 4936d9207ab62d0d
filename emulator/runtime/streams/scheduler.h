#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include <halfgrad/emulator/checks/operation_order.h>
#include <halfgrad/emulator/runtime/streams/clock.h>
#include <halfgrad/emulator/runtime/streams/meeting.h>

namespace halfgrad::emulator {

/// An operation that waits in its chain. It is ready when it is the first there and all operations
/// that `before` covers are complete.
struct Task {
  OperationId operation = 0;
  OperationId overlapped = 0;  ///< see OperationLog; the task runs behind it all the same
  SharedClock before;
  std::function<void(OperationId)> run;  ///< may be empty; does not throw
  bool is_host_function = false;     ///< runs beside other work, since it may wait for host threads
  std::shared_ptr<Meeting> meeting;  ///< nullptr: needs no task of another chain
};

/// Runs tasks in a legal order, one at a time but for host functions. A task runs in the thread
/// that gives it (eager) or needs it (lazy); no lock of the runtime is held meanwhile.
///
/// A lazy host that only looks at memory (a flag that a callback sets) would wait for ever, so a
/// background thread runs what is pending when the program calls nothing for a while.
class Scheduler {
 public:
  struct Options {
    bool lazy = false;
    std::uint64_t seed = 0;
    /// How long tasks may wait for partners while the program calls nothing.
    std::chrono::milliseconds patience{10'000};
  };
  explicit Scheduler(Options options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  ChainId make_chain();
  /// The chain gets no more tasks. Those that it has still run.
  void close_chain(ChainId chain);

  /// The place that the next task of the chain will get.
  Position next_position(ChainId chain);
  /// Appends the task; run_eagerly() or a wait runs it.
  Position add(ChainId chain, Task task);
  /// Runs what is ready, unless streams are lazy.
  void run_eagerly();
  /// Runs what the target needs until it is complete.
  void run_until(const Clock& target);
  /// The same, but returns false where only a partner of a task is missing.
  bool try_run(const Clock& target);
  /// Runs everything.
  void run_all();
  /// Some meetings were broken off: wakes the threads that wait, and runs what is ready if eager.
  void run_released();
  /// The program ends: partners that are missing now will never come.
  void expect_no_more();

  bool complete(const Clock& target);
  /// The lowest number among tasks that have not finished, or 0 if all have.
  OperationId oldest_pending();

  /// The operation that the calling thread runs, or 0; whether it is a host function.
  static OperationId running_operation();
  static bool in_host_function();

 private:
  struct Chain {
    ChainId id = 0;
    std::uint32_t issued = 0, completed = 0;
    OperationId running = 0;  ///< the task that a thread runs now
    bool closed = false;
    std::deque<Task> queue;
  };
  using Lock = std::unique_lock<std::mutex>;
  using Needs = std::unordered_map<ChainId, std::uint32_t>;

  bool is_complete(const Clock& clock) const;
  bool is_ready(const Chain& chain) const;
  Needs needs_of(const Clock& target) const;
  Chain* pick(const Needs* needs, bool others_too);
  bool run(const Clock& target, bool waits);
  std::vector<Meeting*> waiting_meetings() const;
  void wait(Lock& lock);
  void run_first(Lock& lock, Chain& chain);
  void run_pending(Lock& lock);
  void start_idle_thread();
  void run_when_idle();

  Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<ChainId, std::unique_ptr<Chain>> chains_;
  std::vector<Chain*> pending_;  ///< chains with tasks that have not finished
  ChainId last_chain_ = 0;
  bool device_is_busy_ = false;
  std::mt19937_64 random_;
  std::uint64_t calls_ = 0;  ///< tells the idle thread that the program is alive
  std::size_t pending_host_functions_ = 0;
  bool stops_ = false;
  std::thread idle_thread_;
};

}  // namespace halfgrad::emulator
