// Two networks, two losses that use both, two optimizers and one scaler: scale every loss, step
// every optimizer, update once. An overflow skips only the optimizer whose gradients overflowed,
// and the scale backs off once. unscale_() is needed only for an optimizer whose gradients are
// inspected.
#include "loops.h"
#include "regression.h"

Trace several_losses(std::int64_t steps) {
  const Regression a, b;
  hg::optim::SGD first(a.parameters(), {.lr = kLearningRate / 32});
  hg::optim::SGD second(b.parameters(), {.lr = kLearningRate / 32});
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, hg::nn::Sequential(a, b), {&first, &second});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = a.batch(step);
    first.zero_grad();
    second.zero_grad();
    hg::Tensor loss_a, loss_b;
    {
      const hg::amp::Autocast autocast(a.device.type());
      const hg::Tensor out_a = a(x), out_b = b(x / 64);
      loss_a = hg::mse_loss(out_a * 2 + out_b * 3, y);
      loss_b = hg::mse_loss(out_a * 3 - out_b * 0.125, y);
    }
    scaler.scale(loss_a).backward({}, /*retain_graph=*/true);
    scaler.scale(loss_b).backward();
    scaler.unscale_(first);
    const auto outcome = scaler.step(first);
    const auto second_outcome = scaler.step(second);
    scaler.update();
    trace.push_back({loss_a.item() + loss_b.item(), scaler.get_scale(), outcome.skipped(),
                     second_outcome.skipped() ? 1.0 : 0.0});
  }
  return trace;
}
