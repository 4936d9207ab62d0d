#include <halfgrad/optim/lr_scheduler.h>

#include <cmath>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/optim/optim.h>

#include "parameters.h"

// Schedules of optimizers that get groups later, and the first schedule of a sequence.
namespace halfgrad::optim {
namespace {

using testing::parameter;
using Values = std::vector<double>;

std::vector<Values> rates_of(LRScheduler& scheduler, int steps) {
  std::vector<Values> rates{scheduler.get_last_lr()};
  for (int i = 0; i < steps; ++i) {
    scheduler.step();
    rates.push_back(scheduler.get_last_lr());
  }
  return rates;
}

// Expected values are PyTorch 2.15's.
TEST(LRScheduler, SchedulesGroupsThatAreAddedLater) {
  SGD sgd({parameter({0})}, {.lr = 1});
  StepLR scheduler(sgd, {.step_size = 1, .gamma = 0.5});
  sgd.add_param_group({.params = {parameter({0})}, .lr = 0.5});
  EXPECT_EQ(rates_of(scheduler, 2), (std::vector<Values>{{1}, {0.5, 0.25}, {0.25, 0.125}}));
  EXPECT_EQ(sgd.param_groups()[1].lr, 0.125);
  EXPECT_EQ(sgd.param_groups()[1].initial_lr, 0.5);

  SGD resumed({parameter({0})}, {.lr = 1});
  StepLR continued(resumed, {.step_size = 1, .gamma = 0.5});
  resumed.add_param_group({.params = {parameter({0})}});
  resumed.load_state_dict(sgd.state_dict());
  continued.load_state_dict(scheduler.state_dict());
  EXPECT_EQ(rates_of(continued, 1), (std::vector<Values>{{0.25, 0.125}, {0.125, 0.0625}}));

  for (SGD* const optimizer : {&sgd, &resumed}) {
    optimizer->add_param_group({.params = {parameter({0})}, .lr = 2});
  }
  resumed.load_state_dict(sgd.state_dict());
  continued.load_state_dict(
      scheduler.state_dict());  // saved before the schedule has added the group
  EXPECT_EQ(rates_of(continued, 1), (std::vector<Values>{{0.25, 0.125, 2}, {0.125, 0.0625, 1}}));
}

TEST(LRScheduler, SchedulesNewGroupsFromThePresentEpoch) {
  SGD sgd({parameter({0})}, {.lr = 1});
  CosineAnnealingLR scheduler(sgd, {.T_max = 4});
  sgd.add_param_group({.params = {parameter({0})}, .lr = 0.5});
  for (int i = 0; i < 5; ++i) scheduler.step();
  EXPECT_NEAR(scheduler.get_last_lr()[0], (1 - std::cos(M_PI / 4)) / 2, 0x1p-50);
  EXPECT_NEAR(scheduler.get_last_lr()[1], (1 - std::cos(M_PI / 4)) / 4, 0x1p-50) << "from its own";
}

TEST(LRScheduler, RefusesGroupsWithoutAFunction) {
  SGD sgd({parameter({0})}, {.lr = 1, .momentum = 0.9});
  LambdaLR lambda(sgd, [](std::int64_t) { return 0.5; });
  OneCycleLR cycle(sgd, {.max_lr = {1}, .total_steps = 5});
  const double lr = *sgd.param_groups()[0].lr;
  sgd.add_param_group({.params = {parameter({0})}});
  for (LRScheduler* const scheduler : std::initializer_list<LRScheduler*>{&lambda, &cycle}) {
    EXPECT_THROW(scheduler->step(), std::invalid_argument);
    EXPECT_EQ(scheduler->last_epoch(), 0);
    EXPECT_EQ(sgd.param_groups()[0].lr, lr);
  }
}

TEST(SequentialLR, AddsGroupsToAllItsSchedulers) {
  SGD sgd({parameter({0})}, {.lr = 1});
  const auto exponential = [&sgd](double gamma) {
    return std::make_shared<ExponentialLR>(sgd, ExponentialLROptions{gamma});
  };
  SequentialLR scheduler(sgd, {exponential(0.5), exponential(0.25)}, {.milestones = {2}});
  sgd.add_param_group({.params = {parameter({0})}, .lr = 0.5});
  EXPECT_EQ(rates_of(scheduler, 3),
            (std::vector<Values>{{1}, {0.5, 0.25}, {1, 0.5}, {0.25, 0.125}}));
  for (const LRSchedulerState& member : scheduler.state_dict().schedulers) {
    EXPECT_EQ(member.base_lrs, (Values{1, 0.5}));
  }
}

TEST(SequentialLR, AddsGroupsThatItsSchedulersLack) {
  SGD sgd({parameter({0})}, {.lr = 1});
  const auto constant = std::make_shared<ConstantLR>(sgd, ConstantLROptions{.factor = 0.5});
  sgd.add_param_group({.params = {parameter({0})}, .lr = 0.5});
  const SequentialLR scheduler(sgd, {constant}, {});
  EXPECT_EQ(scheduler.get_last_lr(), (Values{0.5, 0.25}));
}

TEST(SequentialLR, StartsWithTheSchedulerOfEpochZero) {
  SGD sgd({parameter({0})}, {.lr = 1});
  SequentialLR scheduler(sgd,
                         {std::make_shared<LinearLR>(sgd, LinearLROptions{.start_factor = 0.125}),
                          std::make_shared<ExponentialLR>(sgd, ExponentialLROptions{0.5})},
                         {.milestones = {0}});
  EXPECT_EQ(*sgd.param_groups()[0].lr, 1);
  EXPECT_EQ(rates_of(scheduler, 2), (std::vector<Values>{{1}, {0.5}, {0.25}}));
}

// Alone it begins with the factor and never divides it out, as in PyTorch.
TEST(SequentialLR, SkipsAConstantFactorForNoEpochs) {
  SGD sgd({parameter({0})}, {.lr = 1});
  const auto constant = [&sgd](std::int64_t total_iters) {
    return std::make_shared<ConstantLR>(
        sgd, ConstantLROptions{.factor = 0.25, .total_iters = total_iters});
  };
  SequentialLR scheduler(sgd, {constant(2), constant(0)}, {.milestones = {1}});
  EXPECT_EQ(rates_of(scheduler, 2), (std::vector<Values>{{0.25}, {1}, {1}}));
  SequentialLR passed(sgd, {constant(2), constant(0)}, {.milestones = {0}});
  EXPECT_EQ(rates_of(passed, 1), (std::vector<Values>{{1}, {1}}));
  SequentialLR first(sgd, {constant(0)}, {});
  EXPECT_EQ(rates_of(first, 1), (std::vector<Values>{{0.25}, {0.25}}));
}

}  // namespace
}  // namespace halfgrad::optim
