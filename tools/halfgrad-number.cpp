// halfgrad-number <number>...: what becomes of a number in each format.
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <halfgrad/core/number_format.h>

namespace {

using halfgrad::NumberFormat;
using halfgrad::Rounding;

/// "0 01011 1001100110": sign, exponent, fraction.
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

void print_journey(double x) {
  fmt::print("{:.17g}\n", x);
  for (const NumberFormat& format : {halfgrad::kFp32, halfgrad::kBf16, halfgrad::kFp16,
                                     halfgrad::kFp8E4M3Fn, halfgrad::kFp8E5M2}) {
    const std::uint32_t bits = encode(x, format);
    const double stored = decode(bits, format);
    fmt::print("  {:<10}  0x{:0{}x}  {}\n", format.name, bits, format.bits() / 4,
               fields(bits, format));
    fmt::print("  {:<10}  {:.17g}  ({})\n", "", stored, error_of(stored, x, format));
    const double cut = rounded_to(format, x, {.rounding = Rounding::toward_zero});
    if (cut != stored) fmt::print("  {:<10}  {:.17g} if cut toward zero\n", "", cut);
    const double saturated = rounded_to(format, x, {.saturate = true});
    if (std::isfinite(x) && !std::isfinite(stored)) {
      fmt::print("  {:<10}  {:.17g} if saturated\n", "", saturated);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Prints a number's journey through fp32, bf16, fp16 and both fp8 formats.");
  std::vector<std::string> numbers;
  app.add_option("numbers", numbers, "Decimal, hexadecimal (0x1p-14), inf or nan")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (const std::string& text : numbers) {
    char* end = nullptr;
    errno = 0;
    const double x = std::strtod(text.c_str(), &end);
    const bool out_of_range = errno == ERANGE && (x == 0 || std::isinf(x));  // not for subnormals
    if (text.empty() || end != text.c_str() + text.size() || out_of_range) {
      fmt::print(stderr, "halfgrad-number: expected a number, got \"{}\"\n", text);
      return 2;
    }
    print_journey(x);
  }
}
