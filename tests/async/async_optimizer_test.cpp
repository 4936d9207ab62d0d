#include <halfgrad/async/async_optimizer.h>

#include <cmath>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/optim/adamw.h>
#include <halfgrad/optim/lr_scheduler.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/message_of.h>

#include <halfgrad/tests/optim/parameters.h>

namespace halfgrad::optim {
namespace {

using testing::give_grad;
using testing::parameter;
using testing::tensor_of;
using testing::values;
using Values = std::vector<double>;

/// Minimizes p^2 / 2 from p = 8 with lr 1/4: every value is exact. If each gradient is one update
/// old, then p(k+1) = p(k) - p(k-1) / 4, whose characteristic equation r^2 = r - 1/4 has the double
/// root 1/2.
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

TEST(AsyncOptimizer, KeepsStateGroupsAndSchedules) {
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
    EXPECT_TRUE(p.grad().defined());  // the failed call did nothing
    p.set_grad({});
  }
  backward();
  EXPECT_EQ(message_of<std::runtime_error>([&] { optimizer.step(fail, false); }), "clip: no norm");
  EXPECT_EQ(p.item(), 8);
  backward();
  optimizer.step(nullptr, false);
  EXPECT_EQ(p.item(), 6);
}

// Changes made before a failure stay, also in the model.
TEST(AsyncOptimizer, AnUpdateBeforeAFailureReachesTheModel) {
  for (const DType dtype : {DType::f32, DType::f16}) {
    Tensor p = parameter({8}, dtype);
    SGD sgd({p}, {.lr = 1});
    AsyncOptimizer optimizer(sgd);
    give_grad(p, {3});
    EXPECT_THROW(optimizer.step(
                     [](Optimizer& o) {
                       o.step();
                       throw std::runtime_error("afterwards");
                     },
                     /*is_async=*/false),
                 std::runtime_error);
    optimizer.synchronize();
    EXPECT_EQ(p.item(), 5);
    EXPECT_EQ(Tensor(optimizer.state_dict().parameters[0]).item(), 5);
  }
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

TEST(AsyncOptimizer, DestructorLeavesTheResultBesideAFailure) {
  const auto thread = std::make_shared<UpdateThread>();
  Tensor p = parameter({8}, DType::f32), q = parameter({8}, DType::f32);
  SGD of_q({q}, {.lr = 1});
  AsyncOptimizer failing(of_q, thread);
  const auto destroy_beside = [&](const AsyncOptimizer::StepFunction& step_fn) {
    ::testing::internal::CaptureStderr();
    {
      SGD of_p({p}, {.lr = 1});
      AsyncOptimizer optimizer(of_p, thread);
      give_grad(p, {3});
      optimizer.step();
      failing.step(step_fn);
    }
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(destroy_beside([](Optimizer&) { throw std::runtime_error("too late"); }),
            "halfgrad: AsyncOptimizer: too late\n");
  EXPECT_EQ(p.item(), 5);
  EXPECT_EQ(destroy_beside([](Optimizer&) { throw 3; }),
            "halfgrad: AsyncOptimizer: an exception that is no std::exception\n");
  EXPECT_EQ(p.item(), 2);
}

TEST(AsyncOptimizer, GroupsMayBeEmpty) {
  Tensor p = parameter({8}, DType::f32);
  SGD sgd(std::vector<ParamGroup>{{}, {.params = {p}}}, {.lr = 1});
  AsyncOptimizer optimizer(sgd);
  give_grad(p, {3});
  optimizer.step(nullptr, false);
  EXPECT_EQ(p.item(), 5);
}

// Slices of one storage share its version.
TEST(AsyncOptimizer, ParametersMayShareAStorage) {
  const Tensor whole = tensor_of({8, 8}, DType::f32);
  Tensor p = Tensor(whole.array().slice(0, 0, 1)).requires_grad_();
  Tensor q = Tensor(whole.array().slice(0, 1, 2)).requires_grad_();
  SGD sgd({p, q}, {.lr = 1});
  AsyncOptimizer optimizer(sgd);
  for (int step = 0; step < 4; ++step) {
    give_grad(p, {1});
    give_grad(q, {2});
    optimizer.step();
  }
  optimizer.synchronize();
  EXPECT_EQ(values(whole), (Values{4, 0}));
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

// The wrapped optimizer's step() would change nothing: only AsyncOptimizer::step() gives its
// parameters gradients.
TEST(AsyncOptimizer, StepOfTheWrappedOptimizerNamesTheRightOne) {
  Tensor p = parameter({8}, DType::f32);
  SGD sgd({p}, {.lr = 1});
  const std::string expected =
      "step: expected a call by a step function, since an AsyncOptimizer owns this SGD, got one "
      "outside; call AsyncOptimizer::step";
  {
    AsyncOptimizer optimizer(sgd);
    give_grad(p, {3});
    EXPECT_EQ(message_of<std::runtime_error>([&] { sgd.step(); }), expected);
    bool called = false;
    EXPECT_EQ(message_of<std::runtime_error>([&] {
                sgd.step([&] {
                  called = true;
                  return ones({});
                });
              }),
              expected);
    EXPECT_FALSE(called);
    const Array found_inf = Array::full({}, 0, kFloat);
    EXPECT_EQ(message_of<std::runtime_error>([&] {
                sgd.step(StepControl{nullptr, &found_inf});
              }),
              expected);
    EXPECT_EQ(sgd.steps(), 0);
    optimizer.step([](Optimizer& o) { o.step(); }, /*is_async=*/false);
    EXPECT_EQ(p.item(), 5);
  }
  EXPECT_NO_THROW(sgd.step());  // no AsyncOptimizer owns it any more
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
