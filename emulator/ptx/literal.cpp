#include <halfgrad/emulator/ptx/literal.h>

#include <bit>
#include <charconv>
#include <cstdlib>
#include <string>

namespace halfgrad::emulator {
namespace {

std::optional<std::uint64_t> integer_in(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// `0f` and 8 digits, or `0d` and 16.
std::optional<Number> float_bits_in(std::string_view token) {
  if (token.size() < 2 || token[0] != '0') return std::nullopt;
  const char letter = token[1];
  const bool single = (letter == 'f' || letter == 'F') && token.size() == 10;
  const bool twice = (letter == 'd' || letter == 'D') && token.size() == 18;
  if (!single && !twice) return std::nullopt;
  const auto bits = integer_in(token.substr(2), 16);
  if (!bits) return std::nullopt;
  return Number{single ? Operand::Literal::f32 : Operand::Literal::f64, *bits};
}

std::optional<Number> decimal_fraction_in(std::string_view token) {
  if (token.find_first_not_of("0123456789.eE+-") != std::string_view::npos ||
      token.find_first_of(".eE") == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string text(token);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return std::nullopt;
  return Number{Operand::Literal::f64, std::bit_cast<std::uint64_t>(value)};
}

}  // namespace

std::optional<Number> number_in(std::string_view token) {
  if (token.empty() || token[0] < '0' || token[0] > '9') return std::nullopt;
  if (const auto number = float_bits_in(token)) return number;
  std::string_view digits = token;
  if (digits.back() == 'U') digits.remove_suffix(1);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
  } else if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B')) {
    base = 2;
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  const std::size_t prefix = base == 16 || base == 2 ? 2 : 0;
  if (const auto value = integer_in(digits.substr(prefix), base)) return Number{{}, *value};
  return decimal_fraction_in(token);
}

Number negative(Number number) {
  switch (number.literal) {
    case Operand::Literal::integer:
      number.bits = 0 - number.bits;
      break;
    case Operand::Literal::f32:
      number.bits ^= 1ull << 31;
      break;
    case Operand::Literal::f64:
      number.bits ^= 1ull << 63;
      break;
  }
  return number;
}

Number expect_number(Lexer& lexer) {
  bool minus = false;
  while (lexer.is("-") || lexer.is("+")) minus ^= lexer.take().text == "-";
  const bool complement = lexer.accept("~");
  const auto number = number_in(lexer.ahead().text);
  if (!number || lexer.ahead().kind != TokenKind::number) lexer.fail("a number");
  lexer.take();
  Number result = *number;
  if (complement) result.bits = ~result.bits;
  return minus ? negative(result) : result;
}

std::uint64_t expect_count(Lexer& lexer, std::uint64_t most, const char* what) {
  const auto number = number_in(lexer.ahead().text);
  if (lexer.ahead().kind != TokenKind::number || !number || number->bits > most ||
      number->literal != Operand::Literal::integer) {
    lexer.fail(std::string(what) + " of at most " + std::to_string(most));
  }
  lexer.take();
  return number->bits;
}

}  // namespace halfgrad::emulator
