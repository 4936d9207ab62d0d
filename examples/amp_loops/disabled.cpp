// With enabled = false, every call does what plain float32 training needs: the same code trains in
// all precisions.
#include "loops.h"
#include "regression.h"

Trace disabled(std::int64_t steps) {
  constexpr bool mixed_precision = false;
  const Regression model;
  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate});
  hg::amp::GradScaler scaler({.enabled = mixed_precision});
  Trace trace(scaler, model, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = model.batch(step);
    optimizer.zero_grad();
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(model.device.type(), {.enabled = mixed_precision});
      loss = hg::mse_loss(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    hg::nn::utils::clip_grad_norm_(model.parameters(), 0.5);
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back({loss.item(), scaler.get_scale(), outcome.skipped()});
  }
  return trace;
}
