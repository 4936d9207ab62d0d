#pragma once

#include <string>

#include <halfgrad/core/fail.h>

namespace halfgrad::detail {

/// Throws std::invalid_argument unless `valid`: "Adam: expected lr >= 0, got nan".
inline void check_option(bool valid, const std::string& owner, const char* expected, double got) {
  if (!valid) fail(owner, "expected {}, got {}", expected, got);
}

}  // namespace halfgrad::detail
