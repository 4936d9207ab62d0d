// An autocast region belongs to one thread. A new thread starts outside every region, even if its
// parent is inside one, and opens its own. Two workers run the forward of half a batch each; the
// parent runs backward.
#include <array>
#include <thread>

#include "loops.h"
#include "regression.h"

Trace worker_threads(std::int64_t steps) {
  const Regression model;
  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate});
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, model, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = model.batch(step);
    optimizer.zero_grad();
    std::array<hg::Tensor, 2> losses;
    const auto forward = [&, &x = x, &y = y](std::int64_t half) {
      constexpr std::int64_t rows = Regression::kBatch / 2;
      const hg::amp::Autocast autocast(model.device.type());
      const auto part = [&](const hg::Tensor& all) {
        return all.slice(0, half * rows, (half + 1) * rows);
      };
      losses[static_cast<std::size_t>(half)] = hg::mse_loss(model(part(x)), part(y));
    };
    std::thread first(forward, 0), second(forward, 1);
    first.join();
    second.join();
    const hg::Tensor loss = (losses[0] + losses[1]) / 2;
    scaler.scale(loss).backward();
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back({loss.item(), scaler.get_scale(), outcome.skipped()});
  }
  return trace;
}
