#include <halfgrad/testing/process_settings.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace halfgrad::testing::detail {
namespace {

cpu_set_t processors_now() {
  cpu_set_t all;
  CPU_ZERO(&all);
  ::sched_getaffinity(0, sizeof all, &all);
  return all;
}

rlimit limit_now(std::size_t resource) {
  rlimit limit{};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  return limit;
}

bool timer_runs(int timer) {
  itimerval now{};
  ::getitimer(static_cast<__itimer_which>(timer), &now);
  return now.it_value.tv_sec != 0 || now.it_value.tv_usec != 0;
}

struct sigaction handler_now(int number) {
  struct sigaction handler {};
  ::sigaction(number, nullptr, &handler);
  return handler;
}

std::string name_of(const std::string& variable) { return variable.substr(0, variable.find('=')); }

}  // namespace

ProcessSettings::ProcessSettings() { capture(); }

void ProcessSettings::capture() {
  processors_ = processors_now();
  policy_ = ::sched_getscheduler(0);
  priority_ = ::getpriority(PRIO_PROCESS, 0);
  for (std::size_t i = 0; i < limits_.size(); ++i) limits_[i] = limit_now(i);
  for (std::size_t i = 0; i < kTimers.size(); ++i) timers_[i] = timer_runs(kTimers[i]);
  for (std::size_t i = 0; i < kSignals.size(); ++i) handlers_[i] = handler_now(kSignals[i]);
  environment_.clear();
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    environment_.emplace_back(*variable);
  }
}

std::string ProcessSettings::change() {
  const cpu_set_t processors = processors_now();
  if (CPU_EQUAL(&processors, &processors_) == 0) {
    return "the kernel left its thread on other processors, " +
           std::to_string(CPU_COUNT(&processors)) + " instead of " +
           std::to_string(CPU_COUNT(&processors_));
  }
  if (::sched_getscheduler(0) != policy_ || ::getpriority(PRIO_PROCESS, 0) != priority_) {
    return "the kernel left its process with another priority";
  }
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const rlimit now = limit_now(i);
    if (now.rlim_cur != limits_[i].rlim_cur || now.rlim_max != limits_[i].rlim_max) {
      return "the kernel left a limit of its process changed, setrlimit " + std::to_string(i);
    }
  }
  for (std::size_t i = 0; i < kTimers.size(); ++i) {
    if (timer_runs(kTimers[i]) && !timers_[i]) return "the kernel left a timer running";
  }
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (handler_now(kSignals[i]).sa_sigaction != handlers_[i].sa_sigaction) {
      return std::string("the kernel left another handler of the signal ") + strsignal(kSignals[i]);
    }
  }
  return environment_change();
}

std::string ProcessSettings::environment_change() {
  std::size_t count = 0;
  bool same = environ != nullptr;
  for (; same && environ[count] != nullptr; ++count) {
    same = count < environment_.size() && environment_[count] == environ[count];
  }
  if (same && count == environment_.size()) return {};
  for (const std::string& variable : environment_) {
    const std::string name = name_of(variable);
    const char* const now = std::getenv(name.c_str());
    if (now == nullptr || name + '=' + now != variable) {
      return "the kernel left " + name + " of the environment changed";
    }
  }
  for (std::size_t i = 0; environ[i] != nullptr; ++i) {
    const std::string variable = environ[i];
    if (std::find(environment_.begin(), environment_.end(), variable) != environment_.end()) {
      continue;
    }
    if (!may_add_variable_) {
      return "the kernel left " + name_of(variable) + " added to the environment";
    }
    may_add_variable_ = false;
    restore();
    break;
  }
  return {};
}

void ProcessSettings::restore() {
  ::sched_setaffinity(0, sizeof processors_, &processors_);
  ::setpriority(PRIO_PROCESS, 0, priority_);
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    ::setrlimit(static_cast<__rlimit_resource>(i), &limits_[i]);
  }
  for (std::size_t i = 0; i < kTimers.size(); ++i) {
    const itimerval none{};
    if (!timers_[i]) ::setitimer(static_cast<__itimer_which>(kTimers[i]), &none, nullptr);
  }
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &handlers_[i], nullptr);
  }
  const std::vector<std::string> before = environment_;
  ::clearenv();
  for (const std::string& variable : before) {
    const std::size_t name = variable.find('=');
    if (name != std::string::npos) {
      ::setenv(variable.substr(0, name).c_str(), variable.c_str() + name + 1, 1);
    }
  }
  capture();
}

}  // namespace halfgrad::testing::detail
