#pragma once

#include <map>

#include <sys/types.h>

namespace halfgrad::testing::detail {

/// Measures for how long a process could have run, on a machine that may have more work than
/// processors: a right kernel is slow there, and must not be taken for one that hangs.
class ProcessorWait {
 public:
  /// Begins to measure the threads of this process, and of the processes that it made.
  explicit ProcessorWait(pid_t process);

  /// Returns the part of `passed` seconds since then in which the process could run: without the
  /// time for which its thread that waited longest waited for a processor. A process that kept all
  /// processors busy for longer, with many threads, could run for that time. Returns `passed` where
  /// the system does not tell.
  double seconds_served(double passed) const;

 private:
  struct Times {
    double running = 0, waiting = 0;  // seconds
  };
  using Threads = std::map<pid_t, Times>;
  static void add_threads(pid_t process, Threads& threads);

  pid_t process_;
  Threads before_;
};

}  // namespace halfgrad::testing::detail
