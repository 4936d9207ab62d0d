// Two losses of very different magnitude: at one scale, the larger one overflows while the smaller
// one still underflows. With a scaler of its own, each loss finds its scale. A gradient must not
// mix two scales, so each scaler has its own optimizer with its own parameters.
#include "loops.h"
#include "regression.h"

Trace scaler_per_loss(std::int64_t steps) {
  const Regression a, b;
  hg::optim::SGD optimizer_a(a.parameters(), {.lr = kLearningRate});
  hg::optim::SGD optimizer_b(b.parameters(), {.lr = kLearningRate / 1024});
  hg::amp::GradScaler scaler_a(kScaler), scaler_b(kScaler);
  Trace trace(scaler_a, a, {&optimizer_a});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = a.batch(step);
    optimizer_a.zero_grad();
    optimizer_b.zero_grad();
    hg::Tensor loss_a, loss_b;
    {
      const hg::amp::Autocast autocast(a.device.type());
      loss_a = hg::mse_loss(a(x), y);
      loss_b = hg::mse_loss(b(x), y) * 1024;
    }
    scaler_a.scale(loss_a).backward();
    scaler_b.scale(loss_b).backward();
    const auto outcome = scaler_a.step(optimizer_a);
    scaler_b.step(optimizer_b);
    scaler_a.update();
    scaler_b.update();
    trace.push_back({loss_a.item() + loss_b.item(), scaler_a.get_scale(), outcome.skipped(),
                     scaler_b.get_scale()});
  }
  return trace;
}
