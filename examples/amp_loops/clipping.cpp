// Gradient clipping applies to the true gradients, so it follows unscale_(). step() does not
// unscale again, and uses the found_inf of unscale_(): clipping cannot hide an overflow.
#include <functional>

#include "loops.h"
#include "regression.h"

namespace {

using Parameters = std::vector<hg::Tensor>;

Trace train(std::int64_t steps, const std::function<hg::Tensor(const Parameters&)>& clip) {
  const Regression model;
  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate});
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, model, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = model.batch(step);
    optimizer.zero_grad();
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(model.device.type());
      loss = hg::mse_loss(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    const hg::Tensor seen = clip(model.parameters());
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back({loss.item(), scaler.get_scale(), outcome.skipped(), seen.item()});
  }
  return trace;
}

}  // namespace

Trace clip_norm(std::int64_t steps) {
  return train(steps, [](const Parameters& parameters) {
    return hg::nn::utils::clip_grad_norm_(parameters, 0.5);
  });
}

Trace clip_value(std::int64_t steps) {
  return train(steps, [](const Parameters& parameters) {
    std::vector<hg::Tensor> gradients;
    for (const hg::Tensor& parameter : parameters) gradients.push_back(parameter.grad());
    const hg::Tensor largest =
        hg::nn::utils::get_total_norm(gradients, std::numeric_limits<double>::infinity());
    hg::nn::utils::clip_grad_value_(parameters, 0.25);
    return largest;
  });
}
