#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

#include <halfgrad/core/language.h>

namespace halfgrad::detail {

/// "Adam: expected lr >= 0, got nan"
inline void check_option(bool valid, const std::string& owner, const char* expected, double got) {
  if (valid) return;
  std::ostringstream message;
  message << owner << ": expected " << expected << ", got " << got;
  throw std::invalid_argument(message.str());
}

}  // namespace halfgrad::detail
