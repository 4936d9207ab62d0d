#include <halfgrad/core/warning.h>

#include <iostream>
#include <mutex>
#include <set>
#include <tuple>

namespace halfgrad {
namespace {

WarningHandler first_handler;
constinit thread_local WarningHandler* current_handler = nullptr;

}  // namespace

void WarningHandler::process(const Warning& warning) {
  std::cerr << "halfgrad: warning: " + warning.msg() + "\n";
}

void WarningUtils::set_warning_handler(WarningHandler* handler) { current_handler = handler; }

WarningHandler* WarningUtils::get_warning_handler() {
  return current_handler != nullptr ? current_handler : &first_handler;
}

namespace detail {

void warn(const std::string& message) {
  WarningUtils::get_warning_handler()->process(Warning(message));
}

void warn_once(const CallSite& site, const std::string& op, const std::string& message) {
  static std::mutex mutex;
  static std::set<std::tuple<std::string, int, std::string>> warned;
  {
    const std::lock_guard lock(mutex);
    if (!warned.emplace(site.file, site.line, op).second) return;
  }
  warn(op + ": " + message + "; called at " + site.file + ":" + std::to_string(site.line));
}

}  // namespace detail
}  // namespace halfgrad
