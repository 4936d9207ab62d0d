#include <halfgrad/optim/optimizer.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/optim/adam.h>
#include <halfgrad/optim/adamw.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/message_of.h>

#include "parameters.h"

namespace halfgrad::optim {
namespace {

using testing::give_grad;
using testing::kNaN;
using testing::parameter;
using testing::tensor_of;
using Values = std::vector<double>;

TEST(Optimizer, NamesTheOptionThatIsOutOfRange) {
  const std::vector<Tensor> params{parameter({1})};
  const auto sgd = [&](const SGDArguments& o) {
    return message_of<std::invalid_argument>([&] { SGD(params, o); });
  };
  const auto adam = [&](const AdamArguments& o) {
    return message_of<std::invalid_argument>([&] { Adam(params, o); });
  };
  const auto adamw = [&](const AdamWArguments& o) {
    return message_of<std::invalid_argument>([&] { AdamW(params, o); });
  };
  const struct {
    std::string actual, expected;
  } cases[] = {
      {sgd({.lr = -1}), "SGD: expected lr >= 0, got -1"},
      {sgd({.lr = kNaN}), "SGD: expected lr >= 0, got nan"},
      {sgd({.momentum = -0.5}), "SGD: expected momentum >= 0, got -0.5"},
      {sgd({.momentum = kNaN}), "SGD: expected momentum >= 0, got nan"},
      {sgd({.dampening = kNaN}), "SGD: expected dampening to be a number, got nan"},
      {sgd({.weight_decay = -1}), "SGD: expected weight_decay >= 0, got -1"},
      {sgd({.weight_decay = kNaN}), "SGD: expected weight_decay >= 0, got nan"},
      {sgd({.nesterov = true}), "SGD: expected momentum > 0 with nesterov, got 0"},
      {sgd({.momentum = 0.9, .dampening = 0.1, .nesterov = true}),
       "SGD: expected dampening 0 with nesterov, got 0.1"},
      {sgd({.momentum = 1.5, .dampening = -3}), "no error"},
      {sgd({.lr = 0}), "no error"},
      {adam({.lr = -1}), "Adam: expected lr >= 0, got -1"},
      {adam({.lr = kNaN}), "Adam: expected lr >= 0, got nan"},
      {adam({.betas = {1, 0.9}}), "Adam: expected betas.first in [0, 1), got 1"},
      {adam({.betas = {kNaN, 0.9}}), "Adam: expected betas.first in [0, 1), got nan"},
      {adam({.betas = {0.9, -0.1}}), "Adam: expected betas.second in [0, 1), got -0.1"},
      {adam({.betas = {0, 0}}), "no error"},
      {adam({.eps = -1}), "Adam: expected eps >= 0, got -1"},
      {adam({.eps = kNaN}), "Adam: expected eps >= 0, got nan"},
      {adam({.weight_decay = -1}), "Adam: expected weight_decay >= 0, got -1"},
      {adamw({.lr = kNaN}), "AdamW: expected lr >= 0, got nan"},
      {adamw({.weight_decay = kNaN}), "AdamW: expected weight_decay >= 0, got nan"},
  };
  for (const auto& c : cases) EXPECT_EQ(c.actual, c.expected);
}

TEST(Optimizer, DefaultsEqualPyTorchs) {
  SGD sgd({parameter({1})});
  Adam adam({parameter({1})});
  AdamW adamw({parameter({1})});
  const std::map<std::string, double> sgd_options{{"lr", 1e-3},        {"momentum", 0},
                                                  {"dampening", 0},    {"nesterov", 0},
                                                  {"weight_decay", 0}, {"maximize", 0}};
  std::map<std::string, double> adam_options{{"lr", 1e-3},   {"beta1", 0.9},      {"beta2", 0.999},
                                             {"eps", 1e-8},  {"weight_decay", 0}, {"amsgrad", 0},
                                             {"maximize", 0}};
  EXPECT_EQ(sgd.state_dict().param_groups[0].options, sgd_options);
  EXPECT_EQ(adam.state_dict().param_groups[0].options, adam_options);
  adam_options["weight_decay"] = 1e-2;
  EXPECT_EQ(adamw.state_dict().param_groups[0].options, adam_options);
}

TEST(Optimizer, RejectsOtherTensorsThanLeaves) {
  const Tensor leaf = parameter({1, 2});
  const Tensor sum = leaf + leaf;
  EXPECT_EQ(message_of<std::invalid_argument>([&] { SGD(std::vector<Tensor>()); }),
            "SGD: expected at least one parameter, got an empty list");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { SGD(std::vector<ParamGroup>()); }),
            "SGD: expected at least one parameter, got an empty list");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { SGD({ParamGroup()}); }), "no error");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              Adam({leaf, sum});
            }),
            "Adam: expected leaf tensors, got the result of add");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { Adam({Tensor()}); }),
            "Adam: expected parameters, got an undefined tensor");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              Adam({{.params = {parameter({1})}}, {.params = {leaf}}, {.params = {leaf}}});
            }),
            "Adam: expected each parameter in one group, got parameter 0 of shape [2] in a second "
            "one");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { Adam({{.params = {leaf}, .momentum = 0.9}}); }),
            "Adam: expected options that it has, got momentum");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { SGD({{.params = {leaf}, .lr = -1.0}}); }),
            "SGD: expected lr >= 0, got -1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { SGD({tensor_of({1})}); }), "no error");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { SGD({tensor_of({1}, DType::i64)}); }),
            "no error");
}

TEST(Optimizer, RefusesGradientsOfIntegerParameters) {
  Tensor real = parameter({1}), whole = tensor_of({5}, DType::i64);
  SGD sgd({real, whole}, {.lr = 0.5});
  give_grad(real, {1});
  sgd.step();
  EXPECT_EQ(real.item(), 0.5) << "the other has no gradient";
  give_grad(whole, {1});
  const auto expect_refused = [&](const auto& step) {
    EXPECT_EQ(message_of<std::invalid_argument>(step),
              "SGD: expected gradients of floating-point parameters, got one of int64");
  };
  expect_refused([&] { sgd.step(); });
  expect_refused([&] { sgd.step(StepControl()); });
  EXPECT_EQ(real.item(), 0.5);
  EXPECT_EQ(sgd.steps(), 1);
}

TEST(Optimizer, KeepsAParameterListedTwiceOnce) {
  Tensor param = parameter({1});
  ::testing::internal::CaptureStderr();
  SGD sgd({param, param}, {.lr = 1});
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("warning: SGD: "), std::string::npos);
  give_grad(param, {0.25});
  sgd.step();
  EXPECT_EQ(param.item(), 0.75);
}

TEST(Optimizer, SeveralMayOwnAParameter) {
  const Tensor param = parameter({1}).requires_grad_();
  SGD first({param}, {.lr = 0.25}), second({param}, {.lr = 0.5});
  sum(param * param).backward();
  first.step();
  second.step();
  EXPECT_EQ(param.item(), 1 - 0.25 * 2 - 0.5 * 2);
}

TEST(Optimizer, GroupsOverrideOptions) {
  Tensor a = parameter({1});
  Tensor b = parameter({1});
  SGD sgd({{.params = {a}}, {.params = {b}, .lr = 0.5}}, {.lr = 0.25});
  give_grad(a, {1});
  give_grad(b, {1});
  sgd.step();
  EXPECT_EQ(a.item(), 0.75);
  EXPECT_EQ(b.item(), 0.5);
  sgd.param_groups()[0].lr = 1;
  sgd.step();
  EXPECT_EQ(a.item(), -0.25);
}

TEST(Optimizer, ListsTheParametersOfAllGroups) {
  SGD sgd(std::vector<ParamGroup>{{.params = {parameter({1}), parameter({2})}},
                                  {.params = {parameter({3})}}},
          {.lr = 1});
  Values listed;
  for (const Tensor& param : sgd.parameters()) listed.push_back(param.item());
  EXPECT_EQ(listed, (Values{1, 2, 3}));
}

TEST(Optimizer, SkipsParametersWithoutGradient) {
  Tensor with = parameter({1});
  const Tensor without = parameter({1});
  Adam adam({with, without});
  give_grad(with, {1});
  adam.step();
  EXPECT_EQ(without.item(), 1);
  EXPECT_TRUE(adam.state(without).empty());
  EXPECT_EQ(adam.state(with).at("step").item(), 1);
  EXPECT_EQ(adam.state(with).at("exp_avg").dtype(), DType::f64);
}

TEST(Optimizer, StepRunsTheClosureWithGradients) {
  Tensor param = parameter({2});
  SGD sgd({param}, {.lr = 0.25});
  const NoGradGuard no_grad;
  const auto loss = sgd.step([&] {
    EXPECT_TRUE(GradMode::is_enabled());
    sgd.zero_grad();
    Tensor square = param * param;
    square.backward(tensor_of({1}));
    return square;
  });
  ASSERT_TRUE(loss.defined());
  EXPECT_EQ(loss.item(), 4);
  EXPECT_EQ(param.item(), 1);
  EXPECT_FALSE(sgd.step().defined());
}

TEST(Optimizer, HooksRunAroundStep) {
  Tensor param = parameter({1});
  give_grad(param, {1});
  SGD sgd({param}, {.lr = 1});
  Values seen;
  HookHandle before = sgd.register_step_pre_hook([&](Optimizer&) { seen.push_back(param.item()); });
  sgd.register_step_post_hook([&](Optimizer&) { seen.push_back(param.item()); });
  sgd.step();
  before.remove();
  sgd.step(StepControl());
  EXPECT_EQ(seen, (Values{1, 0, -1}));
}

TEST(Optimizer, ZeroGradDropsOrOverwrites) {
  Tensor param = parameter({1, 2});
  give_grad(param, {3, 4});
  SGD sgd({param});
  const Array gradient = param.grad().array();
  sgd.zero_grad(false);
  EXPECT_EQ(param.grad().to_vector<double>(), (Values{0, 0}));
  EXPECT_EQ(param.grad().array().data(), gradient.data());
  sgd.zero_grad();
  EXPECT_FALSE(param.grad().defined());
}

TEST(Optimizer, StepCountsAsAnInPlaceChange) {
  Tensor param = parameter({1});
  give_grad(param, {1});
  SGD sgd({param});
  const auto version = param._version();
  sgd.step();
  EXPECT_GT(param._version(), version);
}

}  // namespace
}  // namespace halfgrad::optim
