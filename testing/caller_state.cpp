#include <halfgrad/testing/caller_state.h>

#include <halfgrad/testing/process_seal.h>

#include <clocale>
#include <cstddef>
#include <cstring>
#include <limits>

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

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

/// The exceptions that end the process.
int traps_now() {
#if defined(__GLIBC__)
  return ::fegetexcept();
#else
  return 0;
#endif
}

/// How exactly the x87 unit computes, which long double needs.
int long_double_precision([[maybe_unused]] const std::fenv_t& environment) {
#if defined(__GLIBC__) && defined(__x86_64__)
  constexpr int kPrecision = 0x300;
  return environment.__control_word & kPrecision;
#else
  return 0;
#endif
}
int long_double_precision_now() {
  std::fenv_t environment;
  std::fegetenv(&environment);
  return long_double_precision(environment);
}

std::string folder_now() {
  char path[4096];
  return ::getcwd(path, sizeof path) == nullptr ? "" : path;
}

mode_t file_mask_now() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

void fill_new_memory([[maybe_unused]] int byte) {
#if defined(__GLIBC__)
  ::mallopt(M_PERTURB, byte);
#endif
}

}  // namespace

FloatingMode::FloatingMode()
    : rounding_(std::fegetround()), traps_(traps_now()), flushes_(flushes_subnormals()) {
  std::fegetenv(&environment_);
}

std::string FloatingMode::change() const {
  if (const int now = std::fegetround(); now != rounding_) {
    return "the kernel left the rounding mode changed, from " + rounding_name(rounding_) + " to " +
           rounding_name(now);
  }
  if (traps_now() != traps_)
    return "the kernel left floating-point exceptions that end the process";
  if (long_double_precision_now() != long_double_precision(environment_))
    return "the kernel left the precision of long double changed";
  if (flushes_subnormals() == flushes_) return {};
  return flushes_ ? "the kernel no longer lets its caller flush subnormals"
                  : "the kernel left its caller flushing subnormals to 0";
}

bool FloatingMode::only_flushes() const {
  return std::fegetround() == rounding_ && traps_now() == traps_ &&
         long_double_precision_now() == long_double_precision(environment_);
}

void FloatingMode::restore() const { std::fesetenv(&environment_); }

// malloc() fills new memory with the complement, 0x7f: NaN in float16, else huge.
FilledMemory::FilledMemory() { fill_new_memory(0x80); }
FilledMemory::~FilledMemory() { fill_new_memory(0); }

ProcessState::ProcessState()
    : blocked_(blocked_now()),
      locale_(locale_now()),
      folder_(folder_now()),
      file_mask_(file_mask_now()) {
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    handlers_[i] = visible_handler(kFatalSignals[i]);
  }
}

std::string ProcessState::change() const {
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    if (visible_handler(kFatalSignals[i]).sa_sigaction != handlers_[i].sa_sigaction) {
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
  if (const std::string now = folder_now(); now != folder_) {
    return "the kernel left the current folder changed, from " + folder_ + " to " + now;
  }
  if (file_mask_now() != file_mask_) return "the kernel left the mask of new files changed";
  return {};
}

void ProcessState::restore() const {
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    restore_handler(kFatalSignals[i], handlers_[i]);
  }
  ::pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
  std::setlocale(LC_ALL, locale_.c_str());
  ::umask(file_mask_);
  [[maybe_unused]] const int moved = ::chdir(folder_.c_str());
}

}  // namespace halfgrad::testing::detail
