#pragma once

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>

/// Settings of a process that outlast a call, and that a kernel must leave as they were.
namespace halfgrad::testing::detail {

/// Processors, scheduling policy, priority, limits, timers, signals that others send, and the
/// environment. Captured once: in all it takes some microseconds.
class ProcessSettings {
 public:
  /// The settings of the calling thread and its process now.
  ProcessSettings();

  /// Describes a change since then; empty if there is none. A variable that is new in the
  /// environment counts from the second time on: a library may set one when it begins.
  std::string change();
  /// Restores what can be restored, and takes what is then set as the new settings.
  void restore();

 private:
  std::string environment_change();
  void capture();

  static constexpr std::array kSignals{SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD};
  static constexpr std::array kTimers{ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

  cpu_set_t processors_{};
  int policy_ = 0, priority_ = 0;
  std::array<rlimit, RLIM_NLIMITS> limits_{};
  std::array<bool, kTimers.size()> timers_{};
  std::array<struct sigaction, kSignals.size()> handlers_{};
  std::vector<std::string> environment_;
  bool may_add_variable_ = true;
};

}  // namespace halfgrad::testing::detail
