#pragma once

#include <iostream>
#include <string>

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

namespace detail {

/// Prints one warning line on std::cerr; for the cases in which PyTorch warns.
inline void warn(const std::string& message) {
  std::cerr << "halfgrad: warning: " + message + "\n";
}

/// Prints a warning and the source line, once per `op` and line, so that a loop warns once.
void warn_once(const CallSite& site, const std::string& op, const std::string& message);

}  // namespace detail

}  // namespace halfgrad
