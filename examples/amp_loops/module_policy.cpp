// Precision by module: the hidden layer computes and returns float16, the output layer computes in
// float32. There is no autocast region, so nothing else is cast.
#include "loops.h"
#include "regression.h"

Trace module_policy(std::int64_t steps) {
  const Regression layers;
  const auto hidden =
      hg::amp::with_policy(layers.hidden, {.compute = hg::kHalf, .output = hg::kHalf});
  const auto output = hg::amp::with_policy(layers.output, {.compute = hg::kFloat32});
  const hg::nn::Sequential model(hidden, hg::nn::Tanh(), output);

  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate});
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, layers, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = layers.batch(step);
    optimizer.zero_grad();
    const hg::Tensor loss = hg::mse_loss(model(x), y);
    scaler.scale(loss).backward();
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back({loss.item(), scaler.get_scale(), outcome.skipped()});
  }
  return trace;
}
