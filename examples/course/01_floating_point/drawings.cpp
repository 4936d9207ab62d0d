#include "drawings.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <halfgrad/core/numbers/number_format.h>

#include "chart.h"
#include "svg.h"
namespace hg = halfgrad;

namespace {

std::string decimal(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

// A square of a colour, with its meaning in words.
void draw_key(course::Svg& svg, double x, double y, const char* words, const std::string& colour) {
  svg.box(x, y - 10, 11, 11, colour, colour, 2);
  svg.write(x + 16, y, words, course::Anchor::start, 12, "soft");
}

// One row of bits with its format's name on the left and the value on the right.
void draw_row(course::Svg& svg, double y, const char* name, const hg::NumberFormat& format) {
  constexpr double kSize = 19;
  const std::uint32_t bits = hg::encode(0.1, format);
  svg.write(20, y + 15, name, course::Anchor::start, 14, "ink", true);
  for (int i = 0; i < format.bits(); ++i) {
    const bool bit = (bits >> (format.bits() - 1 - i) & 1) != 0;
    const bool is_exponent = i >= 1 && i <= format.exponent_bits;
    const std::string colour = i == 0 ? "four" : is_exponent ? "two" : "one";
    const double x = 118 + kSize * i + (i > 0 ? 4 : 0) + (i > format.exponent_bits ? 4 : 0);
    svg.box(x, y, kSize - 2, 20, "pale_" + colour, colour, 3);
    svg.write(x + kSize / 2 - 1, y + 15, bit ? "1" : "0", course::Anchor::middle, 13);
  }
  svg.write(740, y + 15, decimal(hg::decode(bits, format)), course::Anchor::start, 13);
}

// The values of E4M3 from 0 to `high` as ticks; `label_step` is the distance of labelled values.
void draw_line(course::Svg& svg, double y, double high, double label_step, bool in_powers) {
  const hg::NumberFormat& format = hg::kFp8E4M3Fn;
  const auto at = [&](double value) { return 30 + 860 * value / high; };
  const double smallest_normal = std::ldexp(1.0, format.min_exponent());
  svg.line(at(0), y, at(high), y, "soft", 1.5);
  for (std::uint32_t bits = 0; hg::decode(bits, format) <= high; ++bits) {
    const double value = hg::decode(bits, format);
    const bool is_subnormal = value < smallest_normal;
    const bool is_power = value > 0 && std::exp2(std::round(std::log2(value))) == value;
    const double length = is_power ? 20 : 13;
    svg.line(at(value), y - length, at(value), y, is_subnormal ? "two" : "one",
             is_power ? 2.5 : 1.5);
  }
  for (double value = 0; value <= high; value += label_step) {
    const std::string label =
        !in_powers || value == 0 ? decimal(value) : decimal(value * 512) + "/512";
    svg.write(at(value), y + 18, label, course::Anchor::middle, 12, "soft");
  }
}

}  // namespace

std::string draw_bits() {
  course::Svg svg(900, 222, "0.1 in fp32, bf16, fp16, fp8 E5M2 and fp8 E4M3, bit by bit");
  svg.write(20, 26, "0.1 in five formats, rounded to nearest", course::Anchor::start, 16, "ink",
            true);
  draw_key(svg, 118, 48, "sign", "four");
  draw_key(svg, 170, 48, "exponent", "two");
  draw_key(svg, 250, 48, "fraction", "one");
  svg.write(740, 48, "value", course::Anchor::start, 12, "soft");
  draw_row(svg, 58, "fp32", hg::kFp32);
  draw_row(svg, 90, "bf16", hg::kBf16);
  draw_row(svg, 122, "fp16", hg::kFp16);
  draw_row(svg, 154, "fp8 E5M2", hg::kFp8E5M2);
  draw_row(svg, 186, "fp8 E4M3", hg::kFp8E4M3Fn);
  return svg.str();
}

std::string draw_number_line() {
  course::Svg svg(920, 232, "All values of fp8 E4M3 between 0 and 2, and between 0 and 1/32");
  svg.write(20, 26, "Every value of fp8 E4M3 from 0 to 2: the spacing doubles at powers of two",
            course::Anchor::start, 16, "ink", true);
  draw_line(svg, 80, 2, 0.25, false);
  svg.write(20, 134, "The same near 0: subnormal values continue with one spacing",
            course::Anchor::start, 16, "ink", true);
  draw_line(svg, 186, 1.0 / 32, 1.0 / 256, true);
  draw_key(svg, 30, 222, "zero and subnormal", "two");
  draw_key(svg, 190, 222, "normal", "one");
  return svg.str();
}

std::string draw_spacing() {
  std::vector<course::Series> series = {{.name = "fp32"}, {.name = "bf16"}, {.name = "fp16"}};
  const hg::NumberFormat formats[] = {hg::kFp32, hg::kBf16, hg::kFp16};
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (int exponent = -30; exponent <= 16; ++exponent) {
      const int of_format = std::max(exponent, formats[i].min_exponent());
      if (exponent > formats[i].bias()) continue;
      // A step: the spacing is the same from 2^e up to 2^(e + 1).
      for (const int end : {exponent, exponent + 1}) {
        series[i].x.push_back(std::ldexp(1.0, end));
        series[i].y.push_back(std::ldexp(1.0, of_format - formats[i].fraction_bits));
      }
    }
  }
  return course::line_chart(
      {.title = "The distance to the next value grows with the value",
       .x = {.label = "value", .scale = course::Scale::log2, .low = 0x1p-30, .high = 0x1p17},
       .y = {.label = "spacing", .scale = course::Scale::log2, .low = 0x1p-60, .high = 0x1p20},
       .bands =
           {{.from = 0x1p-24, .to = 0x1p-14, .label = "fp16: subnormal", .colour = "pale_two"}},
       .limits = {{.at = 65504, .label = "fp16: inf", .vertical = true}}},
      series);
}
