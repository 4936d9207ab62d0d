// Every number of docs/mixed-precision.md is computed here and compared with the page.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/op_table.h>
#include <halfgrad/core/number_format.h>
#include <halfgrad/halfgrad.h>

#include "mixed_precision_facts.h"
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
  const optim::AdamOptions options;
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

// The share of the membrane's gradients, in float32, that scaling and unscaling change.
double changed_by_scaling(float scale) {
  int changed = 0;
  for (const double exact : measure_membrane().gradients) {
    const auto g = static_cast<float>(exact);
    const float scaled = g * scale;
    if (scaled * static_cast<float>(1 / static_cast<double>(scale)) != g) ++changed;
  }
  return static_cast<double>(changed) / kElements;
}

int steps_until(double from, double to, bool found_inf) {
  const amp::GradScalerOptions options;
  amp::LossScale state = amp::initial_scale({.init_scale = from});
  int steps = 0;
  for (; state.scale != to; ++steps) state = amp::next(state, found_inf, options).state;
  return steps;
}

void expect_reasons_of_the_scale(Page& page) {
  const double scale = amp::GradScalerOptions().init_scale;
  page.expect("## Why " + as_power(scale));
  EXPECT_EQ(changed_by_scaling(static_cast<float>(scale)), 0);
  EXPECT_GT(changed_by_scaling(1000), 0.5);
  page.expect("With " + as_power(scale) + ", every one of the " + grouped(kElements) +
              " gradients above comes back bit for bit in fp32. With 1000, more than half of them");
  const double smallest = decode(1, kFp16);
  const double largest = decode(kFp16.max_finite(), kFp16);
  page.expect("the smallest gradient that fp16 can tell from 0 is " + as_power(smallest / scale) +
              " instead of " + as_power(smallest));
  page.expect("The largest is " + shown(largest / scale) + " instead of " + shown(largest));
  // The largest gradient: all probability on a wrong class.
  const Tensor logits = (eye(10).index_select(0, zeros({kBatch}, kLong)) * 1000).requires_grad_();
  cross_entropy(logits, ones({kBatch}, kLong)).backward();
  EXPECT_EQ(logits.grad().abs().max().item(), 1.0 / kBatch);
  page.expect("seldom come near 1: for `cross_entropy` on a batch of " + shown(kBatch) +
              ", `|dL/dlogit|` is at most 1/" + shown(kBatch) + ". Scaled it is at most " +
              shown(scale / kBatch) + ", " + shown(largest / (scale / kBatch)) + " times below");
  page.expect("from " + as_power(scale) + " to 2^10 in " + shown(steps_until(scale, 1024, true)) +
              " skipped steps.");
  page.expect("doubles once in " + shown(amp::GradScalerOptions().growth_interval) +
              " good steps: from 2^10 to " + as_power(scale) + " in " +
              grouped(steps_until(1024, scale, false)) + " steps.");
}

void expect_scaler(Page& page) {
  const amp::GradScalerOptions options;
  page.expect("`found_inf` (1 if a gradient is inf or NaN)");
  page.expect("scale × " + shown(options.backoff_factor) + "<br>tracker = 0");
  page.expect("tracker + 1");
  page.expect("tracker = " + shown(options.growth_interval) + "?");
  page.expect("scale × " + shown(options.growth_factor) + "<br>tracker = 0");
  page.expect("starts at 4, the learning rate is 1, and");
  page.expect("`growth_interval` is 3 here");
  const std::vector<TraceRow> trace = run_trace();
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TraceRow& row = trace[i];
    page.expect("| " + std::to_string(i + 1) + " | " + shown(row.input) + " | " + shown(row.scale) +
                " | " + shown(row.gradient) + " | " + (row.skipped ? "1" : "0") + " | " +
                shown(row.weight, 5) + " | " + std::to_string(row.tracker) + " | " +
                shown(row.new_scale) + " |");
  }
  page.expect("Step 3 is the third good step in a row: the scale doubles.");
  EXPECT_EQ(trace[2].new_scale, 2 * trace[2].scale);
  const TraceRow& bad = trace[3];
  EXPECT_TRUE(bad.skipped);
  page.expect("Step 4 needs " + shown(bad.input) + " * " + shown(bad.scale) + " = " +
              shown(std::round(bad.input * bad.scale)) + ", above " +
              shown(decode(kFp16.max_finite(), kFp16)) + ": inf.");
  EXPECT_TRUE(trace[8].skipped && std::isnan(trace[8].input));
  page.expect("Step 9 has a broken sample.");
  page.expect("Step 4 of the trace moved no weight");
  EXPECT_EQ(bad.weight, trace[2].weight);
  page.expect("found_inf = 1");
  page.expect("to `1 / scale` and to `found_inf`");
}

void expect_class(Page& page, const std::string& name, Precision precision,
                  const std::vector<std::string>& ops, const std::string& row_end) {
  std::string examples;
  for (const std::string& op : ops) {
    const auto is_op = [&](const OpEntry& entry) { return entry.name == op; };
    const auto found = std::find_if(all_ops().begin(), all_ops().end(), is_op);
    ASSERT_NE(found, all_ops().end()) << op;
    EXPECT_EQ(found->precision, precision) << op;
    examples += (examples.empty() ? "`" : ", `") + op + "`";
  }
  page.expect("| `" + name + "` | " + examples + " |");
  page.expect(row_end);
}

// `compute` on float16 operands of these values, without and with Autocast: "inf | 162754.8 |".
template <class F, class... Values>
std::string both(const F& compute, Values... values) {
  const auto run = [&] { return shown(compute(full({1, 1}, values, kFloat16)...).item(), 7); };
  const std::string plain = run();
  const amp::Autocast autocast(kCPU);
  return plain + " | " + run() + " |";
}

void expect_autocast(Page& page) {
  expect_class(page, "tensor_core", Precision::tensor_core, {"linear", "matmul", "bmm"},
               "300 * 300 = " + both([](Tensor a, Tensor b) { return mm(a, b); }, 300.0, 300.0));
  expect_class(page, "wide_range", Precision::wide_range, {"exp", "pow", "layer_norm"},
               "exp(12) = " + both([](Tensor a) { return exp(a); }, 12.0));
  expect_class(page, "wide_accumulate", Precision::wide_accumulate, {"sum", "softmax", "cumsum"},
               "100 added 1024 times = " + both(
                                               [](Tensor a) {
                                                 return a.expand({1024, 1}).sum();
                                               },
                                               100.0));
  const Tensor one = ones({1, 1}, kFloat16);
  const Tensor wide = full({1, 1}, 70000.0);
  const double narrowed = addcmul(wide.to(kFloat16), one, one).item();
  const auto in_region = [&] {
    const amp::Autocast autocast(kCPU);
    return addcmul(wide, one, one).item();
  };
  expect_class(page, "widest_operand", Precision::widest_operand, {"addcmul", "dot", "scatter_add"},
               "70000 + 1 * 1 = " + shown(narrowed) + " | " + shown(in_region()) + " |");
  const double gradient = 1 / 1e-5;
  expect_class(page, "unsafe", Precision::unsafe, {"binary_cross_entropy"},
               "1/p for p = 1e-5 = " + shown(rounded_to(kFp16, gradient)) + " | an error |");
  page.expect("its gradient 1/p overflows");
  page.expect("where the result is above " + shown(decode(kFp16.max_finite(), kFp16)) + ".");
  EXPECT_THROW(both([](Tensor a) { return binary_cross_entropy(a, a); }, 0.5), std::runtime_error);
  expect_class(page, "any", Precision::any, {"add", "relu", "where"},
               "40000 + 40000 = " + both([](Tensor a, Tensor b) { return a + b; }, 4e4, 4e4));
}

void expect_masters(Page& page) {
  const double below = 1 - decode(encode(1, kFp16) - 1, kFp16);
  page.expect("The fp16 neighbour below 1 is " + shown(below, 3) +
              " away, and an update of 0.0001 is less than half of that");
  EXPECT_LT(0.0001, below / 2);
  page.expect("in at most 25 files");  // tour_test.cpp
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
