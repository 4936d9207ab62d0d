#include <halfgrad/testing/json_text.h>

#include <cmath>
#include <sstream>

namespace halfgrad::testing {

std::string number_text(double x, int digits) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  std::ostringstream text;
  text.precision(digits);
  text << x;
  return text.str();
}

std::string json_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

std::string json_number(double x) {
  return std::isfinite(x) ? number_text(x) : json_string(number_text(x));
}

}  // namespace halfgrad::testing
