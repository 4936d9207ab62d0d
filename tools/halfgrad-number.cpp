// halfgrad-number <number>...: prints how each number format rounds a number.
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <halfgrad/core/numbers/number_format.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/terminal.h>

namespace {

using halfgrad::NumberFormat;
using halfgrad::Rounding;

/// Splits the bits into sign, exponent and fraction: "0 01011 1001100110".
std::string fields(std::uint32_t bits, const NumberFormat& format) {
  const std::string digits = fmt::format("{:0{}b}", bits, format.bits());
  const auto exponent_bits = static_cast<std::size_t>(format.exponent_bits);
  return digits.substr(0, 1) + ' ' + digits.substr(1, exponent_bits) + ' ' +
         digits.substr(1 + exponent_bits);
}

std::string error_of(double stored, double x, const NumberFormat& format) {
  if (stored == x || std::isnan(x)) return "exact";
  if (std::isnan(stored)) return "overflow: no infinity, so NaN";
  if (std::isinf(stored))
    return fmt::format("overflow: beyond {:.8g}", decode(format.max_finite(), format));
  if (stored == 0) return fmt::format("underflow: below half of {:.4g}", decode(1, format));
  const double relative = std::fabs(stored - x) / std::fabs(x);
  const bool subnormal = std::fabs(stored) < std::ldexp(1, format.min_exponent());
  return fmt::format("{:.3g} relative, {:.2f} roundoffs{}", relative,
                     std::ldexp(relative, -format.roundoff_exponent()),
                     subnormal ? ", subnormal" : "");
}

/// Prints a line of one format; its name, or spaces of the same width, come first.
void print_line(std::string_view name, const std::string& text) {
  constexpr int kNameColumns = 17;
  programs::print_wrapped(fmt::format("{:<{}}{}\n", fmt::format("  {}", name), kNameColumns, text),
                          kNameColumns);
}

std::string digits_of(double x) { return fmt::format("{:.17g}", programs::printed(x)); }

void print_formats(double x) {
  fmt::print("{}\n", digits_of(x));
  for (const NumberFormat& format : {halfgrad::kFp32, halfgrad::kBf16, halfgrad::kFp16,
                                     halfgrad::kFp8E4M3Fn, halfgrad::kFp8E5M2}) {
    const std::uint32_t bits = encode(x, format);
    const double stored = decode(bits, format);
    print_line(format.name,
               fmt::format("0x{:0{}x}  {}", bits, format.bits() / 4, fields(bits, format)));
    print_line("", fmt::format("{}  ({})", digits_of(stored), error_of(stored, x, format)));
    const double cut = rounded_to(format, x, {.rounding = Rounding::toward_zero});
    if (cut != stored && !std::isnan(x)) print_line("", digits_of(cut) + " if cut toward zero");
    const double saturated = rounded_to(format, x, {.saturate = true});
    if (std::isfinite(x) && !std::isfinite(stored)) {
      print_line("", digits_of(saturated) + " if saturated");
    }
  }
}

/// Parses a number and rounds it to double. For other text, or a value that overflows, sets `error`
/// and returns NaN.
double number_of(const std::string& text, std::string& error) {
  char* end = nullptr;
  errno = 0;
  const double x = std::strtod(text.c_str(), &end);
  const bool overflows = errno == ERANGE && std::isinf(x);
  if (!text.empty() && end == text.c_str() + text.size() && !overflows) return x;
  error = fmt::format("expected a number, got \"{}\"", text);
  return NAN;
}

}  // namespace

int main(int argc, char** argv) {
  programs::CommandLine app(
      "halfgrad-number",
      "Prints how float32, bfloat16, float16 and two float8 formats round a number.");
  std::vector<std::string> texts;
  std::vector<double> numbers;
  app.add_option("numbers", texts, "Decimal, hexadecimal (0x1p-14), inf or nan")->required();
  app.parse_or_exit(argc, argv, [&] {
    for (const std::string& text : texts) {
      std::string error;
      numbers.push_back(number_of(text, error));
      if (!error.empty()) throw CLI::ValidationError(error);
    }
  });
  return programs::run("halfgrad-number", [&] {
    for (const double x : numbers) print_formats(x);
    return 0;
  });
}
