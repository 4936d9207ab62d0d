#include <halfgrad/optim/optimizer.h>

#include <limits>
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/core/thread_pool.h>
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
  const auto sgd = [&](const SGDOptions& o) {
    return message_of<std::invalid_argument>([&] { SGD(params, o); });
  };
  const auto adam = [&](const AdamOptions& o) {
    return message_of<std::invalid_argument>([&] { Adam(params, o); });
  };
  const auto adamw = [&](const AdamWOptions& o) {
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

TEST(Optimizer, DefaultsAreThoseOfPyTorch) {
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

TEST(Optimizer, RejectsWhatItCannotOptimize) {
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

TEST(Optimizer, DoesNotStepWholeNumbers) {
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
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("listed twice"), std::string::npos);
  give_grad(param, {0.25});
  sgd.step();
  EXPECT_EQ(param.item(), 0.75);
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

TEST(Optimizer, PassesOverParametersWithoutGradient) {
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
  ASSERT_TRUE(loss.has_value());
  EXPECT_EQ(loss->item(), 4);
  EXPECT_EQ(param.item(), 1);
  EXPECT_FALSE(sgd.step().has_value());
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

// Training, a copy through state_dict, and training on gives what training on without it gives.
TEST(Optimizer, ContinuesFromAStateDict) {
  Tensor param = parameter({1, -2});
  Adam adam({{.params = {parameter({5})}}, {.params = {param}}},
            {.lr = 0.1, .betas = {0.5, 0.75}, .amsgrad = true});
  give_grad(param, {0.5, 0.25});
  adam.step();
  adam.param_groups()[1].lr = 0.01;

  const OptimizerState saved = adam.state_dict();
  ASSERT_EQ(saved.param_groups.size(), 2u);
  EXPECT_EQ(saved.param_groups[1].params, std::vector<std::int64_t>{1});
  EXPECT_FALSE(saved.state.contains(0));
  Tensor copy = parameter(param.to_vector<double>());
  Adam other({{.params = {parameter({5})}}, {.params = {copy}}});
  other.load_state_dict(saved);
  for (Tensor* each : {&param, &copy}) give_grad(*each, {-0.5, 1});
  adam.step();
  other.step();
  EXPECT_EQ(copy.to_vector<double>(), param.to_vector<double>());
  EXPECT_EQ(other.param_groups()[1].lr, 0.01);
  EXPECT_EQ(other.param_groups()[1].betas, (std::pair{0.5, 0.75}));
  EXPECT_EQ(saved.state.at(1).at("step").item(), 1) << "the copy must not follow";
}

TEST(Optimizer, KeepsItsCountsThroughAStateDict) {
  Tensor param = parameter({1});
  SGD sgd({param}), other({param});
  sgd.step();
  other.load_state_dict(sgd.state_dict());
  EXPECT_EQ(other.steps(), 1);
  EXPECT_FALSE(other.skipped_steps().defined());
  const Array inf = Array::full({}, 1, DType::f32);
  sgd.step(StepControl{nullptr, &inf});
  const OptimizerState saved = sgd.state_dict();
  other.load_state_dict(saved);
  for (SGD* const each : {&sgd, &other}) {
    each->step(StepControl{nullptr, &inf});
    EXPECT_EQ(each->steps(), 3);
    EXPECT_EQ(each->skipped_steps().item(), 2);
  }
  EXPECT_EQ(saved.skipped_steps.item(), 1) << "the copy must not follow";
  other.load_state_dict(Adam({param}).state_dict());
  EXPECT_EQ(other.steps(), 0);
  EXPECT_FALSE(other.skipped_steps().defined());
}

TEST(Optimizer, LoadingConvertsMomentsButNotTheStep) {
  Tensor param = parameter({1, -2}, DType::f64);
  Adam adam({param});
  give_grad(param, {0.1, 0.2});
  adam.step();
  const Tensor low = parameter({1, -2}, DType::bf16);
  Adam other({low});
  other.load_state_dict(adam.state_dict());
  EXPECT_EQ(other.state(low).at("exp_avg").dtype(), DType::bf16);
  EXPECT_EQ(other.state(low).at("step").dtype(), DType::f32);
}

TEST(Optimizer, LoadingRejectsAnotherLayout) {
  Tensor param = parameter({1, -2});
  Adam adam({param});
  give_grad(param, {0.1, 0.2});
  adam.step();
  const OptimizerState saved = adam.state_dict();
  const auto load = [&saved](std::vector<ParamGroup> groups) {
    Adam other(std::move(groups));
    return message_of<std::invalid_argument>([&] { other.load_state_dict(saved); });
  };
  EXPECT_EQ(load({{.params = {parameter({1})}}, {.params = {parameter({2})}}}),
            "Adam: expected a state of 2 parameter groups, got 1");
  EXPECT_EQ(load({{.params = {parameter({1}), parameter({2})}}}),
            "Adam: expected 2 parameters in group 0, got 1");
  EXPECT_EQ(load({{.params = {parameter({1, 2, 3})}}}),
            "Adam: expected exp_avg of shape [3], got [2]");
}

// What another optimizer kept, or half of what this one did, would move the parameter elsewhere.
TEST(Optimizer, LoadingRejectsAnotherOptimizersState) {
  Tensor param = parameter({1, -2});
  const auto stepped = [&param](auto optimizer) {
    give_grad(param, {0.1, 0.2});
    optimizer->step();
    return optimizer->state_dict();
  };
  const auto adam = stepped(std::make_unique<Adam>(std::vector{param}));
  const auto amsgrad =
      stepped(std::make_unique<Adam>(std::vector{param}, AdamOptions{.amsgrad = true}));
  const auto sgd = stepped(std::make_unique<SGD>(std::vector{param}, SGDOptions{.momentum = 0.5}));
  const auto without = [](OptimizerState saved, const char* name) {
    saved.state.at(0).erase(name);
    return saved;
  };
  const auto with = [](OptimizerState saved, const char* name) {
    saved.state.at(0)[name] = Array::full({}, 0, kLong);
    return saved;
  };
  const auto load = [&param](auto optimizer, const OptimizerState& saved) {
    const std::string message =
        message_of<std::invalid_argument>([&] { optimizer->load_state_dict(saved); });
    const bool loaded = !optimizer->state(param).empty();
    EXPECT_EQ(loaded, message == "no error" && !saved.state.empty()) << message;
    return message;
  };
  const auto into_adam = [&](const OptimizerState& saved) {
    return load(std::make_unique<Adam>(std::vector{param}), saved);
  };
  const auto into_sgd = [&](const OptimizerState& saved) {
    return load(std::make_unique<SGD>(std::vector{param}), saved);
  };
  const std::string in_state = " in the state of parameter 0, got ";
  const struct {
    std::string actual, expected;
  } cases[] = {
      {into_adam(adam), "no error"},
      {into_adam(amsgrad), "no error"},
      {into_adam({.state = {}, .param_groups = adam.param_groups}), "no error"},
      {into_adam(without(adam, "step")), "Adam: expected step" + in_state + "none"},
      {into_adam(without(adam, "exp_avg")), "Adam: expected exp_avg" + in_state + "none"},
      {into_adam(without(adam, "exp_avg_sq")), "Adam: expected exp_avg_sq" + in_state + "none"},
      {into_adam(without(amsgrad, "max_exp_avg_sq")),
       "Adam: expected max_exp_avg_sq" + in_state + "none"},
      {into_adam(with(adam, detail::kOverflows)), "Adam: expected master" + in_state + "none"},
      {into_adam(sgd), "Adam: expected entries that it has" + in_state + "momentum_buffer"},
      {into_sgd(sgd), "no error"},
      {into_sgd(without(sgd, "step")), "SGD: expected step" + in_state + "none"},
      {into_sgd(adam), "SGD: expected entries that it has" + in_state + "exp_avg"},
  };
  for (const auto& c : cases) EXPECT_EQ(c.actual, c.expected);
}

// A changed option may leave entries behind that the next update has no use for.
TEST(Optimizer, LoadsTheStateThatAChangedOptionLeft) {
  Tensor param = parameter({1});
  SGD sgd({param}, {.momentum = 0.5});
  give_grad(param, {1});
  sgd.step();
  sgd.param_groups()[0].momentum = 0;
  SGD other({param});
  other.load_state_dict(sgd.state_dict());
  EXPECT_TRUE(other.state(param).contains("momentum_buffer"));
}

// A schedule that goes down to 0 may end a roundoff below it.
TEST(Optimizer, LoadsAnyLearningRateButNoOtherOptionOutOfRange) {
  SGD sgd({parameter({1})}), other({parameter({1})});
  sgd.param_groups()[0].lr = -5e-21;
  other.load_state_dict(sgd.state_dict());
  EXPECT_EQ(other.param_groups()[0].lr, -5e-21);
  sgd.param_groups()[0].momentum = -1;
  EXPECT_EQ(message_of<std::invalid_argument>([&] { other.load_state_dict(sgd.state_dict()); }),
            "SGD: expected momentum >= 0, got -1");
}

}  // namespace
}  // namespace halfgrad::optim
