#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <halfgrad/dist/grad_scaler.h>
#include <halfgrad/dist/zero_redundancy_optimizer.h>

#include "parallel_training.h"

/// Training in mixed precision with ZeroRedundancyOptimizer, with and without DataParallel.
namespace halfgrad::dist {
namespace {

constexpr int kTrainingSteps = 12;

std::unique_ptr<optim::Optimizer> make_adamw(std::vector<optim::ParamGroup> groups) {
  return std::make_unique<optim::AdamW>(std::move(groups), optim::AdamWOptions{.lr = 0.05});
}

// A scale at which the first steps overflow in float16.
amp::GradScalerOptions scaler_options() { return {.init_scale = 0x1p20, .growth_interval = 2}; }

Tensor loss_of(const Batch& part, const std::function<Tensor(const Tensor&)>& model) {
  const amp::Autocast autocast(kCPU, {.dtype = kHalf});
  return mse_loss(model(part.x), part.y);
}

std::vector<double> train_whole(Communicator& communicator, const nn::Sequential& net) {
  const DataParallel model(net, shared(communicator));
  const auto optimizer = make_adamw({{.params = net.parameters()}});
  amp::GradScaler scaler(scaler_options());
  const Batch part = Batch::make().part(communicator);
  for (int step = 0; step < kTrainingSteps; ++step) {
    optimizer->zero_grad();
    scaler.scale(loss_of(part, [&](const Tensor& x) { return model(x); })).backward();
    scaler.step(*optimizer);
    scaler.update();
  }
  EXPECT_GT(scaler.counts().skipped_steps, 0);
  EXPECT_GT(scaler.counts().steps, 2);
  return values_of(net.parameters());
}

std::vector<double> train_sharded(Communicator& communicator, const nn::Sequential& net,
                                  bool is_data_parallel) {
  std::optional<DataParallel<nn::Sequential>> model;
  if (is_data_parallel) model.emplace(net, shared(communicator));
  ZeroRedundancyOptimizer zero(net.parameters(), shared(communicator), make_adamw,
                               {.gradients_are_averaged = is_data_parallel});
  amp::GradScaler scaler(scaler_options());
  synchronize(scaler, shared(communicator));
  const Batch part = Batch::make().part(communicator);
  for (int step = 0; step < kTrainingSteps; ++step) {
    const auto forward = [&](const Tensor& x) { return model ? (*model)(x) : net(x); };
    scaler.scale(loss_of(part, forward)).backward();
    zero.reduce_gradients();
    scaler.step(zero.optimizer());
    scaler.update();
  }
  return values_of(net.parameters());
}

class ZeroTraining : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ZeroTraining, ::testing::Values(1, 2, 3, 4));

TEST_P(ZeroTraining, HasTheBitsOfDataParallelWithAWholeOptimizer) {
  const auto net = [] { return make_net(); };
  const auto expected = on_models(GetParam(), net, train_whole);
  for (const bool is_data_parallel : {false, true}) {
    const auto weights =
        on_models(GetParam(), net, [&](Communicator& communicator, const nn::Sequential& model) {
          return train_sharded(communicator, model, is_data_parallel);
        });
    EXPECT_EQ(weights, expected) << is_data_parallel;
  }
}

}  // namespace
}  // namespace halfgrad::dist
