#include "mixed_precision_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <halfgrad/data/synthetic.h>
#include <halfgrad/halfgrad.h>

namespace halfgrad::tests {
namespace {

// Keeps the gradient that backward() gives to `tensor`.
void keep_gradient(const Tensor& tensor, Tensor& gradient) {
  tensor.register_hook([&gradient](const Tensor& g) {
    gradient = g.clone();
    return Tensor();
  });
}

Tensor deflections(std::int64_t count) {
  const data::MembraneLoads membrane = data::membrane_loads(count, 1);
  return tensor(membrane.deflections, {count, kPoints});
}

}  // namespace

StepFacts run_step(double scale) {
  StepFacts facts;
  facts.target = 0.0003F;
  // The cast of h and w to float16 is Autocast's; here it is written out, so that each tensor has a
  // name. MixedPrecision.TheDrawnStepIsTheSnippet compares the two.
  facts.h = tensor({{0.5F, 1.5F}});
  facts.w = tensor({{0.001F, -0.0002F}}).requires_grad_();
  const Tensor target = full({1, 1}, facts.target);
  optim::Adam optimizer({facts.w}, {.lr = 1e-4});
  amp::GradScaler scaler({.init_scale = scale});
  const Tensor before = facts.w.detach().clone();

  facts.h16 = facts.h.to(kFloat16);
  facts.w16 = facts.w.to(kFloat16);
  facts.y16 = linear(facts.h16, facts.w16);
  facts.y32 = facts.y16.to(kFloat32);
  facts.loss = mse_loss(facts.y32, target, kSum) / kElements;
  facts.scaled_loss = scaler.scale(facts.loss);
  keep_gradient(facts.scaled_loss, facts.dscaled);
  keep_gradient(facts.loss, facts.dloss);
  keep_gradient(facts.y32, facts.dy32);
  keep_gradient(facts.y16, facts.dy16);
  keep_gradient(facts.w16, facts.dw16);
  facts.scaled_loss.backward();
  facts.dw32 = facts.w.grad().clone();
  scaler.unscale_(optimizer);
  facts.gradient = facts.w.grad().clone();
  scaler.step(optimizer);
  scaler.update();
  const auto& state = optimizer.state(facts.w);
  facts.m = Tensor(state.at("exp_avg"));
  facts.v = Tensor(state.at("exp_avg_sq"));
  facts.new_w = std::exchange(facts.w, before);
  return facts;
}

MembraneFacts measure_membrane() {
  MembraneFacts facts{};
  constexpr std::int64_t kSamples = 4096;
  facts.largest_deflection = deflections(kSamples).max().item();
  const Tensor target = deflections(kBatch).to(kFloat64);
  const Tensor y = zeros({kBatch, kPoints}, kFloat64).requires_grad_();
  mse_loss(y, target).backward();
  const Tensor magnitudes = y.grad().abs();
  facts.mean_gradient = magnitudes.mean().item();
  const auto* const values = magnitudes.array().data_as<double>();
  facts.gradients.assign(values, values + kElements);
  return facts;
}

double flushed_to_zero(double scale) {
  const Tensor target = deflections(kBatch);
  const Tensor y = zeros({kBatch, kPoints}, kFloat16).requires_grad_();
  amp::GradScaler scaler({.init_scale = scale});
  Tensor loss;
  {
    const amp::Autocast autocast(kCPU);
    loss = mse_loss(y, target);
  }
  scaler.scale(loss).backward();
  return (y.grad() == 0).to(kFloat64).mean().item();
}

std::vector<TraceRow> run_trace() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  std::vector<TraceRow> rows;
  const Tensor w = full({1, 1}, 4.0).requires_grad_();
  optim::SGD optimizer({w}, {.lr = 1});
  amp::GradScaler scaler({.growth_interval = 3});
  for (const double input : {0.4, 0.4, 0.4, 0.6, 0.4, 0.4, 0.4, 0.4, kNaN, 0.4}) {
    TraceRow row{};
    row.input = input;
    row.scale = scaler.get_scale();
    optimizer.zero_grad();
    const Tensor x = full({8, 1}, input);
    Tensor y;
    {
      const amp::Autocast autocast(kCPU);
      y = linear(x, w);
    }
    const Tensor loss = y.to(kFloat32).mean();
    scaler.scale(loss).backward();
    row.gradient = w.grad().item();
    row.skipped = scaler.step(optimizer).skipped();
    scaler.update();
    row.weight = w.item();
    row.tracker = scaler.get_growth_tracker();
    row.new_scale = scaler.get_scale();
    rows.push_back(row);
  }
  return rows;
}

}  // namespace halfgrad::tests
