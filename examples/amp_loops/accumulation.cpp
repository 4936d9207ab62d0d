// Gradient accumulation: sums the gradients of several small batches for one step. The scale must
// not change within this window, so unscale_() and update() are called once, after it.
#include "loops.h"
#include "regression.h"

Trace accumulation(std::int64_t steps) {
  constexpr std::int64_t window = 4;
  const Regression model;
  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate});
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, model, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    double total = 0;
    for (std::int64_t i = 0; i < window; ++i) {
      const auto [x, y] = model.batch(step * window + i);
      hg::Tensor loss;
      {
        const hg::amp::Autocast autocast(model.device.type());
        loss = hg::mse_loss(model(x), y) / window;
      }
      scaler.scale(loss).backward();
      total += loss.item();
    }
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back({total, scaler.get_scale(), outcome.skipped()});
  }
  return trace;
}
