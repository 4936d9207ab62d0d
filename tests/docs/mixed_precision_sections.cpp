#include "mixed_precision_sections.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/op_table/op_table.h>
#include <halfgrad/core/numbers/number_format.h>
#include <halfgrad/halfgrad.h>

#include "mixed_precision_facts.h"

namespace halfgrad::tests {
namespace {

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

}  // namespace

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

void expect_tensor_cores(Page& page) {
  constexpr int kTerms = 4096;
  double narrow = 0;
  for (int i = 0; i < kTerms; ++i) narrow = rounded_to(kFp16, narrow + 1);
  const Tensor ones_row = ones({1, kTerms}, kFloat16);
  page.expect("Add " + shown(kTerms) + " ones: an fp32 accumulator gives " +
              shown(mm(ones_row, ones_row.t()).item()) + ", an fp16 accumulator stops at " +
              shown(narrow) + ", because " + shown(narrow) + " + 1 rounds to " + shown(narrow) +
              ".");
  page.expect("are the reason for rule 2.");
}

void expect_masters(Page& page) {
  const double below = 1 - decode(encode(1, kFp16) - 1, kFp16);
  page.expect("The fp16 neighbour below 1 is " + shown(below, 3) +
              " away, and an update of 0.0001 is less than half of that");
  EXPECT_LT(0.0001, below / 2);
  page.expect("in at most 25 files");  // tour_test.cpp
}

}  // namespace halfgrad::tests
