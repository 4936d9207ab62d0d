// Every number of docs/mixed-precision.md is computed, here and in mixed_precision_sections.cpp,
// and compared with the page.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/numbers/number_format.h>
#include <halfgrad/halfgrad.h>

#include "mixed_precision_facts.h"
#include "mixed_precision_sections.h"
#include "mixed_precision_snippets.h"
#include "page.h"
#include "pictures.h"

namespace halfgrad::tests {
namespace {

std::string element(const Tensor& x, std::int64_t i, int digits = 5) {
  return shown(x.to(kFloat64).reshape({-1})[i].item(), digits);
}

void expect_format_row(Page& page, const std::string& name, const NumberFormat& format) {
  const double from_one_to_two = std::ldexp(1.0, format.fraction_bits);
  page.expect("| " + name + " | " + shown(format.bits()) + " | " + shown(format.exponent_bits) +
              " + " + shown(format.fraction_bits) + " | " + shown(decode(1, format), 3) + " | " +
              shown(std::ldexp(1.0, format.min_exponent()), 3) + " | " +
              shown(decode(format.max_finite(), format), 3) + " | " +
              grouped(std::llround(from_one_to_two)) + " |");
}

void expect_formats(Page& page) {
  expect_format_row(page, "fp32", kFp32);
  expect_format_row(page, "bf16", kBf16);
  expect_format_row(page, "fp16", kFp16);
  expect_format_row(page, "fp8 E5M2", kFp8E5M2);
  expect_format_row(page, "fp8 E4M3", kFp8E4M3Fn);
  EXPECT_EQ(kFp32.bits(), 2 * kFp16.bits());
  page.expect("A 16-bit number takes half the memory of a 32-bit number");
  page.expect("uses 16 bits where they are enough, and 32 bits everywhere else");
  page.expect("| values in [1, 2) |");
  page.expect("how many values there are from 1 to 2.");
  page.expect("smallest > 0");
  page.expect("too small and becomes 0.");
  page.expect("`± significand * 2^exponent`");
  page.expect("Three things go wrong in 16 bits:");
  page.expect("so that small gradients do not become 0");
  // A gradient of 1.003: between 1 and the next number of bfloat16.
  EXPECT_EQ(rounded_to(kBf16, 1 + 0.003), 1);
  EXPECT_NE(rounded_to(kFp16, 1 + 0.003), 1);
  page.expect("1 + 0.003 is still 1 in bf16");
  page.expect("as good in 16 bits as its operands");
}

void expect_snippets(Page& page) {
  std::ostringstream out;
  print_formats(out);
  page.expect("```text\n" + out.str() + "```");
  out.str("");
  print_autocast(out);
  page.expect("```text\n" + out.str() + "```");
  out.str("");
  print_masters(out);
  page.expect("```text\n" + out.str() + "```");
  page.expect_code("tests/docs/mixed_precision_snippets.cpp");
  page.expect("`halfgrad-number 0.1`");
}

void expect_step(Page& page) {
  const StepFacts facts = run_step(65536);
  const StepFacts plain = run_step(1);
  const auto list = [](const Tensor& x) {
    return "[" + element(x, 0) + ", " + element(x, 1) + "]";
  };
  page.expect("`h = " + list(facts.h) + "`, `w = " + list(facts.w) + "` and the target " +
              shown(facts.target));
  page.expect("one output of " + shown(kPoints) + ", in a batch of " + shown(kBatch));
  page.expect(element(facts.w, 0) + " becomes " + element(facts.w16, 0) + ".");
  page.expect("`" + element(facts.h16, 0) + " * " + element(facts.w16, 0) + " - " +
              element(facts.h16, 1) + " * " + element(-facts.w16, 1) +
              "` gives `y = " + element(facts.y16, 0) + "`");
  page.expect("`(" + element(facts.y32, 0, 7) + " - " + shown(facts.target) + ")^2 / " +
              grouped(kElements) + " = " + element(facts.loss, 0) + "`");
  EXPECT_LT(facts.loss.item(), std::ldexp(1.0, -25)) << "fp16 could hold the loss";
  page.expect("The loss times " + element(facts.dloss, 0) + ". It is 0-dimensional");
  EXPECT_EQ(facts.dscaled.item(), 1);
  page.expect(
      "It starts with 1 and multiplies by the scale first. Every later gradient is therefore " +
      element(facts.dloss, 0) + " times");
  page.expect("The gradient for `y` is `" + element(facts.dy16, 0) + "`, which fp16 holds.");
  page.expect("the gradient for `y` is `" + element(plain.dy32, 0) +
              "`. The cast to fp16 makes it " + element(plain.dy16.abs(), 0));
  EXPECT_TRUE(equal(plain.w, plain.new_w));
  page.expect("`w.grad` is divided by " + element(facts.dloss, 0) + ", in fp32, where `" +
              element(facts.gradient, 0) + "` is");
  const double g = facts.gradient[0][0].item();
  page.expect("`m = " + shown(facts.m[0][0].item() / g) +
              " g` and `v = " + shown(facts.v[0][0].item() / (g * g), 3) + " g^2`");
  const double moved = facts.new_w[0][0].item() - facts.w[0][0].item();
  const optim::AdamArguments options;
  EXPECT_NEAR(moved / (1e-4 * -g / (-g + options.eps)), 1, 1e-4);
  page.expect("The step is `lr g / (|g| + eps)`: " + shown(1e-4 * -g / (-g + options.eps), 5) +
              " for");
  EXPECT_LT(facts.gradient.abs().max().item(), options.eps);
  page.expect("smaller than `eps = " + shown(options.eps) +
              "`, so the step is shorter than `lr = " + shown(1e-4) + "`");
}

void expect_underflow(Page& page) {
  const MembraneFacts facts = measure_membrane();
  const double smallest = decode(1, kFp16);
  EXPECT_EQ(rounded_to(kFp16, smallest / 2), 0);
  EXPECT_GT(rounded_to(kFp16, std::nextafter(smallest / 2, 1)), 0);
  page.expect("The smallest fp16 number above 0 is `" + as_power(smallest) +
              "`. Magnitudes up to half of it, `" + as_power(smallest / 2) + "`, round to 0.");
  page.expect("sags at " + shown(kPoints) + " points");
  page.expect("they are small: " + shown(1000 * facts.largest_deflection, 2) + " mm at most");
  page.expect("begins by answering `y = 0`");
  page.expect("a batch of B = " + shown(kBatch) + " samples of P = " + shown(kPoints) + " points");
  page.expect("L = sum of (y - t)^2 / (B P) dL/dy = 2 (y - t) / (B P) B P = " + grouped(kElements));
  page.expect("Set `|dL/dy| <= " + as_power(smallest / 2) + "`");
  const double lost_below = static_cast<double>(kElements) * smallest / 4;
  page.expect("|y - t| <= B P " + as_power(smallest / 4) + " = " + shown(lost_below, 2) +
              " m = " + shown(1000 * lost_below, 2) + " mm");
  EXPECT_LT(facts.largest_deflection, lost_below);
  page.expect("the largest answer is " + shown(1000 * facts.largest_deflection, 2) +
              " mm. So **all** gradients are 0");
  page.expect("The mean of `|dL/dy|` is " + shown(facts.mean_gradient, 3) + ". Times 65536 it is " +
              shown(65536 * facts.mean_gradient, 3) + ", above the smallest normal fp16 number, " +
              shown(std::ldexp(1.0, kFp16.min_exponent()), 3) + ".");
  EXPECT_GT(65536 * facts.mean_gradient, std::ldexp(1.0, kFp16.min_exponent()));
  std::string scales = "| scale | 1 |";
  std::string lost = "| dL/dy that is 0 in fp16 | " + shown(100 * flushed_to_zero(1), 3) + " % |";
  for (const double scale : {16., 256., 4096., 65536.}) {
    scales += " " + as_power(scale) + " |";
    const double percent = std::round(1000 * flushed_to_zero(scale)) / 10;
    lost += " " + shown(percent) + " % |";
  }
  page.expect(scales);
  page.expect(lost);
}

TEST(MixedPrecision, EveryNumberOfThePageIsComputed) {
  Page page("docs/mixed-precision.md");
  expect_formats(page);
  expect_snippets(page);
  expect_step(page);
  expect_underflow(page);
  expect_reasons_of_the_scale(page);
  expect_scaler(page);
  expect_autocast(page);
  expect_tensor_cores(page);
  expect_masters(page);
  for (const std::string& number : page.unchecked_numbers()) {
    ADD_FAILURE() << "docs/mixed-precision.md: expected a test of every number, got none of "
                  << number;
  }
}

TEST(MixedPrecision, TheDrawnStepIsTheSnippet) {
  const StepFacts facts = run_step(65536);
  const std::vector<float> snippet = run_training_step();
  EXPECT_EQ(facts.new_w[0][0].item<float>(), snippet[0]);
  EXPECT_EQ(facts.new_w[0][1].item<float>(), snippet[1]);
}

TEST(MixedPrecision, PicturesShowComputedFigures) {
  for (const auto& [path, svg] : pictures()) {
    EXPECT_EQ(text_of(path), svg) << path << ": write it again by the target docs_pictures";
  }
}

}  // namespace
}  // namespace halfgrad::tests
