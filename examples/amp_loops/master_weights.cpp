// Weights, activations and gradients in float16, without autocast. The optimizer keeps float32
// master weights, unscales in float32, updates the masters and rounds them to the float16 weights.
#include "loops.h"
#include "regression.h"

Trace master_weights(std::int64_t steps) {
  Regression model;
  model.to(hg::kHalf);
  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate});
  const hg::amp::MasterWeights masters(optimizer);
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, model, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = model.batch(step);
    optimizer.zero_grad();
    const hg::Tensor loss = hg::mse_loss(model(x.to(hg::kHalf)).to(hg::kFloat32), y);
    scaler.scale(loss).backward();
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back({loss.item(), scaler.get_scale(), outcome.skipped()});
  }
  return trace;
}
