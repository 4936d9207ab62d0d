// Activation checkpointing: keeps only the input, and repeats the forward during backward. Backward
// runs outside the autocast region, so checkpoint() restores the region for the repeated forward;
// without that, it would compute in float32.
#include <halfgrad/core/allocator.h>

#include "loops.h"
#include "regression.h"

Trace checkpointing(std::int64_t steps) {
  const Regression model;
  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate});
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, model, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = model.batch(step);
    optimizer.zero_grad();
    const auto bytes_before = hg::allocator::stats(model.device).current;
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(model.device.type());
      loss = hg::mse_loss(hg::utils::checkpoint(model, x), y);
    }
    const auto bytes_kept = hg::allocator::stats(model.device).current - bytes_before;
    scaler.scale(loss).backward();
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back(
        {loss.item(), scaler.get_scale(), outcome.skipped(), static_cast<double>(bytes_kept)});
  }
  return trace;
}
