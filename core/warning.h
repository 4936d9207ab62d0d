#pragma once

#include <string>
#include <utility>

#include <halfgrad/core/language.h>

namespace halfgrad {

/// The source line that calls a function: pass `CallSite site = CallSite::here()` as the last
/// parameter of the function.
struct CallSite {
  static constexpr CallSite here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }

  const char* file;
  int line;
};

/// A warning; its text has no newline.
class Warning {
 public:
  explicit Warning(std::string msg) : msg_(std::move(msg)) {}
  const std::string& msg() const { return msg_; }

 private:
  std::string msg_;
};

/// Receives warnings. This class prints each as a line on std::cerr; derive another one to collect
/// them.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning);
};

/// The handler of the current thread, as in libtorch. set_warning_handler() does not own it, and a
/// null pointer restores the first handler.
namespace WarningUtils {
void set_warning_handler(WarningHandler* handler);
WarningHandler* get_warning_handler();
}  // namespace WarningUtils

namespace detail {

/// Passes a warning to the current WarningHandler; for the cases in which PyTorch warns.
void warn(const std::string& message);

/// Prints a warning and the source line, once per `op` and line, so that a loop warns once.
void warn_once(const CallSite& site, const std::string& op, const std::string& message);

}  // namespace detail

}  // namespace halfgrad
