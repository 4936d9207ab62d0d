#include <algorithm>
#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>
#include <system_error>

#include <halfgrad/data/csv/csv_text.h>

namespace halfgrad::data::detail {
namespace {

// Rounds a number that double cannot hold to 0 if it is too small, as pandas does. from_chars does
// not tell whether it is too small or too large; a stream stores 0 or the largest double.
std::optional<double> small_number(const std::string& text) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  double value = 0;
  stream >> value;
  return std::abs(value) < 1 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<double> parse_number(std::string text, char decimal) {
  if (decimal != '.') {
    if (text.find('.') != std::string::npos) return std::nullopt;  // perhaps 1.000 for a thousand
    std::ranges::replace(text, decimal, '.');
  }
  const char* begin = text.data();
  const char* const end = begin + text.size();
  if (text.starts_with('+') && !text.starts_with("+-")) ++begin;  // from_chars accepts no plus sign
  double value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (stop != end) return std::nullopt;
  if (error == std::errc::result_out_of_range) return small_number(std::string(begin, end));
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(const std::string& text, char decimal) {
  const bool has_plus = text.starts_with('+') && !text.starts_with("+-");
  const char* const begin = text.data() + (has_plus ? 1 : 0);
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  const auto [stop, error] = std::from_chars(begin, end, whole);
  if (error == std::errc() && stop == end) return whole;
  const std::optional<double> number = parse_number(text, decimal);
  // Below 2^53 a double holds every whole number; 2^53 may be 2^53 + 1, rounded.
  if (!number || std::trunc(*number) != *number || std::abs(*number) >= 0x1p53) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

}  // namespace halfgrad::data::detail
