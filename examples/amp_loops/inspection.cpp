// unscale_() without step(): inspects the true gradients and drops the batch if they are too large.
// The iteration still counts: update() uses the found_inf of unscale_().
#include "loops.h"
#include "regression.h"

Trace inspection(std::int64_t steps) {
  constexpr double too_large = 5.6;
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
    std::vector<hg::Tensor> gradients;
    for (const hg::Tensor& parameter : model.parameters()) gradients.push_back(parameter.grad());
    const double norm = hg::nn::utils::get_total_norm(gradients).item();
    const bool keep = norm < too_large;  // false for NaN, too
    if (keep) scaler.step(optimizer);
    scaler.update();
    trace.push_back({loss.item(), scaler.get_scale(), !keep, norm});
  }
  return trace;
}
