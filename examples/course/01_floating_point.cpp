// Chapter 1: floating point on one page. Prints the formats, how values are rounded, and what
// happens at both ends of the range; draws bits and number lines.
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include <halfgrad/core/dtype.h>
#include <halfgrad/core/numbers/number_format.h>

#include "01_floating_point/drawings.h"
#include "course.h"
namespace hg = halfgrad;

namespace {

struct Named {
  const char* name;  // in facts
  hg::NumberFormat format;
};

constexpr Named kFormats[] = {{"fp32", hg::kFp32},
                              {"bf16", hg::kBf16},
                              {"fp16", hg::kFp16},
                              {"e5m2", hg::kFp8E5M2},
                              {"e4m3", hg::kFp8E4M3Fn}};

// The distance from x to the next larger value of the format.
double spacing(const hg::NumberFormat& format, double x) {
  const std::uint32_t bits = hg::encode(x, format);
  return hg::decode(bits + 1, format) - hg::decode(bits, format);
}

void print_formats(course::Chapter& chapter) {
  std::printf("The formats: sign, exponent and fraction bits, and what they can hold\n");
  for (const auto& [name, format] : kFormats) {
    const std::string of = std::string("_") + name;
    chapter.fact("exponent_bits" + of, format.exponent_bits);
    chapter.fact("fraction_bits" + of, format.fraction_bits);
    chapter.fact("bias" + of, format.bias());
    chapter.fact("smallest" + of, hg::decode(1, format));
    chapter.fact("smallest_normal" + of, std::ldexp(1.0, format.min_exponent()));
    chapter.fact("largest" + of, hg::decode(format.max_finite(), format));
    chapter.fact("spacing_at_1" + of, spacing(format, 1));
    chapter.fact("tenth" + of, hg::rounded_to(format, 0.1));
  }
}

void print_anatomy(course::Chapter& chapter) {
  std::printf("\n-6.5 in fp16, bit by bit\n");
  const std::uint32_t bits = hg::encode(-6.5, hg::kFp16);
  chapter.fact("anatomy_sign", bits >> 15);
  chapter.fact("anatomy_exponent", bits >> 10 & 31);
  chapter.fact("anatomy_fraction", bits & 1023);
  chapter.fact("anatomy_significand", 1 + (bits & 1023) / 1024.0);
  chapter.fact("anatomy_value", hg::decode(bits, hg::kFp16));
}

void print_spacing(course::Chapter& chapter) {
  std::printf("\nThe distance to the next larger value\n");
  for (const int x : {1, 100, 1000, 2048, 30000}) {
    const std::string of = std::to_string(x) + "_";
    chapter.fact("spacing_at_" + of + "in_fp16", spacing(hg::kFp16, x));
    chapter.fact("spacing_at_" + of + "in_bf16", spacing(hg::kBf16, x));
  }
}

// The library's conversion, which every cast uses: checked against the formats above.
double to_half(double x) { return static_cast<double>(static_cast<float>(hg::Half(float(x)))); }

void print_rounding(course::Chapter& chapter) {
  std::printf("\nRounding to nearest, ties to even\n");
  chapter.fact("rounded_2049", to_half(2049));
  chapter.fact("rounded_2050", to_half(2050));
  chapter.fact("rounded_2051", to_half(2051));
  chapter.fact("rounded_2050_5", to_half(2050.5));
  chapter.fact("rounded_bf16_257", hg::rounded_to(hg::kBf16, 257));
  chapter.fact("rounded_bf16_259", hg::rounded_to(hg::kBf16, 259));
  std::printf("\nThe ends of fp16\n");
  chapter.fact("rounded_65519", to_half(65519));
  chapter.fact("rounded_65520", to_half(65520));
  chapter.fact("rounded_2_pow_minus_24", to_half(0x1p-24));
  chapter.fact("rounded_2_pow_minus_25", to_half(0x1p-25));
  chapter.fact("rounded_1e_minus_5", to_half(1e-5));
  chapter.fact("error_1e_minus_5_percent", 100 * std::fabs(to_half(1e-5) / 1e-5 - 1));
  chapter.fact("roundoff_percent", 100 * 0x1p-11);
  chapter.fact("rounded_1e_minus_8", to_half(1e-8));
  chapter.fact("rounded_bf16_70000", hg::rounded_to(hg::kBf16, 70000));
}

void print_special(course::Chapter& chapter) {
  std::printf("\nSpecial values\n");
  const double inf = to_half(70000);
  const double nan = inf - inf;
  chapter.fact("inf_minus_inf", nan);
  chapter.fact("inf_times_0", inf * to_half(1e-8));
  chapter.fact("nan_equals_nan", nan == nan ? "true" : "false");
  chapter.fact("zeros_are_equal", to_half(-0.0) == 0 ? "true" : "false");
  chapter.fact("one_over_minus_zero", 1 / to_half(-1e-8));
  chapter.fact("e4m3_of_1000", hg::rounded_to(hg::kFp8E4M3Fn, 1000));
  // How many of the 65536 patterns are neither finite nor zero: a format spends few on them.
  int infinite = 0, not_a_number = 0, subnormal = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const double x = hg::decode(bits, hg::kFp16);
    infinite += std::isinf(x);
    not_a_number += std::isnan(x);
    subnormal += x != 0 && std::fabs(x) < 0x1p-14;
  }
  chapter.fact("fp16_patterns", 65536);
  chapter.fact("fp16_infinities", infinite);
  chapter.fact("fp16_nans", not_a_number);
  chapter.fact("fp16_subnormals", subnormal);
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(
      argc, argv,
      {.slug = "01_floating_point",
       .does = "Prints the bits, limits and spacing of floating-point formats."});
  return chapter.run([&] {
    print_formats(chapter);
    print_anatomy(chapter);
    print_spacing(chapter);
    print_rounding(chapter);
    print_special(chapter);
    chapter.picture("bits", draw_bits());
    chapter.picture("line", draw_number_line());
    chapter.picture("spacing", draw_spacing());
  });
}
