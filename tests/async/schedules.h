#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <halfgrad/async/update_thread.h>

/// Runs a caller and an UpdateThread in every possible interleaving. The two real threads take
/// turns. A turn ends when the thread reaches a point; if both could run then, a script chooses.
namespace halfgrad::testing {

class Schedule {
 public:
  using Point = optim::UpdateThread::Point;
  using Ticket = optim::UpdateThread::Ticket;

  /// After the end of the script every choice goes to the caller.
  explicit Schedule(std::vector<bool> script) : script_(std::move(script)) {}

  optim::UpdateThread::Observer observer() {
    return [this](Point point, Ticket ticket) { reach(point, ticket); };
  }

  /// Adds a point, in the program or in a job.
  void pause(bool in_job) {
    std::unique_lock lock(mutex_);
    choose();
    wait_for_turn(lock, in_job);
  }

  /// Whether each choice went to the update thread.
  const std::vector<bool>& choices() const { return choices_; }

 private:
  void reach(Point point, Ticket ticket) {
    std::unique_lock lock(mutex_);
    switch (point) {
      case Point::launched:
        launched_ = ticket;
        choose();
        return wait_for_turn(lock, false);
      case Point::waits:
        awaited_ = ticket;
        choose();
        wait_for_turn(lock, false);
        awaited_ = 0;
        return;
      case Point::begins:
        return wait_for_turn(lock, true);
      case Point::ended:
        ended_ = ticket;
        return choose();
    }
  }

  void choose() {
    const bool caller_could = ended_ >= awaited_;
    const bool job_could = ended_ < launched_;
    if (!caller_could && !job_could) throw std::logic_error("deadlock: neither thread could run");
    job_runs_ = job_could;
    if (caller_could && job_could) {
      job_runs_ = choices_.size() < script_.size() && script_[choices_.size()];
      choices_.push_back(job_runs_);
    }
    turn_changed_.notify_all();
  }

  void wait_for_turn(std::unique_lock<std::mutex>& lock, bool job) {
    turn_changed_.wait(lock, [&] { return job_runs_ == job; });
  }

  const std::vector<bool> script_;
  std::vector<bool> choices_;
  std::mutex mutex_;
  std::condition_variable turn_changed_;
  Ticket launched_ = 0, ended_ = 0, awaited_ = 0;
  bool job_runs_ = false;
};

/// Calls program(schedule) once for every schedule, and returns the number of schedules. The points
/// that each side reaches must not depend on the schedule.
template <class Program>
std::size_t for_each_schedule(const Program& program) {
  std::vector<bool> script;
  for (std::size_t count = 1;; ++count) {
    Schedule schedule(script);
    program(schedule);
    script = schedule.choices();
    while (!script.empty() && script.back()) script.pop_back();
    if (script.empty()) return count;
    script.back() = true;
  }
}

}  // namespace halfgrad::testing
