#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/checkpoint.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/losses.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/table/doubles.h>

// Each gradient is a tensor of its own, of one backward pass, and complete when a hook sees it.
namespace halfgrad {
namespace {

class SeparateGradients : public TensorsOnDevice {
 protected:
  Tensor leaf(const Doubles& values) const { return elements(values).requires_grad_(); }
  using TensorsOnDevice::elements;
};
HALFGRAD_ON_DEVICES(SeparateGradients);

struct Twice : autograd::Function<Twice> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& a, const Tensor& b) {
    return a + b;
  }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list g) {
    return {g[0], g[0]};
  }
};

TEST_P(SeparateGradients, OfLeavesUnderCreateGraphAreNotExpanded) {
  Tensor x = leaf({1, 1, 1});
  x.sum().backward({}, false, true);
  EXPECT_TRUE(x.grad().is_contiguous());
  (x * elements({1, 2, 3})).sum().backward();
  EXPECT_EQ(elements(x.grad()), (Doubles{2, 3, 4}));
}

TEST_P(SeparateGradients, OfLeavesUnderCreateGraphAreNotShared) {
  Tensor x = leaf({1});
  Tensor y = leaf({1});
  Twice::apply(x, y).sum().backward({}, false, true);
  (x * 5 + y * 7).sum().backward();
  EXPECT_EQ(elements(x.grad()), Doubles{6});
  EXPECT_EQ(elements(y.grad()), Doubles{8});

  const Tensor given = elements({1});
  Tensor z = leaf({1});
  z.clone().backward(given, false, true);
  z.clone().backward(given);
  EXPECT_EQ(elements(given), Doubles{1});
  EXPECT_EQ(elements(z.grad()), Doubles{2});
}

TEST_P(SeparateGradients, ExpandedOnesSetByHandAreAddedTo) {
  Tensor x = leaf({1, 1});
  x.set_grad(elements({1}).expand({2}));
  (x * elements({1, 2})).sum().backward();
  EXPECT_EQ(elements(x.grad()), (Doubles{2, 3}));
  EXPECT_THROW(x.set_grad(x), std::invalid_argument);
}

TEST_P(SeparateGradients, RetainedOnesAreCopiesAndCountOnce) {
  Tensor x = leaf({1});
  Tensor y = x * 2;
  y.retain_grad();
  y.retain_grad();
  Tensor z = y.clone();
  z.retain_grad();
  const Tensor given = elements({1});
  z.backward(given);
  EXPECT_EQ(elements(y.grad()), Doubles{1});
  z.grad().mul_(10);
  EXPECT_EQ(elements(y.grad()), Doubles{1});
  EXPECT_EQ(elements(given), Doubles{1});
}

TEST_P(SeparateGradients, HooksOfWeightsSeeTheWholeGradientOfACheckpoint) {
  Tensor a = leaf({1});
  Tensor w = leaf({1});
  int calls = 0;
  w.register_hook([&](const Tensor& gradient) {
    ++calls;
    return gradient * 0.5;
  });
  const auto times_w = [&](const Tensor& x) { return x * w; };
  for (const bool create_graph : {false, true}) {
    w.set_grad({});
    calls = 0;
    (utils::checkpoint(times_w, a) + w * 3).sum().backward({}, false, create_graph);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(elements(w.grad()), Doubles{2});
    w.set_grad({});
    a.set_grad({});
  }
}

TEST_P(SeparateGradients, CheckpointsSkipLeavesFrozenSince) {
  for (const bool create_graph : {false, true}) {
    Tensor a = leaf({2});
    Tensor w = leaf({3});
    const Tensor b = leaf({5});
    const auto product = [&](const Tensor& x) { return x * w * b; };
    const Tensor y = utils::checkpoint(product, a);
    a.requires_grad_(false);
    w.requires_grad_(false);
    y.backward(elements({1}), false, create_graph);
    EXPECT_FALSE(a.grad().defined() || w.grad().defined());
    EXPECT_EQ(elements(b.grad()), Doubles{6});
  }
}

TEST_P(SeparateGradients, GradStopsAtItsInputs) {
  Tensor x = leaf({1});
  int calls = 0;
  x.register_hook([&](const Tensor& gradient) {
    ++calls;
    return gradient;
  });
  const Tensor y = x * x;
  const std::vector<Tensor> dy = autograd::grad({(y * y).sum()}, {y});
  EXPECT_EQ(elements(dy[0]), Doubles{2});
  EXPECT_EQ(calls, 0);
  y.backward(dy[0]);  // from y back to x
  EXPECT_EQ(elements(x.grad()), Doubles{4});
  EXPECT_EQ(calls, 1);

  Tensor w = leaf({3});
  EXPECT_EQ(elements(autograd::grad({(x * w).sum()}, {w})[0]), Doubles{1});
  EXPECT_EQ(calls, 1);

  const Tensor u = w * w;
  const std::vector<Tensor> both = autograd::grad({(u * w).sum()}, {u, w});
  EXPECT_EQ(elements(both[0]), Doubles{3});
  EXPECT_EQ(elements(both[1]), Doubles{27});  // through u too
}

TEST_P(SeparateGradients, ViewsAreReadByManyThreads) {
  for (int round = 0; round < 200; ++round) {
    Tensor w = leaf({2, 3});
    Tensor base = elements({1, 1});
    const Tensor view = base.slice(0, 0, 1);
    base.mul_(w);
    bool recorded[2] = {};
    std::vector<std::thread> threads;
    for (bool& result : recorded) {
      threads.emplace_back([&] { result = (view * 2).requires_grad(); });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(recorded[0] && recorded[1]) << "round " << round;
  }
}

TEST_P(SeparateGradients, OfManyTiesInSixteenBitsAreNotZero) {
  Tensor x = zeros({70000}, in(kHalf)).requires_grad_();
  (x.amax() * 60000).backward();
  EXPECT_NEAR(x.grad()[0].item(), 6.0 / 7, roundoff(kHalf));
  x.set_grad({});
  Tensor y = ones({70000}, in(kHalf)).requires_grad_();
  (norm(y, std::numeric_limits<double>::infinity()) * 60000).backward();
  EXPECT_NEAR(y.grad()[0].item(), 6.0 / 7, roundoff(kHalf));
}

TEST_P(SeparateGradients, OfTargetsThatSumToZeroAreComputed) {
  Tensor x = leaf({0.5, 1}).reshape({1, 2}).detach().requires_grad_();
  const Tensor q = elements({1, -1}).reshape({1, 2});
  for (const bool create_graph : {false, true}) {
    cross_entropy(x, q).backward({}, false, create_graph);
    EXPECT_EQ(elements(x.grad()), (Doubles{-1, 1}));
    x.set_grad({});
  }
}

struct Misshapen : autograd::Function<Misshapen> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& a) { return a * 1; }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list) {
    return {zeros({5})};
  }
};

TEST(GradientsOfAFunction, MustHaveTheShapeOfTheInput) {
  const Tensor x = ones({2}, {.requires_grad = true});
  EXPECT_THROW(Misshapen::apply(x).sum().backward(), std::runtime_error);
}

TEST(StaticTensors, MayHaveAHistoryAtExit) {
  const auto keep_and_leave = [] {
    static Tensor kept;
    const Tensor x = ones({2}, {.requires_grad = true});
    kept = (x * x).sum();
    kept = (x * x + x).sum();  // releases the first one
    std::exit(0);
  };
  GTEST_FLAG_SET(death_test_style,
                 "threadsafe");  // in a new process, without the threads of this one
  EXPECT_EXIT(keep_and_leave(), ::testing::ExitedWithCode(0), "");
}

TEST_P(SeparateGradients, OwnsTheGradientsOfItsInputs) {
  const Tensor a = leaf({1, 1}), b = leaf({1, 1}), gradient = elements({3, 3});
  Twice::apply(a, b).backward(gradient, false, false, {a, b});
  sum(a * 10).backward();
  EXPECT_EQ(elements(a.grad()), (Doubles{13, 13}));
  EXPECT_EQ(elements(b.grad()), (Doubles{3, 3}));
  EXPECT_EQ(elements(gradient), (Doubles{3, 3}));
  a.view({1, 2}).backward(elements({4, 4}).view({1, 2}), false, false, {a, a});
  EXPECT_EQ(elements(a.grad()), (Doubles{17, 17})) << "once, as in PyTorch";
}

TEST_P(SeparateGradients, AddsToTheGradientsOfInputsThatAreNoLeaves) {
  const Tensor x = leaf({1, 1});
  const Tensor y = x * 2, retained = x * 5;
  retained.retain_grad();
  sum(y * y + retained * 3).backward({}, true, false, {y, y, retained, x});
  sum(y).backward({}, false, false, {y});
  EXPECT_EQ(elements(y.grad()), (Doubles{5, 5}));
  EXPECT_EQ(elements(retained.grad()), (Doubles{3, 3}));
  EXPECT_EQ(elements(x.grad()), (Doubles{23, 23}));
}

}  // namespace
}  // namespace halfgrad
