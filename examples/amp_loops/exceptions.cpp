// An exception inside an autocast region ends the region, as it ends every scope. After a broken
// batch the scaler is between two iterations, and training continues with the next batch.
#include <stdexcept>

#include "loops.h"
#include "regression.h"

Trace exceptions(std::int64_t steps) {
  const Regression model;
  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate});
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, model, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    const hg::DeviceType device = model.device.type();
    auto [x, y] = model.batch(step);
    if (step % 5 == 3) x = x.slice(1, 1);  // a feature is missing
    optimizer.zero_grad();
    hg::Tensor loss;
    try {
      const hg::amp::Autocast autocast(device);
      loss = hg::mse_loss(model(x), y);
    } catch (const std::invalid_argument&) {
      if (hg::amp::is_autocast_enabled(device)) throw std::logic_error("still in the region");
      trace.push_back({0, scaler.get_scale(), true, 1});
      continue;
    }
    scaler.scale(loss).backward();
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back({loss.item(), scaler.get_scale(), outcome.skipped(), 0});
  }
  return trace;
}
