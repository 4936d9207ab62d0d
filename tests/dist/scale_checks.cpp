#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <halfgrad/dist/grad_scaler.h>
#include <halfgrad/dist/zero_redundancy_optimizer.h>

#include "parallel_training.h"
#include "training_checks.h"

// check_scales(): mixed precision on several ranks.
namespace halfgrad::dist {
namespace {

constexpr int kScaledSteps = 20;

// The steps in which a gradient overflows in float16, and the row of the batch that does it: of the
// first rank, of the last one, and of one in between.
struct Overflow {
  int step;
  std::int64_t row;
};
constexpr Overflow kOverflows[] = {{3, 0}, {7, 11}, {8, 6}, {14, 11}};

std::vector<bool> expected_skips() {
  std::vector<bool> skips(kScaledSteps, false);
  for (const Overflow& overflow : kOverflows) skips[static_cast<std::size_t>(overflow.step)] = true;
  return skips;
}

Batch batch_of(int step) {
  const Batch batch = Batch::make();
  for (const Overflow& overflow : kOverflows) {
    if (overflow.step == step) batch.y[overflow.row].fill_(1e10);
  }
  return batch;
}

struct ScaledTraining {
  std::vector<bool> skips;
  std::vector<double> scales, parameters;
};

std::unique_ptr<optim::Optimizer> make_adamw(std::vector<optim::ParamGroup> groups) {
  return std::make_unique<optim::AdamW>(std::move(groups), optim::AdamWArguments{.lr = 0.01});
}

amp::GradScalerOptions scaler_options() { return {.init_scale = 1024, .growth_interval = 3}; }

// Calls loss_of(batch of the step) in float16, and before_step() between backward() and step().
ScaledTraining train_scaled(const std::vector<Tensor>& parameters, optim::Optimizer& optimizer,
                            amp::GradScaler& scaler, const std::function<Tensor(Batch)>& loss_of,
                            const std::function<void(int)>& before_step) {
  ScaledTraining training;
  for (int step = 0; step < kScaledSteps; ++step) {
    for (const Tensor& parameter : parameters) parameter.set_grad({});
    Tensor loss;
    {
      const amp::Autocast autocast(kCPU, {.dtype = kHalf});
      loss = loss_of(batch_of(step));
    }
    scaler.scale(loss).backward();
    before_step(step);
    training.skips.push_back(scaler.step(optimizer).skipped());
    scaler.update();
    training.scales.push_back(scaler.get_scale());
  }
  training.parameters = values_of(parameters);
  return training;
}

// The whole optimizer on each rank; on every other step the gradients are clipped.
template <class Model>
ScaledTraining train_whole(const Model& model, bool clips,
                           const std::function<Batch(Batch)>& part_of) {
  const auto optimizer = make_adamw({{.params = model.parameters()}});
  amp::GradScaler scaler(scaler_options());
  const auto loss_of = [&](const Batch& batch) {
    const Batch part = part_of(batch);
    return mse_loss(model(part.x), part.y);
  };
  return train_scaled(model.parameters(), *optimizer, scaler, loss_of, [&](int step) {
    if (!clips || step % 2 == 0) return;
    scaler.unscale_(*optimizer);
    nn::utils::clip_grad_norm_(model.parameters(), 0.05);
  });
}

ScaledTraining train_sharded(Communicator& communicator, bool is_data_parallel) {
  const nn::Sequential net = seeded_net(communicator.rank());
  std::optional<DataParallel<nn::Sequential>> model;
  if (is_data_parallel) model.emplace(net, shared(communicator));
  ZeroRedundancyOptimizer zero(net.parameters(), shared(communicator), make_adamw,
                               {.gradients_are_averaged = is_data_parallel});
  amp::GradScaler scaler(scaler_options());
  synchronize(scaler, shared(communicator));
  const auto loss_of = [&](const Batch& batch) {
    const Batch part = batch.part(communicator);
    return mse_loss(model ? (*model)(part.x) : net(part.x), part.y);
  };
  return train_scaled(net.parameters(), zero.optimizer(), scaler, loss_of,
                      [&](int /*step*/) { zero.reduce_gradients(); });
}

}  // namespace

std::vector<double> check_scales(Communicator& communicator) {
  const auto whole_batch = [](const Batch& batch) { return batch; };
  const auto part = [&](const Batch& batch) { return batch.part(communicator); };
  ScaledTraining unclipped;
  for (const bool clips : {true, false}) {
    const ScaledTraining alone = train_whole(seeded_net(0), clips, whole_batch);
    const DataParallel model(seeded_net(communicator.rank()), shared(communicator));
    const ScaledTraining got = train_whole(model, clips, part);
    EXPECT_EQ(alone.skips, expected_skips());
    EXPECT_EQ(got.skips, expected_skips());
    EXPECT_EQ(got.scales, alone.scales);
    EXPECT_EQ(alone.scales[3], 1024) << "grows to 2048, and backs off";
    expect_same_values(communicator, got.parameters);
    if (communicator.size() == 1) {
      EXPECT_EQ(got.parameters, alone.parameters);
    }
    unclipped = got;
  }
  for (const bool is_data_parallel : {false, true}) {
    const ScaledTraining got = train_sharded(communicator, is_data_parallel);
    EXPECT_EQ(got.skips, expected_skips());
    EXPECT_EQ(got.scales, unclipped.scales);
    EXPECT_EQ(got.parameters, unclipped.parameters) << is_data_parallel;
  }
  return unclipped.parameters;
}

}  // namespace halfgrad::dist
