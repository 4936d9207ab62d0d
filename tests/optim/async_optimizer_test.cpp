#include <halfgrad/optim/async_optimizer.h>

#include <cmath>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/optim/adamw.h>
#include <halfgrad/optim/lr_scheduler.h>
#include <halfgrad/optim/sgd.h>

#include "parameters.h"

namespace halfgrad::optim {
namespace {

using testing::give_grad;
using testing::parameter;
using testing::tensor_of;
using Values = std::vector<double>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

template <class Error, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Values values(const Tensor& tensor) { return tensor.to_vector<double>(); }

std::vector<std::byte> bytes_of(const Array& array) {
  return {array.data(), array.data() + array.numel() * item_size(array.dtype())};
}

/// p^2 / 2 from 8 with step 1/4: every number is exact. The roots of r^2 = r - 1/4, where each
/// update uses the parameter before the last, are 1/2 twice.
double closed_form(int k, bool is_async) {
  return is_async ? (8 + 4 * k) * std::exp2(-k) : 8 * std::pow(0.75, k);
}

TEST(AsyncOptimizer, StalenessOfAQuadraticInClosedForm) {
  for (const bool is_async : {false, true}) {
    Tensor p = parameter({8}, DType::f32);
    SGD sgd({p}, {.lr = 0.25});
    AsyncOptimizer optimizer(sgd);
    for (int k = 0; k < 10; ++k) {
      EXPECT_EQ(p.item(), closed_form(is_async ? std::max(k - 1, 0) : k, is_async)) << k;
      sum(p * p * 0.5).backward();
      optimizer.step(nullptr, is_async);
      EXPECT_FALSE(p.grad().defined());
    }
    optimizer.synchronize();
    EXPECT_EQ(p.item(), closed_form(10, is_async));
  }
}

// Neither a slow update nor a slow caller changes which parameters an iteration uses.
TEST(AsyncOptimizer, StalenessDoesNotDependOnTiming) {
  Tensor p = parameter({8}, DType::f32);
  SGD sgd({p}, {.lr = 0.25});
  AsyncOptimizer optimizer(sgd);
  for (int k = 0; k < 6; ++k) {
    sum(p * p * 0.5).backward();
    std::promise<void> go_on;
    const bool slow_update = k % 2 == 0;
    optimizer.step([slow_update, gate = go_on.get_future().share()](Optimizer& o) {
      if (slow_update) gate.wait();
      o.step();
    });
    if (!slow_update) optimizer.thread().drain();
    EXPECT_EQ(p.item(), closed_form(k, true));
    go_on.set_value();
  }
}

TEST(AsyncOptimizer, SynchronousAndAsynchronousStepsMix) {
  Tensor p = parameter({8}, DType::f32);
  SGD sgd({p}, {.lr = 0.25});
  AsyncOptimizer optimizer(sgd);
  Values expected{8};
  double used = 8;
  for (const bool is_async : {true, false, true, true, false, false, true}) {
    EXPECT_EQ(p.item(), used);
    const double before = expected.back();
    expected.push_back(before - used / 4);
    used = is_async ? before : expected.back();
    sum(p * p * 0.5).backward();
    optimizer.step(nullptr, is_async);
  }
  optimizer.synchronize();
  EXPECT_EQ(p.item(), expected.back());
}

TEST(AsyncOptimizer, Float16GradientsArriveExactly) {
  const Array every = Array::empty({0x10000}, DType::f16);
  for (int bits = 0; bits < 0x10000; ++bits) {
    every.data_as<std::uint16_t>()[bits] = static_cast<std::uint16_t>(bits);
  }
  Tensor p = Tensor(Array::full({0x10000}, 0, DType::f16)).requires_grad_();
  SGD sgd({p}, {});
  AsyncOptimizer optimizer(sgd);
  p.set_grad(Tensor(every.clone()));
  Array arrived;
  optimizer.step([&](Optimizer& o) { arrived = o.param_groups()[0].params[0].grad().array(); },
                 /*is_async=*/false);
  ASSERT_EQ(arrived.dtype(), DType::f32);
  EXPECT_EQ(bytes_of(arrived), bytes_of(every.to(DType::f32)));
}

// 2048 + 1 is 2048 in float16.
TEST(AsyncOptimizer, MicroBatchesAddUpInFloat32) {
  Tensor p = parameter({0}, DType::f16);
  SGD sgd({p}, {});
  AsyncOptimizer optimizer(sgd);
  Values total;
  for (const double gradient : {2048, 1, 1}) {
    give_grad(p, {gradient});
    optimizer.accumulate();
    EXPECT_FALSE(p.grad().defined());
  }
  give_grad(p, {1});
  optimizer.step([&](Optimizer& o) { total = values(o.param_groups()[0].params[0].grad()); });
  give_grad(p, {5});
  optimizer.step([&](Optimizer& o) {
    total.push_back(o.param_groups()[0].params[0].grad().item());  // none is left over
  });
  optimizer.synchronize();
  EXPECT_EQ(total, (Values{2051, 5}));
}

TEST(AsyncOptimizer, UpdatesTooSmallForFloat16AddUp) {
  Tensor p = parameter({1}, DType::f16);
  SGD sgd({p}, {.lr = 0x1p-13});
  AsyncOptimizer optimizer(sgd);
  for (int k = 0; k < 8; ++k) {
    give_grad(p, {1});
    optimizer.step();
  }
  optimizer.synchronize();
  EXPECT_EQ(p.item(), 1 - 0x1p-10);
}

TEST(AsyncOptimizer, WriteBackRoundsToNearestEvenAndReportsOverflow) {
  const struct {
    DType dtype;
    Values exact, rounded;
    std::int64_t overflows;
  } cases[] = {
      {DType::f16,
       {1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1.002p-11, -1 - 0x1p-11, 0x1p-25, 0x1.0002p-25, 65519},
       {1, 1 + 0x1p-9, 1 + 0x1p-10, -1, 0, 0x1p-24, 65504},
       0},
      {DType::f16, {65520, -1e30, kInfinite, 1}, {kInfinite, -kInfinite, kInfinite, 1}, 2},
      {DType::bf16, {1 + 0x1p-8, 1 + 0x3p-8, 0x1.fep127}, {1, 1 + 0x1p-6, 0x1.fep127}, 0},
      {DType::bf16, {0x1.ffp127, 0x1.feffp127}, {kInfinite, 0x1.fep127}, 1},
      {DType::f32, {1 + 0x1p-23, kInfinite}, {1 + 0x1p-23, kInfinite}, 0},
  };
  for (const auto& c : cases) {
    Tensor first = parameter({1}, c.dtype);
    Tensor p = parameter(Values(c.exact.size(), 0), c.dtype);
    SGD sgd({first, p}, {.lr = 1});
    AsyncOptimizer optimizer(sgd);
    for (std::int64_t step = 1; step <= 2; ++step) {
      optimizer.step([&](Optimizer& o) {
        o.param_groups()[0].params[1].array().copy_(tensor_of(c.exact).array());
      });
      optimizer.synchronize();
      EXPECT_EQ(values(p), c.rounded) << name(c.dtype);
      EXPECT_EQ(optimizer.write_back_report().overflows, c.overflows);
      EXPECT_EQ(optimizer.write_back_report().first_parameter, c.overflows > 0 ? 1 : -1);
      EXPECT_EQ(optimizer.write_back_report().total_overflows, step * c.overflows);
    }
  }
}

TEST(AsyncOptimizer, TakesOverStateGroupsAndSchedules) {
  Tensor plain = parameter({1, -2}, DType::f32), p = parameter({1, -2}, DType::f32);
  const auto train = [](Optimizer& adamw, Tensor& param, int from, int to, const auto& step) {
    LambdaLR scheduler(adamw,
                       [](std::int64_t epoch) { return 1.0 / static_cast<double>(1 + epoch); });
    for (int k = from; k < to; ++k) {
      give_grad(param, {0.5 * k, 1.0 - k});
      step([&](Optimizer& o) {
        o.step();
        scheduler.step();
      });
    }
  };
  AdamW expected(std::vector<ParamGroup>{{.params = {plain}, .weight_decay = 0.5}}, {.lr = 0.1});
  AdamW adamw(std::vector<ParamGroup>{{.params = {p}, .weight_decay = 0.5}}, {.lr = 0.1});
  for (auto [optimizer, param] : {std::pair<AdamW*, Tensor*>{&expected, &plain}, {&adamw, &p}}) {
    train(*optimizer, *param, 0, 2, [o = optimizer](const auto& f) { f(*o); });
  }
  AsyncOptimizer optimizer(adamw);
  train(expected, plain, 2, 5, [&](const auto& f) { f(expected); });
  train(adamw, p, 2, 5, [&](const auto& f) { optimizer.step(f, /*is_async=*/false); });
  EXPECT_EQ(values(p), values(plain));
  EXPECT_EQ(adamw.param_groups()[0].lr, expected.param_groups()[0].lr);
}

TEST(AsyncOptimizer, FailureReachesTheNextCallThatWaits) {
  Tensor p = parameter({8}, DType::f32);
  SGD sgd({p}, {.lr = 0.25});
  AsyncOptimizer optimizer(sgd);
  const auto fail = [](Optimizer&) { throw std::runtime_error("clip: no norm"); };
  const auto backward = [&] { sum(p * p * 0.5).backward(); };
  const std::function<void()> waits[] = {
      [&] { optimizer.step(); },
      [&] { optimizer.synchronize(); },
      [&] { optimizer.state_dict(); },
      [&] { optimizer.copy_from_parameters(); },
  };
  for (const auto& wait : waits) {
    backward();
    optimizer.step(fail);
    backward();
    EXPECT_EQ(message_of<std::runtime_error>(wait), "clip: no norm");
    EXPECT_TRUE(p.grad().defined());  // nothing of that call was done
    p.set_grad({});
  }
  backward();
  EXPECT_EQ(message_of<std::runtime_error>([&] { optimizer.step(fail, false); }), "clip: no norm");
  EXPECT_EQ(p.item(), 8);
  backward();
  optimizer.step(nullptr, false);
  EXPECT_EQ(p.item(), 6);
}

TEST(AsyncOptimizer, DestructorCompletesAndReportsAFailure) {
  Tensor p = parameter({8}, DType::f32);
  SGD sgd({p}, {.lr = 1});
  {
    AsyncOptimizer optimizer(sgd);
    give_grad(p, {3});
    optimizer.step();
    EXPECT_EQ(p.item(), 8);
  }
  EXPECT_EQ(p.item(), 5);
  ::testing::internal::CaptureStderr();
  {
    AsyncOptimizer optimizer(sgd);
    optimizer.step([](Optimizer&) { throw std::runtime_error("too late"); });
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "halfgrad: AsyncOptimizer: too late\n");
}

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

TEST(AsyncOptimizer, StateWhileAStepIsPending) {
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

TEST(AsyncOptimizer, StateOfAnotherModelIsRefused) {
  Tensor p = parameter({1, 2}, DType::f16), q = parameter({1}, DType::f16);
  SGD sgd({p}, {}), other_sgd({q}, {});
  AsyncOptimizer optimizer(sgd), other(other_sgd);
  EXPECT_THROW(optimizer.load_state_dict(other.state_dict()), std::invalid_argument);
  EXPECT_EQ(values(p), (Values{1, 2}));
}

TEST(AsyncOptimizer, ChangesOfTheModelByOthersAreNoticed) {
  Tensor p = parameter({8}, DType::f16);
  SGD sgd({p}, {.lr = 1});
  AsyncOptimizer optimizer(sgd);
  give_grad(p, {1});
  optimizer.step();
  {
    const NoGradGuard no_grad;
    p.fill_(20);
  }
  const std::string expected =
      ": expected parameters that only the optimizer changes, got another change of parameter 0";
  for (const std::string method : {"step", "synchronize"}) {
    const std::string got = message_of<std::runtime_error>(
        [&] { method == "step" ? optimizer.step() : optimizer.synchronize(); });
    EXPECT_EQ(got.substr(0, got.find(';')), method + expected);
  }
  EXPECT_EQ(p.item(), 20);
  optimizer.copy_from_parameters();
  give_grad(p, {1});
  optimizer.step(nullptr, false);
  EXPECT_EQ(p.item(), 19);
}

TEST(AsyncOptimizer, ParametersWithoutAGradientStay) {
  Tensor p = parameter({1}, DType::f16), frozen = tensor_of({2}, DType::f16);
  AdamW adamw({p, frozen}, {.lr = 0.5, .weight_decay = 0.5});
  AsyncOptimizer optimizer(adamw);
  optimizer.step(nullptr, false);
  EXPECT_EQ(p.item(), 1);
  give_grad(p, {1});
  optimizer.step(nullptr, false);
  EXPECT_LT(p.item(), 1);
  EXPECT_EQ(frozen.item(), 2);
  EXPECT_EQ(optimizer.state_dict().optimizer.state.size(), 1);
}

}  // namespace
}  // namespace halfgrad::optim
