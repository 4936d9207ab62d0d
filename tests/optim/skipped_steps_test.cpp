#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/optim/lr_scheduler.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/optim/parameters.h>

/// Schedules count executed updates.
namespace halfgrad::optim {
namespace {

using testing::parameter;
using testing::tensor_of;

struct Halving {
  explicit Halving(Device on) : device(on) {}

  Device device;
  Tensor param = tensor_of({1}).to(device).requires_grad_();
  SGD sgd{{param}, {.lr = 1}};
  ExponentialLR scheduler{sgd, {.gamma = 0.5}};

  void step(double found_inf) {
    param.set_grad(tensor_of({1}).to(device));
    const Array flag = Array::full({}, found_inf, kFloat, device);
    sgd.step(StepControl{nullptr, &flag});
  }
  double lr() const { return *sgd.param_groups()[0].lr; }
};

using SkippedSteps = OnDevice;
HALFGRAD_ON_DEVICES(SkippedSteps);

TEST_P(SkippedSteps, DoNotAdvanceTheSchedule) {
  Halving training(device());
  const struct {
    std::vector<double> found_infs;  // steps before a call of scheduler.step()
    double lr;
  } epochs[] = {{{0}, 0.5},      {{1}, 0.5},       {{0}, 0.25},   {{1, 1}, 0.25},
                {{1, 0}, 0.125}, {{0, 1}, 0.0625}, {{}, 0.03125}, {{1}, 0.03125}};
  for (const auto& epoch : epochs) {
    for (const double found_inf : epoch.found_infs) training.step(found_inf);
    training.scheduler.step();
    EXPECT_EQ(training.lr(), epoch.lr);
  }
  EXPECT_EQ(training.scheduler.last_epoch(), 5);
  EXPECT_EQ(training.sgd.steps(), 10);
  EXPECT_EQ(training.sgd.skipped_steps().item(), 6);
}

TEST_P(SkippedSteps, CountAsInPyTorchOnRequest) {
  Halving training(device());
  training.scheduler.count_skipped_steps();
  for (int epoch = 0; epoch < 3; ++epoch) {
    training.step(1);
    training.scheduler.step();
  }
  EXPECT_EQ(training.lr(), 0.125);
}

TEST_P(SkippedSteps, PlainStepsAlwaysCount) {
  Halving training(device());
  training.sgd.step();
  training.scheduler.step();
  EXPECT_EQ(training.lr(), 0.5);
  EXPECT_FALSE(training.sgd.skipped_steps().defined());
}

// The steps of a loaded run do not count as steps since the last call.
TEST_P(SkippedSteps, ContinueFromALoadedState) {
  Halving saved(device());
  for (const double found_inf : {1, 1, 1}) saved.step(found_inf);
  for (const double found_inf : {0, 1}) {
    Halving training(device());
    training.step(1);
    training.sgd.load_state_dict(saved.sgd.state_dict());
    training.step(found_inf);
    training.scheduler.step();
    EXPECT_EQ(training.scheduler.last_epoch(), found_inf == 0 ? 1 : 0);
  }
  Halving training(device());
  training.sgd.load_state_dict(saved.sgd.state_dict());
  training.scheduler.step();
  EXPECT_EQ(training.lr(), 0.5);
}

TEST(SkippedStepsOfSchedules, DoNotAdvanceASequence) {
  Tensor param = parameter({1});
  SGD sgd({param}, {.lr = 1});
  SequentialLR scheduler(
      sgd,
      {std::make_shared<ConstantLR>(sgd, ConstantLROptions{.factor = 0.5, .total_iters = 2}),
       std::make_shared<ExponentialLR>(sgd, ExponentialLROptions{.gamma = 0.1})},
      {.milestones = {2}});
  const Array bad = Array::full({}, 1, kFloat);
  for (int epoch = 0; epoch < 3; ++epoch) {
    sgd.step(StepControl{nullptr, &bad});
    scheduler.step();
  }
  EXPECT_EQ(scheduler.last_epoch(), 0);
  EXPECT_EQ(scheduler.get_last_lr()[0], 0.5);
}

// First steps that overflow do not shorten a warm-up.
TEST(SkippedStepsOfSchedules, DoNotShortenAWarmUpUnderAGradScaler) {
  Tensor param = parameter({1});
  SGD sgd({param}, {.lr = 1});
  LinearLR warm_up(sgd, {.start_factor = 0.25, .total_iters = 3});
  amp::GradScaler scaler({.init_scale = 8});
  for (int step = 0; step < 5; ++step) {
    sgd.zero_grad();
    const Tensor loss = sum(param) * (scaler.get_scale() > 2 ? INFINITY : 1.0);
    scaler.scale(loss).backward();
    scaler.step(sgd);
    scaler.update();
    warm_up.step();
  }
  EXPECT_EQ(warm_up.last_epoch(), 3);
  EXPECT_EQ(*sgd.param_groups()[0].lr, 1);
}

}  // namespace
}  // namespace halfgrad::optim
