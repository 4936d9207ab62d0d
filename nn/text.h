#pragma once

#include <ios>
#include <sstream>
#include <string>

namespace halfgrad::nn::detail {

/// Prints the parts one after the other into a string, for the description of a layer's options.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out << std::boolalpha;
  (out << ... << parts);
  return out.str();
}

}  // namespace halfgrad::nn::detail
