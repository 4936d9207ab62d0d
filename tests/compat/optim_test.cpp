#include <halfgrad/compat/torch.h>

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/message_of.h>

/// The builders of optimizers' options, as programs for libtorch write them.
namespace {

namespace torch = halfgrad;
using torch::optim::ReduceLROnPlateauScheduler;

struct Fit {
  torch::Tensor w = torch::tensor({2.0, -1.0}).requires_grad_();

  std::vector<torch::Tensor> parameters() const { return {w}; }
  torch::Tensor operator()() {
    w.set_grad(torch::Tensor());
    torch::Tensor loss = ((w - 1) * (w - 1)).sum();
    loss.backward();
    return loss;
  }
};

TEST(OptimBuilders, ReachTheirOptimizers) {
  Fit fit;
  torch::optim::RMSprop rmsprop(
      {fit.w}, torch::optim::RMSpropOptions(0.1).alpha(0.5).momentum(0.25).centered(true).eps(1));
  const auto& group = rmsprop.param_groups()[0];
  EXPECT_EQ(group.lr, 0.1);
  EXPECT_EQ(group.alpha, 0.5);
  EXPECT_EQ(group.momentum, 0.25);
  EXPECT_EQ(group.centered, true);
  EXPECT_EQ(group.eps, 1.0);
  torch::optim::Adagrad adagrad(
      {fit.w}, torch::optim::AdagradOptions(0.1).lr_decay(0.5).initial_accumulator_value(2));
  EXPECT_EQ(adagrad.param_groups()[0].lr_decay, 0.5);
  EXPECT_EQ(adagrad.param_groups()[0].initial_accumulator_value, 2.0);
}

TEST(OptimBuilders, LBFGSSearchesALine) {
  Fit fit;
  torch::optim::LBFGS optimizer(
      {fit.w}, torch::optim::LBFGSOptions(1).max_iter(10).line_search_fn("strong_wolfe"));
  optimizer.step([&] { return fit(); });
  EXPECT_NEAR(fit.w[0].item<double>(), 1, 1e-5);
  EXPECT_NEAR(fit.w[1].item<double>(), 1, 1e-5);
  EXPECT_EQ(torch::message_of<std::invalid_argument>([&] {
              torch::optim::LBFGS({fit.w}, torch::optim::LBFGSOptions(1).line_search_fn("armijo"));
            }),
            "LBFGS: expected line_search_fn \"strong_wolfe\", got \"armijo\"");
}

TEST(OptimBuilders, PlateauTakesLibtorchsArguments) {
  Fit fit;
  torch::optim::SGD sgd({fit.w}, 0.5);
  ReduceLROnPlateauScheduler scheduler(sgd, ReduceLROnPlateauScheduler::max, 0.5, /*patience=*/0);
  for (const double metric : {1.0, 2.0, 2.0}) scheduler.step(metric);
  EXPECT_EQ(sgd.param_groups()[0].lr, 0.25);
}

/// The rate before each of 8 calls of step().
std::vector<double> rates_of(torch::optim::SGD& sgd, torch::optim::LRScheduler& scheduler) {
  std::vector<double> rates;
  for (int i = 0; i < 8; ++i) {
    rates.push_back(sgd.param_groups()[0].options().get_lr());
    scheduler.step();
  }
  return rates;
}

// libtorch 2.15 gives these rates.
TEST(Schedules, StepLRDecaysInTheCallsOfLibtorch) {
  Fit fit;
  torch::optim::SGD every(fit.parameters(), 1.0), second(fit.parameters(), 1.0),
      third(fit.parameters(), 1.0);
  torch::optim::StepLR steps_of_1(every, 1, 0.5), steps_of_2(second, 2, 0.5), steps_of_3(third, 3);
  EXPECT_EQ(rates_of(every, steps_of_1),
            (std::vector<double>{1, 1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625}));
  EXPECT_EQ(rates_of(second, steps_of_2),
            (std::vector<double>{1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.125}));
  EXPECT_EQ(rates_of(third, steps_of_3),
            (std::vector<double>{1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1 * 0.1}));
  EXPECT_EQ(torch::message_of<std::invalid_argument>([&] { torch::optim::StepLR(every, 0); }),
            "StepLR: expected step_size > 0, got 0");
}

TEST(Schedules, StepLRContinuesFromAStateDict) {
  Fit fit;
  torch::optim::SGD sgd(fit.parameters(), 1.0), resumed(fit.parameters(), 1.0);
  torch::optim::StepLR scheduler(sgd, 3, 0.5);
  for (int i = 0; i < 3; ++i) scheduler.step();
  torch::optim::StepLR continued(resumed, 3, 0.5);
  continued.load_state_dict(scheduler.state_dict());
  continued.step();
  EXPECT_EQ(resumed.param_groups()[0].lr, 0.5);
}

/// Halves all rates in every third call, and notes the calls.
class Halving : public torch::optim::LRScheduler {
 public:
  explicit Halving(torch::optim::Optimizer& optimizer) : LRScheduler(optimizer) {}
  std::vector<unsigned> calls;
  std::size_t left_out = 0;

 private:
  std::vector<double> get_lrs() override {
    calls.push_back(step_count_);
    std::vector<double> rates = get_current_lrs();
    for (double& rate : rates) {
      if (step_count_ % 3 == 2) rate /= 2;
    }
    rates.resize(rates.size() - left_out);
    return rates;
  }
};

TEST(Schedules, MayDeriveFromLibtorchsBaseClass) {
  Fit fit;
  torch::optim::SGD sgd(fit.parameters(), 8.0);
  Halving halving(sgd);
  EXPECT_EQ(rates_of(sgd, halving), (std::vector<double>{8, 8, 8, 4, 4, 4, 2, 2}));
  EXPECT_EQ(halving.calls, (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(halving.get_last_lr(), (std::vector<double>{2}));
  halving.left_out = 1;
  EXPECT_EQ(torch::message_of<std::invalid_argument>([&] { halving.step(); }),
            "LRScheduler::get_lrs: expected 1 rates, got 0");
}

TEST(Optim, StepReturnsTheLossOfItsClosure) {
  torch::Tensor x = torch::ones({2}).requires_grad_();
  torch::optim::SGD sgd({x}, torch::optim::SGDOptions(0.25));
  const torch::Tensor loss = sgd.step([&] {
    sgd.zero_grad();
    torch::Tensor sum = (x * x).sum();
    sum.backward();
    return sum;
  });
  EXPECT_EQ(loss.item<float>(), 2.0f);
  EXPECT_EQ(x[0].item<float>(), 0.5f);
  EXPECT_FALSE(sgd.step().defined());
}

TEST(Optim, BinaryCrossEntropyTakesATargetWithoutDimensionsOfOne) {
  const torch::Tensor p = torch::tensor({{0.25}, {0.5}, {0.75}}).requires_grad_();
  const torch::Tensor target = torch::tensor({0.0, 1.0, 1.0});
  const torch::Tensor column = target.view({3, 1});
  EXPECT_TRUE(torch::binary_cross_entropy(p, target).equal(torch::binary_cross_entropy(p, column)));
  const torch::Tensor losses = torch::binary_cross_entropy(p, target, {}, torch::kNone);
  EXPECT_EQ(losses.sizes(), (torch::Shape{3, 1}));
  losses.sum().backward();
  EXPECT_NEAR(p.grad()[2][0].item(), -1 / 0.75, 1e-6);
  EXPECT_THROW(torch::binary_cross_entropy(p, torch::ones({2})), std::invalid_argument);
  EXPECT_THROW(torch::binary_cross_entropy(p, torch::ones({3, 3})), std::invalid_argument);
}

}  // namespace
