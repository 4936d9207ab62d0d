#include "pictures.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/numbers/number_format.h>

#include "mixed_precision_facts.h"
#include "page.h"
#include "svg.h"

namespace halfgrad::tests {
namespace {

constexpr const char* kWide = "#cfe2f7";    // float32
constexpr const char* kNarrow = "#fde0b4";  // float16
constexpr const char* kRed = "#b3261e";

// 2 with a raised exponent.
std::string power(int exponent) {
  const std::string sign = exponent < 0 ? "\xE2\x88\x92" : "";
  return "2<tspan baseline-shift=\"super\" font-size=\"75%\">" + sign +
         std::to_string(std::abs(exponent)) + "</tspan>";
}

struct NamedFormat {
  const char* name;
  NumberFormat format;
  const char* fill;
};

std::string ranges() {
  Svg svg(980, 322, "Magnitudes that fp32, bf16, fp16 and two kinds of fp8 can hold");
  const auto at = [](double exponent) { return 510 + 3 * exponent; };  // 3 pixels a power of two
  constexpr int kTop = 62;
  svg.write(20, 28, "Magnitudes that each format can hold, on a scale of powers of two",
            Anchor::start, 16, "#111", true);
  for (int exponent = -140; exponent <= 120; exponent += 20) {
    svg.line(at(exponent), kTop - 10, at(exponent), kTop + 196, "#e3e3e3");
    svg.write(at(exponent), kTop + 212, power(exponent), Anchor::middle, 12, "#555");
  }
  svg.line(at(0), kTop - 10, at(0), kTop + 196, "#888");
  svg.write(at(0), kTop - 14, "1", Anchor::middle, 12, "#555");
  const std::vector<NamedFormat> formats = {{"fp32", kFp32, "#5b8dc9"},
                                            {"bf16", kBf16, "#6aa56a"},
                                            {"fp16", kFp16, "#e39a2f"},
                                            {"fp8 E5M2", kFp8E5M2, "#b07cc6"},
                                            {"fp8 E4M3", kFp8E4M3Fn, "#b07cc6"}};
  double y = kTop;
  for (const auto& [name, format, fill] : formats) {
    const double normal = at(format.min_exponent());
    const double smallest = at(std::log2(decode(1, format)));
    const double largest = at(std::log2(decode(format.max_finite(), format)));
    svg.box(smallest, y, normal - smallest, 22, "#f4f4f4", fill);
    svg.box(normal, y, largest - normal, 22, fill, fill);
    svg.write(smallest - 6, y + 16, std::string(name), Anchor::end, 13, "#111", true);
    y += 40;
  }
  svg.box(20, 310 - 10, 24, 10, "#e39a2f", "#e39a2f");
  svg.write(50, 310, "normal: full precision");
  svg.box(220, 310 - 10, 24, 10, "#f4f4f4", "#e39a2f");
  svg.write(250, 310, "subnormal: fewer and fewer bits");
  svg.write(500, 310, "left of a bar: rounds to 0", Anchor::start, 13, "#555");
  svg.write(700, 310, "right of a bar: inf, or NaN in E4M3", Anchor::start, 13, "#555");
  return svg.str();
}

// The gradients of the membrane task, counted by power of two.
std::string gradients() {
  Svg svg(980, 340, "dL/dy of the membrane task, without a scale and with 65536");
  const auto at = [](double exponent) { return 740 + 16 * exponent; };
  constexpr double kBottom = 270;
  const double flush = at(-25);
  svg.write(20, 28, "dL/dy of one membrane batch in fp16, before and after the scale",
            Anchor::start, 16, "#111", true);
  svg.box(20, 50, flush - 20, kBottom - 50, "#f9dedc");
  svg.box(flush, 50, at(-14) - flush, kBottom - 50, "#fdf3dc");
  svg.box(at(-14), 50, 960 - at(-14), kBottom - 50, "#e7f3e4");
  svg.write(30, 70, "fp16 rounds these to 0", Anchor::start, 13, kRed, true);
  svg.write(flush + 8, 70, "subnormal", Anchor::start, 13, "#8a6100", true);
  svg.write(at(-14) + 8, 70, "normal numbers of fp16", Anchor::start, 13, "#2e6b26", true);
  std::map<int, int> counts;
  for (const double g : measure_membrane().gradients) {
    if (g > 0) ++counts[std::ilogb(g)];
  }
  int most = 0;
  for (const auto& [exponent, count] : counts) most = std::max(most, count);
  for (const auto& [exponent, count] : counts) {
    const double height = std::round(160.0 * count / most);  // the same on every processor
    svg.box(at(exponent) + 1, kBottom - height, 14, height, "#c4574f");
    svg.box(at(exponent + 16) + 1, kBottom - height, 14, height, "#3f7fbf");
  }
  for (int exponent = -44; exponent <= 12; exponent += 4) {
    svg.line(at(exponent), kBottom, at(exponent), kBottom + 5);
    svg.write(at(exponent), kBottom + 22, power(exponent), Anchor::middle, 12, "#555");
  }
  svg.box(160, 318, 24, 10, "#c4574f");
  svg.write(190, 328, "scale 1: all are lost");
  svg.box(440, 318, 24, 10, "#3f7fbf");
  svg.write(470, 328, "scale " + shown(65536) + " = " + power(16) + ": all are kept");
  return svg.str();
}

// Boxes in rows and columns: each shows the name, dtype, shape and values of a tensor.
struct Boxes {
  Svg& svg;
  static constexpr double kWidth = 128;
  static constexpr double kHeight = 80;
  static constexpr double kGap = 36;

  static double left(int column) { return 18 + (kWidth + kGap) * column; }
  static double middle(int column) { return left(column) + kWidth / 2; }
  void tensor(int column, double y, const std::string& name, const Tensor& x) const {
    const bool is_half = x.dtype() == kFloat16;
    svg.box(left(column), y, kWidth, kHeight, is_half ? kNarrow : kWide, "#777", 6);
    svg.write(middle(column), y + 18, name, Anchor::middle, 14, "#111", true);
    svg.write(middle(column), y + 35, (is_half ? "fp16 " : "fp32 ") + to_string(x.sizes()),
              Anchor::middle, 12, "#444");
    double below = y + 54;
    for (const std::string& value : values(x)) {
      svg.write(middle(column), below, value, Anchor::middle, 13);
      below += 17;
    }
  }
  static std::vector<std::string> values(const Tensor& x) {
    const Tensor list = x.to(kFloat64).reshape({-1});
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < list.numel(); ++i) {
      texts.push_back(shown(std::abs(list[i].item()), 5));
      if (list[i].item() < 0) texts.back().insert(0, "-");
    }
    return texts;
  }
  void without_scale(int column, double y, const Tensor& x) const {
    std::string text = "scale 1:";
    for (const std::string& value : values(x)) text += " " + value;
    svg.write(middle(column), y, text, Anchor::middle, 11, kRed);
  }
  void right(int column, double y, const std::string& label = "") const {
    svg.arrow(left(column) + kWidth, y + 40, left(column + 1) - 1, y + 40);
    svg.write(left(column + 1) - kGap / 2, y + 33, label, Anchor::middle, 11, "#333");
  }
  void back(int column, double y, const std::string& label = "") const {
    svg.arrow(left(column), y + 40, left(column - 1) + kWidth + 1, y + 40);
    svg.write(left(column) - kGap / 2, y + 33, label, Anchor::middle, 11, "#333");
  }
};

void draw_forward(const Boxes& boxes, const StepFacts& facts) {
  boxes.svg.write(18, 24, "Forward", Anchor::start, 14, "#111", true);
  boxes.tensor(0, 34, "h", facts.h);
  boxes.tensor(1, 34, "h, cast", facts.h16);
  boxes.right(0, 34, "cast");
  boxes.tensor(0, 128, "w", facts.w);
  boxes.tensor(1, 128, "w, cast", facts.w16);
  boxes.right(0, 128, "cast");
  boxes.tensor(2, 128, "y = h w\xE1\xB5\x80", facts.y16);
  boxes.svg.arrow(Boxes::left(1) + Boxes::kWidth, 80, Boxes::left(2) + 40, 127);
  boxes.right(1, 128);
  boxes.tensor(3, 128, "y, cast", facts.y32);
  boxes.right(2, 128, "cast");
  boxes.tensor(4, 128, "loss", facts.loss);
  boxes.right(3, 128, "mse");
  boxes.tensor(5, 128, "scaled loss", facts.scaled_loss);
  boxes.right(4, 128, "scale");
}

void draw_backward(const Boxes& boxes, const StepFacts& facts, const StepFacts& plain) {
  boxes.svg.write(18, 242, "Backward: below each tensor the gradient of the scaled loss",
                  Anchor::start, 14, "#111", true);
  const std::pair<const char*, Tensor StepFacts::*> gradients[] = {
      {"for w", &StepFacts::dw32},     {"for w, cast", &StepFacts::dw16},
      {"for y", &StepFacts::dy16},     {"for y, cast", &StepFacts::dy32},
      {"for loss", &StepFacts::dloss}, {"backward()", &StepFacts::dscaled}};
  int column = 0;
  for (const auto& [name, member] : gradients) {
    boxes.tensor(column, 252, name, facts.*member);
    boxes.without_scale(column, 348, plain.*member);
    ++column;
  }
  const char* const labels[] = {"cast", "\xC2\xB7 h", "cast", "", "scale"};
  for (int to = 0; to < 5; ++to) boxes.back(to + 1, 252, labels[to]);
}

void draw_update(const Boxes& boxes, const StepFacts& facts, const StepFacts& plain) {
  boxes.svg.arrow(Boxes::left(0) + 24, 354, Boxes::left(0) + 24, 391);
  boxes.svg.write(Boxes::left(0) + 34, 376, "\xC3\xB7 scale", Anchor::start, 11, "#333");
  boxes.svg.write(Boxes::left(1), 380, "Update: found_inf is 0, so Adam runs", Anchor::start, 14,
                  "#111", true);
  boxes.tensor(0, 392, "w.grad", facts.gradient);
  boxes.tensor(1, 392, "m", facts.m);
  boxes.tensor(2, 392, "v", facts.v);
  boxes.tensor(3, 392, "new w", facts.new_w);
  for (int column = 0; column < 3; ++column) boxes.right(column, 392);
  boxes.without_scale(3, 488, plain.new_w);
}

std::string step() {
  const StepFacts plain = run_step(1);
  const StepFacts scaled = run_step(65536);
  Svg svg(984, 532, "One training step in mixed precision, with the value of every tensor");
  const Boxes boxes{svg};
  draw_forward(boxes, scaled);
  draw_backward(boxes, scaled, plain);
  draw_update(boxes, scaled, plain);
  svg.box(18, 506, 24, 12, kWide, "#777");
  svg.write(48, 517, "fp32");
  svg.box(100, 506, 24, 12, kNarrow, "#777");
  svg.write(130, 517, "fp16");
  svg.write(190, 517, "red: the same tensor without a GradScaler", Anchor::start, 13, kRed);
  return svg.str();
}

}  // namespace

std::map<std::string, std::string> pictures() {
  return {{"docs/images/number-ranges.svg", ranges()},
          {"docs/images/membrane-gradients.svg", gradients()},
          {"docs/images/training-step.svg", step()}};
}

}  // namespace halfgrad::tests
