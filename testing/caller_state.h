#pragma once

#include <array>
#include <cfenv>
#include <csignal>
#include <string>

/// State of a caller that a kernel must leave as it was.
namespace halfgrad::testing::detail {

/// The floating-point mode of a thread: how it rounds, and whether it flushes subnormals to 0.
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
  int rounding_;
  bool flushes_;
};

/// The signals that end a process after a mistake in a kernel.
inline constexpr std::array kFatalSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

/// Handlers of the fatal signals, blocked signals and the locale.
class ProcessState {
 public:
  ProcessState();

  /// Describes a change since then; empty if there is none.
  std::string change() const;
  void restore() const;

 private:
  std::array<struct sigaction, kFatalSignals.size()> handlers_{};
  sigset_t blocked_;
  std::string locale_;
};

}  // namespace halfgrad::testing::detail
