#pragma once

#include <array>
#include <cfenv>
#include <csignal>
#include <string>

#include <sys/types.h>

/// State of a caller that a kernel must leave as it was.
namespace halfgrad::testing::detail {

/// The floating-point mode of a thread: how it rounds, whether it flushes subnormals to 0, and
/// which exceptions end the process.
class FloatingMode {
 public:
  /// The mode of the calling thread now.
  FloatingMode();

  /// Describes a change of the mode since then; empty if there is none.
  std::string change() const;
  /// True if only the treatment of subnormals has changed.
  bool only_flushes() const;
  void restore() const;

 private:
  std::fenv_t environment_;
  int rounding_, traps_;
  bool flushes_;
};

/// The signals that end a process after a mistake in a kernel.
inline constexpr std::array kFatalSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

/// Fills the memory that malloc() gives out while it lives, so that a kernel that takes such memory
/// for zeros shows. New memory of a process is zero else.
class FilledMemory {
 public:
  FilledMemory();
  ~FilledMemory();
  FilledMemory(const FilledMemory&) = delete;
  FilledMemory& operator=(const FilledMemory&) = delete;
};

/// Handlers of the fatal signals, blocked signals, the locale, the current folder and the mask of
/// new files.
class ProcessState {
 public:
  ProcessState();

  /// Describes a change since then; empty if there is none.
  std::string change() const;
  void restore() const;

 private:
  std::array<struct sigaction, kFatalSignals.size()> handlers_{};
  sigset_t blocked_;
  std::string locale_, folder_;
  mode_t file_mask_;
};

}  // namespace halfgrad::testing::detail
