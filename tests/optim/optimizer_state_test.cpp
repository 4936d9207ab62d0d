#include <halfgrad/optim/optimizer.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/optim/adam.h>
#include <halfgrad/optim/loaded_state.h>
#include <halfgrad/optim/nadam.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/message_of.h>

#include "parameters.h"

namespace halfgrad::optim {
namespace {

using testing::give_grad;
using testing::parameter;

// A copy through state_dict in the middle of a run does not change the rest of the run.
TEST(OptimizerState, ContinuesFromAStateDict) {
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

TEST(OptimizerState, KeepsItsCountsThroughAStateDict) {
  Tensor param = parameter({1});
  SGD sgd({param}), other({param});
  sgd.step();
  other.load_state_dict(sgd.state_dict());
  EXPECT_EQ(other.steps(), 1);
  EXPECT_FALSE(other.skipped_steps().defined());
  const Array inf = full({}, 1, {.dtype = DType::f32}).array();
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

TEST(OptimizerState, LoadingConvertsMomentsButNotTheStep) {
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

// A float32 model is its own master. With a second one it would lose the updates made without it.
TEST(OptimizerState, LoadingDropsTheMasterOfAParameterThatIsNot16Bit) {
  Tensor half = parameter({1, -2}, DType::f16);
  Adam adam({half});
  detail::add_master(adam.state(half), half);
  for (const bool is_stepped : {false, true}) {
    if (is_stepped) {
      give_grad(half, {0.1, 0.2});
      adam.step();
    }
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
      Tensor param = parameter({3, 4}, dtype);
      Adam other({param});
      other.load_state_dict(adam.state_dict());
      const ParamState& state = std::as_const(other).state(param);
      const bool is_narrow = dtype == DType::bf16;
      EXPECT_EQ(state.contains(detail::kMaster), is_narrow) << dtype;
      EXPECT_EQ(state.contains(detail::kOverflows), is_narrow) << dtype;
      EXPECT_EQ(state.contains("exp_avg"), is_stepped) << dtype;
      if (is_stepped) {
        EXPECT_EQ(state.at("exp_avg").dtype(), is_narrow ? DType::f32 : dtype);
      }
      give_grad(param, {0, 0});
      other.step();
      if (!is_narrow) {
        EXPECT_NEAR(param.to_vector<double>()[0], 3, 2e-3) << "not the master's 1";
      }
    }
  }
}

TEST(OptimizerState, LoadingRejectsAnotherLayout) {
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

// Kernels read counts as float32 or int64. Other programs may save them in another dtype.
TEST(OptimizerState, LoadingConvertsCountsExactly) {
  Tensor param = parameter({1, -2}, DType::f16);
  NAdam nadam({param});
  detail::add_master(nadam.state(param), param);
  const Array no_inf = full({}, 0, {.dtype = DType::f32}).array();
  give_grad(param, {0.1, 0.2});
  nadam.step(StepControl{.found_inf = &no_inf});
  const OptimizerState saved = nadam.state_dict();
  Tensor half = parameter({1, -2}, DType::f16);
  const auto load = [&](const std::string& name, const Array& value) {
    OptimizerState changed = saved;
    (name == "skipped_steps" ? changed.skipped_steps : changed.state.at(0)[name]) = value;
    NAdam other({half});
    const std::string message =
        message_of<std::invalid_argument>([&] { other.load_state_dict(changed); });
    if (message != "no error") {
      EXPECT_TRUE(std::as_const(other).state(half).empty());
      return message;
    }
    const Array& loaded =
        name == "skipped_steps" ? other.skipped_steps() : std::as_const(other).state(half).at(name);
    return name + " " + std::string(halfgrad::name(loaded.dtype())) + " " +
           std::to_string(static_cast<int>(loaded.item()));
  };
  const auto scalar = [](double value, DType dtype) { return Array::full({}, value, dtype); };
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::i64, DType::u8}) {
    EXPECT_EQ(load("step", scalar(5, dtype)), "step float32 5");
    EXPECT_EQ(load("mu_product", scalar(1, dtype)), "mu_product float32 1");
    EXPECT_EQ(load("overflows", scalar(5, dtype)), "overflows int64 5");
    EXPECT_EQ(load("skipped_steps", scalar(5, dtype)), "skipped_steps int64 5");
  }
  EXPECT_EQ(load("step", scalar(16777217, DType::i64)),
            "NAdam: expected a value of step that float32 holds exactly, got 16777217");
  EXPECT_EQ(load("overflows", scalar(0.5, DType::f32)),
            "NAdam: expected a value of overflows that int64 holds exactly, got 0.5");
  EXPECT_EQ(load("skipped_steps", Array::full({1}, 0, DType::i64)),
            "NAdam: expected skipped_steps of shape [], got [1]");
  EXPECT_EQ(load("step", Array::full({2}, 0, DType::f32)),
            "NAdam: expected step of shape [], got [2]");
}

// With the state of another optimizer, or half of its own, it would make other updates.
TEST(OptimizerState, LoadingRejectsAnotherOptimizersState) {
  Tensor param = parameter({1, -2});
  const auto stepped = [&param](auto optimizer) {
    give_grad(param, {0.1, 0.2});
    optimizer->step();
    return optimizer->state_dict();
  };
  const auto adam = stepped(std::make_unique<Adam>(std::vector{param}));
  const auto amsgrad =
      stepped(std::make_unique<Adam>(std::vector{param}, AdamArguments{.amsgrad = true}));
  const auto sgd =
      stepped(std::make_unique<SGD>(std::vector{param}, SGDArguments{.momentum = 0.5}));
  const auto without = [](OptimizerState saved, const char* name) {
    saved.state.at(0).erase(name);
    return saved;
  };
  const auto with = [](OptimizerState saved, const char* name) {
    saved.state.at(0)[name] = full({}, 0, {.dtype = kLong}).array();
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
      {into_adam(sgd), "Adam: expected entries of Adam" + in_state + "momentum_buffer"},
      {into_sgd(sgd), "no error"},
      {into_sgd(without(sgd, "step")), "no error"},
      {into_sgd(without(sgd, "momentum_buffer")),
       "SGD: expected momentum_buffer" + in_state + "none"},
      {into_sgd(adam), "SGD: expected entries of SGD" + in_state + "exp_avg"},
  };
  for (const auto& c : cases) EXPECT_EQ(c.actual, c.expected);
}

// PyTorch saves the momentum_buffer alone.
TEST(OptimizerState, SgdContinuesFromAMomentumBufferWithoutAStep) {
  const SGDArguments options{.lr = 1, .momentum = 0.5, .dampening = 0.25};
  Tensor param = parameter({8});
  SGD sgd({param}, options);
  give_grad(param, {4});
  sgd.step();
  OptimizerState saved = sgd.state_dict();
  saved.state.at(0).erase("step");
  Tensor resumed_param = parameter(testing::values(param));
  SGD resumed({resumed_param}, options);
  resumed.load_state_dict(saved);
  for (int step = 0; step < 2; ++step) {
    give_grad(param, {-2});
    give_grad(resumed_param, {-2});
    sgd.step();
    resumed.step();
    EXPECT_EQ(testing::values(resumed_param), testing::values(param));
  }
}

// A changed option may leave entries that the next update does not use.
TEST(OptimizerState, LoadsEntriesThatAChangedOptionNoLongerUses) {
  Tensor param = parameter({1});
  SGD sgd({param}, {.momentum = 0.5});
  give_grad(param, {1});
  sgd.step();
  sgd.param_groups()[0].momentum = 0;
  SGD other({param});
  other.load_state_dict(sgd.state_dict());
  EXPECT_TRUE(other.state(param).contains("momentum_buffer"));
}

// A schedule that falls to 0 may end a roundoff below it.
TEST(OptimizerState, LoadsAnyLearningRateButNoOtherOptionOutOfRange) {
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
