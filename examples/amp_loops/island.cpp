// A layer that needs float32 runs in an inner region with autocast switched off. Its input comes
// from the outer region in float16 and has to be cast; its float32 output needs no cast.
#include "loops.h"
#include "regression.h"

Trace island(std::int64_t steps) {
  const Regression model;
  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate});
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, model, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = model.batch(step);
    const hg::DeviceType device = model.device.type();
    optimizer.zero_grad();
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(device);
      const hg::Tensor hidden = hg::tanh(model.hidden(x));
      hg::Tensor output;
      {
        const hg::amp::Autocast off(device, {.enabled = false});
        output = model.output(hidden.to(hg::kFloat32));
      }
      loss = hg::mse_loss(output, y);
    }
    scaler.scale(loss).backward();
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back({loss.item(), scaler.get_scale(), outcome.skipped()});
  }
  return trace;
}
