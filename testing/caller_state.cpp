#include <halfgrad/testing/caller_state.h>

#include <clocale>
#include <cstddef>
#include <cstring>
#include <limits>

namespace halfgrad::testing::detail {
namespace {

/// Whether the thread stores 0 for a subnormal result, or reads a subnormal operand as 0.
bool flushes_subnormals() {
  volatile float least_normal = std::numeric_limits<float>::min();
  volatile float subnormal = std::numeric_limits<float>::denorm_min();
  const volatile float result = least_normal / 2, read = subnormal * 0x1p100f;
  return result == 0 || read == 0;
}

std::string rounding_name(int mode) {
  switch (mode) {
    case FE_UPWARD:
      return "upward";
    case FE_DOWNWARD:
      return "downward";
    case FE_TOWARDZERO:
      return "toward zero";
    default:
      return "to nearest";
  }
}

std::string locale_now() {
  const char* const name = std::setlocale(LC_ALL, nullptr);
  return name == nullptr ? "" : name;
}

sigset_t blocked_now() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return blocked;
}

struct sigaction handler_now(int number) {
  struct sigaction handler {};
  ::sigaction(number, nullptr, &handler);
  return handler;
}

}  // namespace

FloatingMode::FloatingMode() : rounding_(std::fegetround()), flushes_(flushes_subnormals()) {
  std::fegetenv(&environment_);
}

std::string FloatingMode::change() const {
  if (const int now = std::fegetround(); now != rounding_) {
    return "the kernel left the rounding mode changed, from " + rounding_name(rounding_) + " to " +
           rounding_name(now);
  }
  if (flushes_subnormals() == flushes_) return {};
  return flushes_ ? "the kernel no longer lets its caller flush subnormals"
                  : "the kernel left its caller flushing subnormals to 0";
}

bool FloatingMode::only_flushes() const { return std::fegetround() == rounding_; }

void FloatingMode::restore() const { std::fesetenv(&environment_); }

ProcessState::ProcessState() : blocked_(blocked_now()), locale_(locale_now()) {
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    handlers_[i] = handler_now(kFatalSignals[i]);
  }
}

std::string ProcessState::change() const {
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    if (handler_now(kFatalSignals[i]).sa_sigaction != handlers_[i].sa_sigaction) {
      return std::string("the kernel left another handler of the signal ") +
             strsignal(kFatalSignals[i]);
    }
  }
  const sigset_t blocked = blocked_now();
  for (int number = 1; number < NSIG; ++number) {
    if (::sigismember(&blocked, number) != ::sigismember(&blocked_, number)) {
      return "the kernel left signals blocked or unblocked";
    }
  }
  if (const std::string now = locale_now(); now != locale_) {
    return "the kernel left the locale changed, from " + locale_ + " to " + now;
  }
  return {};
}

void ProcessState::restore() const {
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    ::sigaction(kFatalSignals[i], &handlers_[i], nullptr);
  }
  ::pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
  std::setlocale(LC_ALL, locale_.c_str());
}

}  // namespace halfgrad::testing::detail
