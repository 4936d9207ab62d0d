#include <halfgrad/compat/torch.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/message_of.h>

/// The options of groups, as programs for libtorch read and change them.
namespace {

namespace torch = halfgrad;
namespace optim = torch::optim;

torch::Tensor parameter(double value = 1) {
  return torch::full({1}, value, torch::kDouble).requires_grad_();
}

TEST(GroupOptions, ACastGivesAllOptionsOfTheOptimizer) {
  const torch::Tensor w = parameter();
  optim::Adam optimizer({w}, optim::AdamOptions(0.5).betas({0.5, 0.75}).weight_decay(0.25));
  for (auto& group : optimizer.param_groups()) {
    ASSERT_TRUE(group.has_options());
    auto& options = static_cast<optim::AdamOptions&>(group.options());
    EXPECT_EQ(options.lr(), 0.5);
    EXPECT_EQ(std::get<1>(options.betas()), 0.75);
    options.lr(0.125).eps(0.5).betas(std::make_tuple(0.25, 0.5));
    options.weight_decay() *= 2;
  }
  const optim::ParamGroup& group = optimizer.param_groups()[0];
  EXPECT_EQ(group.lr, 0.125);
  EXPECT_EQ(group.eps, 0.5);
  EXPECT_EQ(group.weight_decay, 0.5);
  EXPECT_EQ(group.betas, std::make_pair(0.25, 0.5));
}

TEST(GroupOptions, AChangeReachesTheNextStep) {
  const torch::Tensor w = parameter();
  optim::SGD optimizer({w}, optim::SGDOptions(1));
  static_cast<optim::SGDOptions&>(optimizer.param_groups()[0].options()).lr(0.25);
  w.sum().backward();
  optimizer.step();
  EXPECT_EQ(w.item<double>(), 0.75);
}

TEST(GroupOptions, ACopyIsNoView) {
  optim::RMSprop optimizer({parameter()}, optim::RMSpropOptions(0.5).alpha(0.25));
  optim::RMSpropOptions copy = optimizer.param_groups()[0].options();
  copy.alpha(0.75);
  EXPECT_EQ(optimizer.param_groups()[0].alpha, 0.25);
  optim::RMSpropOptions& view = optimizer.param_groups()[0].options();
  view = copy;  // the values of a copy reach the group
  EXPECT_EQ(optimizer.param_groups()[0].alpha, 0.75);
  EXPECT_EQ(optimizer.param_groups()[0].params.size(), 1);
}

TEST(GroupOptions, ThrowForAnotherOptimizersOptions) {
  optim::SGD optimizer({parameter()}, 0.5);
  EXPECT_EQ(torch::message_of([&] {
              static_cast<optim::AdamOptions&>(optimizer.param_groups()[0].options()).lr(1);
            }),
            "options: expected the group of an optimizer with AdamOptions, got another "
            "optimizer's");
  optim::Adagrad adagrad({parameter()}, optim::AdagradOptions(0.5).lr_decay(0.25));
  optim::AdagradOptions& options = adagrad.param_groups()[0].options();
  EXPECT_EQ(options.lr_decay(), 0.25);
}

TEST(GroupOptions, GroupsOfLibtorchHaveOptionsOfTheirOwn) {
  const torch::Tensor a = parameter(), b = parameter(), c = parameter();
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<torch::Tensor>{a});
  groups.emplace_back(std::vector<torch::Tensor>{b},
                      std::make_unique<optim::SGDOptions>(optim::SGDOptions(0.25).momentum(0.5)));
  EXPECT_TRUE(groups[1].params()[0].is_same(b));
  optim::SGD optimizer(groups, optim::SGDOptions(0.5));
  optimizer.add_param_group(optim::OptimizerParamGroup({c}));
  ASSERT_EQ(optimizer.param_groups().size(), 3);
  EXPECT_EQ(optimizer.param_groups()[0].lr, 0.5);
  EXPECT_EQ(optimizer.param_groups()[1].lr, 0.25);
  EXPECT_EQ(optimizer.param_groups()[1].momentum, 0.5);
  EXPECT_EQ(optimizer.param_groups()[2].lr, 0.5);
  (a + b + c).sum().backward();
  optimizer.step();
  EXPECT_EQ(a.item<double>(), 0.5);
  EXPECT_EQ(b.item<double>(), 0.75);
}

}  // namespace
