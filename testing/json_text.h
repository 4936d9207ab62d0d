#pragma once

#include <string>

/// Pieces of a JSON document.
namespace halfgrad::testing {

std::string json_string(const std::string& text);
/// Infinities and NaN are the strings "inf", "-inf" and "nan".
std::string json_number(double x);
/// The shortest text with that many digits; "nan" has no sign.
std::string number_text(double x, int digits = 17);

/// "f(a), f(b)" for a list of a and b.
template <class List, class F>
std::string joined(const List& list, const F& f) {
  std::string result;
  for (const auto& item : list) result += (result.empty() ? "" : ", ") + f(item);
  return result;
}

}  // namespace halfgrad::testing
