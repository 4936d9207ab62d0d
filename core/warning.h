#pragma once

#include <iostream>
#include <string>

#include <halfgrad/core/language.h>

namespace halfgrad {

/// The line of code that calls a function: `CallSite site = CallSite::here()` as the function's
/// last parameter.
struct CallSite {
  static constexpr CallSite here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }

  const char* file;
  int line;
};

namespace detail {

/// For what PyTorch warns of: the call goes on, the caller should know. One line on std::cerr.
inline void warn(const std::string& message) {
  std::cerr << "halfgrad: warning: " + message + "\n";
}

/// The first warning of `op` that this line of code gives, followed by the line; later ones are
/// dropped, so that a loop warns once.
void warn_once(const CallSite& site, const std::string& op, const std::string& message);

}  // namespace detail

}  // namespace halfgrad
