#pragma once

#include <iostream>
#include <string>

namespace halfgrad::detail {

/// For what PyTorch warns of: the call goes on, the caller should know. One line on std::cerr.
inline void warn(const std::string& message) {
  std::cerr << "halfgrad: warning: " + message + "\n";
}

}  // namespace halfgrad::detail
