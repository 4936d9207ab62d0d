#include "flow.h"

#include <algorithm>
#include <cstddef>

#include <halfgrad/autograd/precision.h>

#include "svg.h"

namespace amp = halfgrad::amp;
using course::Anchor;
using course::Svg;

namespace {

/// "x", or the parameter's own name without the module: "weight".
std::string short_name(const amp::OperandRecord& operand) {
  const std::size_t dot = operand.parameter.rfind('.');
  if (operand.parameter.empty()) return "x";
  return dot == std::string::npos ? operand.parameter : operand.parameter.substr(dot + 1);
}

std::string name_of(halfgrad::DType dtype) {
  return dtype == halfgrad::kHalf ? "float16" : "float32";
}

void legend(Svg& svg, double y) {
  svg.box(20, y, 14, 14, "pale_one", "one", 3);
  svg.write(40, y + 12, "ran in float16", Anchor::start, 12);
  svg.box(150, y, 14, 14, "pale_two", "two", 3);
  svg.write(170, y + 12, "ran in float32", Anchor::start, 12);
}

}  // namespace

std::string draw_flow(const std::vector<amp::OpRecord>& records) {
  constexpr double kLeft = 40, kTop = 64, kWidth = 118, kHeight = 76, kGap = 26;
  const auto count = static_cast<double>(records.size());
  Svg svg(2 * kLeft + count * kWidth + (count - 1) * kGap, 282,
          "The ops of a forward pass under autocast");
  svg.write(20, 30, "Each op, its class, its dtype, and the casts made for it", Anchor::start, 16,
            "ink", true);
  double x = kLeft;
  for (const amp::OpRecord& record : records) {
    const bool is_half = record.run_dtype() == halfgrad::kHalf;
    svg.box(x, kTop, kWidth, kHeight, is_half ? "pale_one" : "pale_two", is_half ? "one" : "two",
            8);
    const double middle = x + kWidth / 2;
    svg.write(middle, kTop + 24, record.op, Anchor::middle, 14, "ink", true);
    svg.write(middle, kTop + 44, std::string(halfgrad::name(record.precision)), Anchor::middle, 12);
    svg.write(middle, kTop + 64, name_of(record.run_dtype()), Anchor::middle, 12);
    double y = kTop + kHeight + 20;
    for (const amp::OperandRecord& operand : record.operands) {
      if (operand.cast == amp::OperandCast::none) continue;
      svg.write(middle, y, short_name(operand) + ": " + name_of(operand.given), Anchor::middle, 11);
      svg.write(middle, y + 13, "to " + name_of(operand.read), Anchor::middle, 11);
      y += 30;
    }
    if (&record != &records.back()) {
      svg.arrow(x + kWidth, kTop + kHeight / 2, x + kWidth + kGap, kTop + kHeight / 2);
    }
    x += kWidth + kGap;
  }
  legend(svg, 256);
  return svg.str();
}
