#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include <halfgrad/core/language.h>

namespace halfgrad::optim {

/// A thread that runs jobs one after another, in the order of their launch.
///
/// A job's exception ends that job. The first wait for that job or a later one throws it. Further
/// exceptions of jobs launched before that wait are taken for consequences and dropped. So the
/// exception that a wait throws depends on the order of calls and never on timing.
class UpdateThread {
 public:
  /// The number of a job, counted from 1.
  using Ticket = std::uint64_t;

  /// A point where a thread affects the other: a job was launched, begins, has ended; a thread
  /// waits for a ticket.
  enum class Point : std::uint8_t { launched, begins, ended, waits };
  /// Called at each point, without locks, on the thread that reached it; it may delay that thread.
  using Observer = std::function<void(Point, Ticket)>;

  explicit UpdateThread(Observer observer = nullptr);
  /// Runs all launched jobs. An exception that no call waited for is lost.
  ~UpdateThread();
  UpdateThread(const UpdateThread&) = delete;
  UpdateThread& operator=(const UpdateThread&) = delete;

  /// Queues a job and returns at once.
  Ticket launch(std::function<void()> job);
  /// Waits until that job, and so every earlier one, has ended. Throws std::runtime_error if called
  /// on this thread itself.
  void wait(Ticket ticket);
  /// Waits for every job launched so far.
  void wait();
  /// Waits as wait() does, but leaves an exception for the next wait.
  void drain();
  /// True on this thread, that is in a job.
  bool is_current() const { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  void work();
  void run(Ticket ticket, std::function<void()> job);
  Ticket launched();
  std::unique_lock<std::mutex> ended(Ticket ticket);
  void reach(Point point, Ticket ticket) const;

  const Observer observer_;
  std::mutex mutex_;
  std::condition_variable work_arrived_, job_ended_;
  std::deque<std::function<void()>> jobs_;
  Ticket launched_ = 0;
  Ticket ended_ = 0;
  std::exception_ptr failure_;  // exception of job failed_ that no wait has thrown yet
  Ticket failed_ = 0;
  Ticket forgiven_ = 0;  // exceptions of jobs up to this one are dropped
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace halfgrad::optim
