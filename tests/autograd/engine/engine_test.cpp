#include "engine_test.h"

#include <halfgrad/autograd/backward.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace {

using Backward = GraphOnDevice;
using Grad = GraphOnDevice;
using Hooks = GraphOnDevice;
using Views = GraphOnDevice;
using Anomaly = GraphOnDevice;
HALFGRAD_ON_DEVICES(Backward);
HALFGRAD_ON_DEVICES(Grad);
HALFGRAD_ON_DEVICES(Hooks);
HALFGRAD_ON_DEVICES(Views);
HALFGRAD_ON_DEVICES(Anomaly);

TEST_P(Backward, AccumulatesIntoLeavesAndSumsBroadcastOperands) {
  const Tensor x = leaf({2, 3}, 2);
  const Tensor b = leaf({3}, 5);
  sum(x * b).backward();
  sum(x * b).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), std::vector<double>(6, 10));
  EXPECT_EQ(b.grad().to_vector<double>(), std::vector<double>(3, 8));
}

TEST_P(Backward, SumsTheGradientsOfAllUsesBeforePassingThemOn) {
  const Tensor x = leaf({}, 3);
  const Tensor y = x * x;  // used twice below
  (y * y + y).backward();  // d/dx (x^4 + x^2) = 4 x^3 + 2 x
  EXPECT_EQ(x.grad().item<double>(), 4 * 27 + 6);
}

TEST_P(Backward, TwoLeavesDoNotShareOneGradient) {
  const Tensor a = leaf({2}, 1);
  const Tensor b = leaf({2}, 1);
  sum(a + b).backward();
  a.grad().fill_(7);
  EXPECT_EQ(b.grad().to_vector<double>(), std::vector<double>(2, 1));
}

TEST_P(Backward, RefusesToAddToAGradientOfAnotherShape) {
  struct Change {
    Shape before, after;
  };
  for (const auto& [before, after] :
       std::vector<Change>{{{24}, {2}}, {{2}, {24}}, {{3}, {1}}, {{2, 3}, {3, 2}}}) {
    const Tensor x = leaf(before, 1);
    sum(x * 2).backward();
    x.set_data(full(after, 1));
    const std::string message = message_of<std::runtime_error>([&] { sum(x * 2).backward(); });
    EXPECT_EQ(message,
              "backward: expected a grad() of the leaf's shape " + to_string(after) +
                  " and dtype float32, got " + to_string(before) +
                  " and float32: set_data() has changed the leaf since the last pass; call "
                  "zero_grad() before this one");
    EXPECT_EQ(x.grad().to_vector<double>(), std::vector<double>(numel(before), 2));
    x.set_grad({});
    sum(x * 2).backward();
    EXPECT_EQ(x.grad().to_vector<double>(), std::vector<double>(numel(after), 2));
  }
}

TEST_P(Backward, SkipsLeavesFrozenAfterTheForwardPass) {
  Tensor frozen = leaf({2}, 1), detached = leaf({2}, 1);
  const Tensor kept = leaf({2}, 1);
  const Tensor y = frozen * detached * kept;
  frozen.requires_grad_(false);
  detached.detach_();
  sum(y).backward();
  EXPECT_FALSE(frozen.grad().defined());
  EXPECT_FALSE(detached.grad().defined());
  EXPECT_EQ(kept.grad().to_vector<double>(), std::vector<double>(2, 1));
}

TEST_P(Backward, NeedsAGradientForMoreThanOneElement) {
  const Tensor y = leaf({2}, 1) * 2;
  expect_contains(message_of([&] { y.backward(); }), "[2]");
  y.backward(full({2}, 1));
}

TEST_P(Backward, RefusesATensorOutsideAnyGraph) {
  const Tensor x = full({}, 1);
  expect_contains(message_of([&] { x.backward(); }), "requires grad");
}

TEST_P(Backward, NamesTheOpWhoseGraphWasFreed) {
  const Tensor x = leaf({}, 3);
  const Tensor y = x * x;
  y.backward();
  const std::string message = message_of([&] { y.backward(); });
  expect_contains(message, "mul");
  expect_contains(message, "retain_graph");
}

TEST_P(Backward, RetainedGraphsCanBeUsedAgain) {
  const Tensor x = leaf({}, 3);
  const Tensor y = x * x;
  y.backward({}, true);
  y.backward();
  EXPECT_EQ(x.grad().item<double>(), 12);
}

TEST_P(Backward, CreateGraphGivesHigherDerivatives) {
  const Tensor x = leaf({}, 2, kDouble);
  const Tensor y = x * x * x;
  const Tensor first = autograd::grad({y}, {x}, {}, {.create_graph = true})[0];
  const Tensor second = autograd::grad({first}, {x}, {}, {.create_graph = true})[0];
  const Tensor third = autograd::grad({second}, {x})[0];
  EXPECT_EQ(first.item<double>(), 12);
  EXPECT_EQ(second.item<double>(), 12);
  EXPECT_EQ(third.item<double>(), 6);
  EXPECT_FALSE(x.grad().defined());
}

TEST_P(Backward, CreateGraphMakesLeafGradientsDifferentiable) {
  Tensor x = leaf({}, 3);
  (x * x).backward({}, false, true);
  EXPECT_TRUE(x.grad().requires_grad());
  x.set_grad({});  // breaks the cycle: the graph of x.grad() leads back to x
}

TEST_P(Backward, AHundredThousandOpsDeep) {
  const Tensor x = leaf({}, 1);
  {
    Tensor y = x;
    for (int i = 0; i < 100'000; ++i) y = y * 1.0;
    y.backward();
  }
  EXPECT_EQ(x.grad().item<double>(), 1);
  {
    Tensor never_run = x;
    for (int i = 0; i < 100'000; ++i) never_run = never_run * x;
  }
}

TEST_P(Backward, TwoThreadsOnSeparateGraphsWithSharedLeaves) {
  const Tensor w = leaf({64}, 2);
  constexpr int kSteps = 50;
  const auto work = [&] {
    for (int i = 0; i < kSteps; ++i) sum(w * w).backward();
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(w.grad().to_vector<double>(), std::vector<double>(64, 2 * kSteps * 4.0));
}

TEST_P(Grad, ReturnsGradientsOfLeavesAndIntermediates) {
  const Tensor x = leaf({}, 3);
  const Tensor y = x * x;
  const Tensor z = y * 5;
  const auto gradients = autograd::grad({z}, {x, y});
  EXPECT_EQ(gradients[0].item<double>(), 30);
  EXPECT_EQ(gradients[1].item<double>(), 5);
}

TEST_P(Grad, UnusedInputsAreAnErrorUnlessAllowed) {
  const Tensor x = leaf({}, 3);
  const Tensor unused = leaf({}, 3);
  expect_contains(message_of([&] { autograd::grad({x * x}, {x, unused}); }), "allow_unused");
  const auto gradients = autograd::grad({x * x}, {x, unused}, {}, {.allow_unused = true});
  EXPECT_FALSE(gradients[1].defined());
}

TEST_P(Grad, DoesNotFreeTheRestOfTheGraph) {
  const Tensor x = leaf({}, 3);
  const Tensor w = leaf({}, 2);
  const Tensor h = w * w;
  const Tensor y = x * h;
  autograd::grad({y}, {x}, {}, {.retain_graph = false});
  h.backward();  // not on the way to x: its saved tensors are still there
  EXPECT_EQ(w.grad().item<double>(), 4);
}

TEST_P(Hooks, SeeAndReplaceTheCompleteGradient) {
  Tensor x = leaf({}, 3);
  const Tensor y = x * 2;
  double seen = 0;
  HookHandle on_y = y.register_hook([&](const Tensor& g) {
    seen = g.item();
    return g * 10;
  });
  HookHandle on_x = x.register_hook([](const Tensor& g) { return g + 1; });
  (y * y).backward({}, true);
  EXPECT_EQ(seen, 12);
  EXPECT_EQ(x.grad().item<double>(), 12 * 10 * 2 + 1);
  on_y.remove();
  on_x.remove();
  x.set_grad({});
  (y * y).backward();
  EXPECT_EQ(x.grad().item<double>(), 24);
}

TEST_P(Hooks, RetainGradKeepsTheGradientOfAnIntermediate) {
  const Tensor x = leaf({}, 3);
  Tensor y = x * 2;
  y.retain_grad();
  (y * y).backward();
  EXPECT_EQ(y.grad().item<double>(), 12);
}

TEST_P(Hooks, RetainGradFollowsInPlaceChanges) {
  const Tensor x = leaf({2}, 3);
  Tensor y = x * 2;
  Tensor part = y.select(0, 0);
  y.retain_grad();
  part.retain_grad();
  y.mul_(3);
  sum(y * y + part).backward();
  EXPECT_EQ(y.grad().to_vector<double>(), (std::vector<double>{38, 36}));
  EXPECT_EQ(part.grad().item<double>(), 2);
}

TEST(Modes, NoGradAndEnableGradNest) {
  const Tensor x = leaf({}, 3);
  const NoGradGuard off;
  EXPECT_FALSE((x * x).requires_grad());
  {
    const EnableGradGuard on;
    EXPECT_TRUE((x * x).requires_grad());
  }
  EXPECT_FALSE(GradMode::is_enabled());
}

TEST(Modes, BelongToTheirThread) {
  const NoGradGuard off;
  bool enabled_there = false;
  std::thread([&] { enabled_there = GradMode::is_enabled(); }).join();
  EXPECT_TRUE(enabled_there);
}

TEST(Modes, InferenceTensorsCannotBeSavedForBackward) {
  Tensor made_inside;
  {
    const InferenceMode inference;
    made_inside = full({}, 2.0);
    EXPECT_FALSE((leaf({}, 1) * 2).requires_grad());
  }
  EXPECT_TRUE(made_inside.is_inference());
  expect_contains(message_of([&] { leaf({}, 3) * made_inside; }), "InferenceMode");
  EXPECT_TRUE((leaf({}, 3) + made_inside).requires_grad());
  const Tensor view = made_inside.view({1});
  EXPECT_TRUE(view.is_inference());
  expect_contains(message_of([&] { leaf({}, 3) * view; }), "InferenceMode");
  expect_contains(message_of([&] { made_inside.requires_grad_(); }), "InferenceMode");
  expect_contains(message_of([&] { made_inside.add_(1); }), "add_: expected a tensor made outside");
  const InferenceMode again;
  EXPECT_EQ(made_inside.add_(1).item(), 3);
}

TEST_P(Views, PassGradientsBackToTheirBase) {
  const Tensor x = leaf({2, 3}, 1);
  const Tensor y = x.t().slice(0, 1, 3).select(1, 0).unsqueeze(0).expand({4, 2});
  sum(y * 2).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{0, 8, 8, 0, 0, 0}));
}

TEST(Grad, RefusesAnEmptyListOfInputs) {
  const Tensor x = leaf({}, 1);
  EXPECT_EQ(message_of([&] { autograd::grad({x * 2}, {}); }),
            "grad: expected inputs, got an empty list");
}

TEST(Leaf, OnlyFloatingPointCanRequireGrad) {
  Tensor x = full({}, 3);
  expect_contains(message_of([&] { x.requires_grad_(); }), "int64");
}

struct NanBackward : autograd::Function<NanBackward> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          autograd::variable_list grads) {
    return {grads[0] * std::nan("")};
  }
};

TEST_P(Anomaly, NamesTheForwardOp) {
  const Tensor x = leaf({}, 1);
  NanBackward::apply(x).backward();
  EXPECT_TRUE(std::isnan(x.grad().item<double>()));
  const Tensor y = NanBackward::apply(x);
  const autograd::DetectAnomalyGuard detect;
  expect_contains(message_of([&] { y.backward(); }), "NanBackward");
}

}  // namespace
}  // namespace halfgrad
