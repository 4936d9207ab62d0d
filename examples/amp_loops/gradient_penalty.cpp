// Gradient penalty: the loss contains the norm of its own gradient. autograd::grad() computes this
// gradient from the scaled loss, since it would underflow otherwise. It belongs to no optimizer, so
// the loop multiplies it by 1 / scale itself. backward() then differentiates through the first
// backward pass (create_graph).
#include "loops.h"
#include "regression.h"

Trace gradient_penalty(std::int64_t steps) {
  const Regression model;
  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate});
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, model, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = model.batch(step);
    optimizer.zero_grad();
    const hg::DeviceType device = model.device.type();
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(device);
      loss = hg::mse_loss(model(x), y);
    }
    const auto scaled =
        hg::autograd::grad({scaler.scale(loss)}, model.parameters(), {}, {.create_graph = true});
    const double inv_scale = 1 / scaler.get_scale();
    std::vector<hg::Tensor> gradients;
    for (const hg::Tensor& gradient : scaled) gradients.push_back(gradient * inv_scale);
    hg::Tensor penalty;
    {
      const hg::amp::Autocast autocast(device);
      hg::Tensor squares = hg::zeros({}, {.device = model.device});
      for (const hg::Tensor& gradient : gradients) squares = squares + hg::sum(gradient.pow(2));
      penalty = hg::sqrt(squares) / 8;
      loss = loss + penalty;
    }
    scaler.scale(loss).backward();
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back({loss.item(), scaler.get_scale(), outcome.skipped(), penalty.item()});
  }
  return trace;
}
