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
/// A job's exception ends that job, and is thrown by the first wait for it or for a later one.
/// Further exceptions of jobs launched before that wait are taken for consequences and forgotten.
/// So who is told what depends on the order of calls and never on timing.
class UpdateThread {
 public:
  /// The number of a job, counted from 1.
  using Ticket = std::uint64_t;

  /// Where the two threads meet: a job was launched, begins, has ended; a ticket is waited for.
  enum class Point : std::uint8_t { launched, begins, ended, waits };
  /// Called at each point, without locks, on the thread that is there: it may delay that thread.
  using Observer = std::function<void(Point, Ticket)>;

  explicit UpdateThread(Observer observer = nullptr);
  /// Runs what was launched. An exception that nobody waited for is lost.
  ~UpdateThread();
  UpdateThread(const UpdateThread&) = delete;
  UpdateThread& operator=(const UpdateThread&) = delete;

  /// Returns at once.
  Ticket launch(std::function<void()> job);
  /// Until that job has ended, and so all before it. Throws std::runtime_error on this thread
  /// itself.
  void wait(Ticket ticket);
  /// For every job launched so far.
  void wait();
  /// As wait(), but leaves an exception to be thrown by the next wait.
  void drain();
  /// True on this thread: in a job.
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
  std::exception_ptr failure_;  // of job failed_, not thrown yet
  Ticket failed_ = 0;
  Ticket forgiven_ = 0;  // exceptions of jobs up to this one are consequences
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace halfgrad::optim
