#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/async/async_optimizer.h>
#include <halfgrad/optim/adamw.h>
#include <halfgrad/optim/sgd.h>

#include <halfgrad/tests/optim/parameters.h>

/// States of an AsyncOptimizer.
namespace halfgrad::optim {
namespace {

using testing::bytes_of;
using testing::give_grad;
using testing::parameter;
using testing::values;
using Values = std::vector<double>;

struct Model {
  Model() = default;
  Model(const Model& other)
      : a(Tensor(other.a.array().clone()).requires_grad_()),
        b(Tensor(other.b.array().clone()).requires_grad_()) {}

  void backward() {
    give_grad(a, {a.to_vector<double>()[0] - 1, 0.3});
    give_grad(b, {b.item() * 2});
  }

  Tensor a = parameter({3, -1}, DType::f16), b = parameter({0.1}, DType::bf16);
};

TEST(AsyncState, StateWhileAStepIsPending) {
  const auto iterate = [](Model& model, AsyncOptimizer& optimizer) {
    model.backward();
    optimizer.step();
  };
  Model model;
  AdamW adamw({model.a, model.b}, {.lr = 0.01});
  AsyncOptimizer optimizer(adamw);
  for (int k = 0; k < 3; ++k) iterate(model, optimizer);
  const AsyncOptimizerState state = optimizer.state_dict();

  Model resumed;
  AdamW resumed_adamw({resumed.a, resumed.b}, {.lr = 1});
  AsyncOptimizer resumed_optimizer(resumed_adamw);
  resumed_optimizer.load_state_dict(state);
  EXPECT_EQ(values(resumed.a), values(model.a));
  for (int k = 0; k < 3; ++k) {
    iterate(model, optimizer);
    iterate(resumed, resumed_optimizer);
  }
  const AsyncOptimizerState end = optimizer.state_dict();
  const AsyncOptimizerState resumed_end = resumed_optimizer.state_dict();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(bytes_of(end.parameters[i]), bytes_of(resumed_end.parameters[i]));
    const auto index = static_cast<std::int64_t>(i);
    for (const auto& [name, array] : end.optimizer.state.at(index)) {
      EXPECT_EQ(bytes_of(array), bytes_of(resumed_end.optimizer.state.at(index).at(name))) << name;
    }
  }
  EXPECT_EQ(values(resumed.b), values(model.b));
}

TEST(AsyncState, StateOfAnotherModelIsRefused) {
  Tensor p = parameter({1, 2}, DType::f16), q = parameter({1}, DType::f16);
  SGD sgd({p}, {}), other_sgd({q}, {});
  AsyncOptimizer optimizer(sgd), other(other_sgd);
  EXPECT_THROW(optimizer.load_state_dict(other.state_dict()), std::invalid_argument);
  EXPECT_EQ(values(p), (Values{1, 2}));
}

// Plain steps, and those of a second AsyncOptimizer, continue the training of the model.
TEST(AsyncState, DestructorGivesTheOptimizerTheModelsParametersBack) {
  for (const DType dtype : {DType::f32, DType::f16}) {
    Tensor p = parameter({8}, dtype), reference = parameter({8}, DType::f32);
    AdamW adamw({p}, {.lr = 0.25}), plain({reference}, {.lr = 0.25});
    const double tolerance = dtype == DType::f32 ? 0 : 4 * 8 * roundoff(dtype);
    const auto expect_step = [&](const auto& step, const char* what) {
      give_grad(p, {3});
      give_grad(reference, {3});
      step();
      plain.step();
      EXPECT_NEAR(p.item(), reference.item(), tolerance) << what << " of " << dtype;
    };
    for (const char* const what : {"first", "second"}) {
      {
        AsyncOptimizer optimizer(adamw);
        expect_step([&] { optimizer.step(nullptr, /*is_async=*/false); }, what);
      }
      EXPECT_TRUE(adamw.param_groups()[0].params[0].is_same(p));
      expect_step([&] { adamw.step(); }, "plain step");
    }
    EXPECT_EQ(std::as_const(adamw).state(p).at("exp_avg").dtype(), dtype);
    EXPECT_EQ(std::as_const(adamw).state(p).at("step").item(), 4);
    adamw.zero_grad();
    EXPECT_FALSE(p.grad().defined());
  }
}

}  // namespace
}  // namespace halfgrad::optim
