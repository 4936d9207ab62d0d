#pragma once

#include <exception>
#include <string>

namespace halfgrad {

/// Returns the message of the `Error` that `f` throws, or "no error".
template <class Error = std::exception, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace halfgrad
