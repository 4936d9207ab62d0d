#include <halfgrad/optim/lr_scheduler.h>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/optim/optim.h>

#include "parameters.h"

namespace halfgrad::optim {
namespace {

using nlohmann::json;
using testing::expected_values;
using testing::numbers;
using testing::parameter;
using Values = std::vector<double>;
using Scheduler = std::shared_ptr<LRScheduler>;

std::vector<ParamGroup> two_groups() {
  return {{.params = {parameter({0})}, .lr = 0.1}, {.params = {parameter({0})}, .lr = 0.02}};
}

OneCycleLROptions one_cycle_options(const json& o) {
  OneCycleLROptions options{.max_lr = numbers(o["max_lr"]), .total_steps = o["total_steps"]};
  options.pct_start = o.value("pct_start", options.pct_start);
  options.three_phase = o.value("three_phase", options.three_phase);
  options.div_factor = o.value("div_factor", options.div_factor);
  options.final_div_factor = o.value("final_div_factor", options.final_div_factor);
  options.base_momentum = o.value("base_momentum", options.base_momentum);
  options.max_momentum = o.value("max_momentum", options.max_momentum);
  const bool linear = o.value("anneal_strategy", "cos") == "linear";
  options.anneal_strategy = linear ? AnnealStrategy::linear : AnnealStrategy::cos;
  return options;
}

Scheduler make_scheduler(const std::string& name, const json& o, Optimizer& optimizer) {
  if (name == "step") {
    return std::make_shared<StepLR>(optimizer, StepLROptions{o["step_size"], o["gamma"]});
  }
  if (name == "multi_step") {
    return std::make_shared<MultiStepLR>(optimizer,
                                         MultiStepLROptions{o["milestones"], o["gamma"]});
  }
  if (name.starts_with("cosine")) {
    return std::make_shared<CosineAnnealingLR>(optimizer,
                                               CosineAnnealingLROptions{o["T_max"], o["eta_min"]});
  }
  if (name.starts_with("linear")) {
    LinearLROptions options;
    options.start_factor = o.value("start_factor", options.start_factor);
    options.end_factor = o.value("end_factor", options.end_factor);
    options.total_iters = o.value("total_iters", options.total_iters);
    return std::make_shared<LinearLR>(optimizer, options);
  }
  if (name == "exponential") {
    return std::make_shared<ExponentialLR>(optimizer, ExponentialLROptions{o["gamma"]});
  }
  if (name == "lambda") {
    const auto power = [](std::int64_t epoch) { return std::pow(0.95, epoch); };
    const auto root = [](std::int64_t epoch) { return 1 / std::sqrt(epoch + 1); };
    return std::make_shared<LambdaLR>(optimizer, std::vector<LambdaLR::Function>{power, root});
  }
  if (name == "sequential") {
    std::vector<Scheduler> schedulers;
    for (const auto& each : o["schedulers"]) {
      schedulers.push_back(make_scheduler(each[0], each[1], optimizer));
    }
    return std::make_shared<SequentialLR>(optimizer, schedulers,
                                          SequentialLROptions{o["milestones"]});
  }
  if (name == "one_cycle") return std::make_shared<OneCycleLR>(optimizer, one_cycle_options(o));
  throw std::invalid_argument(name);
}

std::unique_ptr<Optimizer> make_optimizer(const json& row) {
  if (row.value("optimizer", "sgd") == "adam") return std::make_unique<Adam>(two_groups());
  return std::make_unique<SGD>(two_groups(), SGDArguments{.momentum = 0.9});
}

// Recursive formulas add a few roundoffs in every step.
double tolerance(std::size_t steps) { return 8 * static_cast<double>(steps + 1) * 0x1p-53; }

void expect_rates(const Optimizer& optimizer, const json& row, std::size_t step) {
  for (std::size_t i = 0; i < 2; ++i) {
    const ParamGroup& group = optimizer.param_groups()[i];
    EXPECT_NEAR(*group.lr, row["lr"][step][i], 0.1 * tolerance(step)) << row["name"] << " " << step;
    if (!row.contains("momentum")) continue;
    const double momentum = group.betas.has_value() ? group.betas->first : *group.momentum;
    EXPECT_NEAR(momentum, row["momentum"][step][i], tolerance(1)) << row["name"] << " " << step;
  }
}

TEST(LRScheduler, MatchesPyTorch) {
  const json file = expected_values("schedulers.json");
  for (const json& row : file["sequences"]) {
    const auto optimizer = make_optimizer(row);
    const Scheduler scheduler = make_scheduler(row["name"], row["options"], *optimizer);
    for (std::size_t step = 0; step < row["lr"].size(); ++step) {
      if (step > 0) scheduler->step();
      expect_rates(*optimizer, row, step);
      const Values rates{*optimizer->param_groups()[0].lr, *optimizer->param_groups()[1].lr};
      EXPECT_EQ(scheduler->get_last_lr(), rates);
      EXPECT_EQ(scheduler->last_epoch(), static_cast<std::int64_t>(step));
    }
  }
}

TEST(LRScheduler, ContinuesFromAStateDict) {
  const json file = expected_values("schedulers.json");
  for (const json& row : file["sequences"]) {
    const auto optimizer = make_optimizer(row);
    const Scheduler scheduler = make_scheduler(row["name"], row["options"], *optimizer);
    const std::size_t half = row["lr"].size() / 2;
    for (std::size_t step = 0; step < half; ++step) scheduler->step();

    const auto resumed = make_optimizer(row);
    const Scheduler continued = make_scheduler(row["name"], row["options"], *resumed);
    resumed->load_state_dict(optimizer->state_dict());
    continued->load_state_dict(scheduler->state_dict());
    EXPECT_EQ(continued->get_last_lr(), scheduler->get_last_lr());
    for (std::size_t step = half + 1; step < row["lr"].size(); ++step) {
      continued->step();
      expect_rates(*resumed, row, step);
    }
  }
}

TEST(LRScheduler, ConstantFactorIsDividedOut) {
  SGD sgd({parameter({0})}, {.lr = 0.5});
  ConstantLR scheduler(sgd, {.factor = 0.25, .total_iters = 2});
  Values rates;
  for (int i = 0; i < 4; ++i, scheduler.step()) rates.push_back(scheduler.get_last_lr()[0]);
  EXPECT_EQ(rates, (Values{0.125, 0.125, 0.5, 0.5}));
}

TEST(LRScheduler, ConstantFactorZeroCannotBeDividedOut) {
  SGD sgd({parameter({0})}, {.lr = 0.5});
  ConstantLR scheduler(sgd, {.factor = 0, .total_iters = 2});
  EXPECT_EQ(scheduler.get_last_lr()[0], 0);
  scheduler.step();
  EXPECT_EQ(scheduler.get_last_lr()[0], 0);
  EXPECT_THROW(scheduler.step(), std::runtime_error);
}

TEST(LRScheduler, SeveralActOnOneOptimizer) {
  SGD sgd({parameter({0})}, {.lr = 1});
  ConstantLR constant(sgd, {.factor = 0.5, .total_iters = 2});
  ExponentialLR exponential(sgd, {.gamma = 0.5});
  Values rates{*sgd.param_groups()[0].lr};
  for (int i = 0; i < 3; ++i) {
    constant.step();
    exponential.step();
    rates.push_back(*sgd.param_groups()[0].lr);
  }
  EXPECT_EQ(rates, (Values{0.5, 0.25, 0.25, 0.125}));
}

TEST(LRScheduler, OneLambdaServesAllGroups) {
  SGD sgd(two_groups());
  LambdaLR scheduler(sgd, [](std::int64_t epoch) { return epoch == 0 ? 1.0 : 0.5; });
  scheduler.step();
  EXPECT_EQ(scheduler.get_last_lr(), (Values{0.05, 0.01}));
}

TEST(LRScheduler, RejectsOptionsOutOfRange) {
  SGD sgd(two_groups());
  SGD other(two_groups());
  const auto step_lr = [&] { return std::make_shared<StepLR>(sgd, StepLROptions{3}); };
  const std::function<void()> mistakes[] = {
      [&] { StepLR(sgd, {.step_size = 0}); },
      [&] { CosineAnnealingLR(sgd, {.T_max = 0}); },
      [&] { LinearLR(sgd, {.start_factor = 0}); },
      [&] { LinearLR(sgd, {.start_factor = 1.5}); },
      [&] { LinearLR(sgd, {.end_factor = -0.5}); },
      [&] { LinearLR(sgd, {.total_iters = 0}); },
      [&] { ConstantLR(sgd, {.factor = -0.5}); },
      [&] { ConstantLR(sgd, {.factor = std::nan("")}); },
      [&] { LambdaLR(sgd, std::vector<LambdaLR::Function>(3)); },
      [&] { SequentialLR(sgd, {}, {}); },
      [&] {
        SequentialLR(sgd, {step_lr(), step_lr()}, {.milestones = {1, 2}});
      },
      [&] {
        SequentialLR(sgd, {step_lr(), step_lr(), step_lr()}, {.milestones = {2, 2}});
      },
      [&] { SequentialLR(other, {step_lr()}, {}); },
      [&] { OneCycleLR(sgd, {.max_lr = {1}}); },
      [&] { OneCycleLR(sgd, {.max_lr = {1}, .total_steps = 0}); },
      [&] { OneCycleLR(sgd, {.max_lr = {1}, .epochs = 3}); },
      [&] {
        OneCycleLR(sgd, {.max_lr = {1, 2, 3}, .total_steps = 5});
      },
      [&] { OneCycleLR(sgd, {.max_lr = {1}, .total_steps = 5, .pct_start = 1.5}); },
      [&] { StepLR(sgd, {.step_size = 3}).load_state_dict({}); },
  };
  int number = 0;
  for (const auto& mistake : mistakes) {
    EXPECT_THROW(mistake(), std::invalid_argument) << "mistake " << number++;
  }
}

TEST(OneCycleLR, SetsTheStartOfALaterSchedule) {
  SGD sgd({parameter({0})}, {.lr = 0.1});
  ExponentialLR first(sgd, {.gamma = 0.5});
  OneCycleLR cycle(sgd, {.max_lr = {0.5}, .total_steps = 20, .div_factor = 8});
  EXPECT_EQ(sgd.param_groups()[0].initial_lr, 0.0625);
  EXPECT_EQ(cycle.state_dict().base_lrs, Values{0.0625});
  cycle.step();
  LambdaLR later(sgd, [](std::int64_t epoch) { return epoch == 0 ? 1.0 : 0.5; });
  EXPECT_EQ(later.get_last_lr(), Values{0.0625});
  later.step();
  EXPECT_EQ(later.get_last_lr(), Values{0.03125});
}

TEST(OneCycleLR, EndsAfterTotalSteps) {
  SGD sgd({parameter({0})}, {.momentum = 0.9});
  OneCycleLR scheduler(sgd, {.max_lr = {1}, .epochs = 2, .steps_per_epoch = 2});
  for (int i = 0; i < 4; ++i) scheduler.step();
  EXPECT_THROW(scheduler.step(), std::runtime_error);
}

}  // namespace
}  // namespace halfgrad::optim
