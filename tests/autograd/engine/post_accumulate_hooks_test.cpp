#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/checkpoint.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/gradient_hooks.h>
#include <halfgrad/autograd/graph/post_accumulate.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>

namespace halfgrad {
namespace {

using autograd::register_post_accumulate_grad_hook;

Tensor hooked_leaf(double value) { return full({2}, value, {.requires_grad = true}); }

TEST(PostAccumulateHooks, SeeTheSumOfAllUsesAndOfEarlierPasses) {
  const Tensor x = hooked_leaf(1);
  std::vector<double> seen;
  HookHandle handle = register_post_accumulate_grad_hook(x, [&](const Tensor& leaf) {
    EXPECT_TRUE(leaf.is_same(x));
    seen.push_back(leaf.grad()[0].item());
  });
  sum(tanh(x * 0) + x * 3 + x * 4).backward();
  sum(x * 1).backward();
  EXPECT_EQ(seen, (std::vector<double>{7, 8}));
  handle.remove();
  sum(x * 1).backward();
  EXPECT_EQ(seen.size(), 2);
}

TEST(PostAccumulateHooks, RunWhileThePassGoesOn) {
  const Tensor first = hooked_leaf(1), second = hooked_leaf(2), last = hooked_leaf(3),
               plain = hooked_leaf(4);
  std::vector<std::string> order;
  const auto note = [&](const Tensor& x, const std::string& name) {
    return register_post_accumulate_grad_hook(
        x, [&order, name](const Tensor&) { order.push_back(name); });
  };
  auto a = note(first, "first"), b = note(second, "second"), c = note(last, "last");
  const Tensor hidden = exp(first * plain);
  hidden.register_hook([&](const Tensor&) {
    order.push_back("hidden");
    EXPECT_TRUE(last.grad().defined());
    EXPECT_FALSE(plain.grad().defined()) << "leaves without a hook wait for the end";
  });
  sum(exp(hidden * second) * last).backward();
  EXPECT_EQ(order, (std::vector<std::string>{"last", "second", "hidden", "first"}));
  EXPECT_TRUE(plain.grad().defined());
}

TEST(PostAccumulateHooks, WaitForALeafThatIsUsedAgainInAnEarlierLayer) {
  const Tensor w = hooked_leaf(2);
  int calls = 0;
  auto handle = register_post_accumulate_grad_hook(w, [&](const Tensor& x) {
    ++calls;
    EXPECT_EQ(x.grad()[1].item(), 3 * 4);  // the derivative of w^3
  });
  sum(w * (w * (w * 1))).backward();
  EXPECT_EQ(calls, 1);
}

TEST(PostAccumulateHooks, RunOnceForAWeightOfACheckpoint) {
  const Tensor w = hooked_leaf(2), x = hooked_leaf(5);
  std::vector<double> seen;
  auto handle = register_post_accumulate_grad_hook(
      w, [&](const Tensor& leaf) { seen.push_back(leaf.grad()[0].item()); });
  const Tensor y = utils::checkpoint([w](const Tensor& input) { return input * w; }, x);
  sum(y * w).backward();
  EXPECT_EQ(seen, std::vector<double>{2 * 2 * 5});
}

TEST(PostAccumulateHooks, RunForInputsOfBackwardButNotForGrad) {
  const Tensor x = hooked_leaf(1), y = hooked_leaf(1);
  int calls = 0;
  auto of_x = register_post_accumulate_grad_hook(x, [&](const Tensor&) { ++calls; });
  auto of_y = register_post_accumulate_grad_hook(y, [&](const Tensor&) { calls += 10; });
  autograd::grad({sum(x * y)}, {x, y});
  EXPECT_EQ(calls, 0);
  sum(x * y).backward({}, std::nullopt, false, {x});
  EXPECT_EQ(calls, 1);
}

TEST(PostAccumulateHooks, SkipLeavesThatNoGradientReachesOrThatAreFrozen) {
  const Tensor used = hooked_leaf(1), unused = hooked_leaf(1), frozen = hooked_leaf(1);
  std::string order;
  auto a = register_post_accumulate_grad_hook(used, [&](const Tensor&) { order += "used"; });
  auto b = register_post_accumulate_grad_hook(unused, [&](const Tensor&) { order += "unused"; });
  auto c = register_post_accumulate_grad_hook(frozen, [&](const Tensor&) { order += "frozen"; });
  const Tensor y = sum(used * frozen);
  frozen.requires_grad_(false);
  y.backward();
  EXPECT_EQ(order, "used");
}

// W = W - 0.1 dW in the hook, while the layers before still wait for their gradients.
TEST(PostAccumulateHooks, MayUpdateTheLeaf) {
  const auto train = [](bool in_hook) {
    manual_seed(0);
    std::vector<Tensor> weights;
    for (int i = 0; i < 4; ++i) weights.push_back(randn({8, 8}).requires_grad_());
    const auto update = [](const Tensor& w) {
      const NoGradGuard no_grad;
      w.sub_(w.grad() * 0.1);
      w.set_grad({});
    };
    std::vector<HookHandle> handles;
    for (const Tensor& w : weights) {
      if (in_hook) handles.push_back(register_post_accumulate_grad_hook(w, update));
    }
    for (int step = 0; step < 3; ++step) {
      Tensor x = ones({5, 8});
      for (const Tensor& w : weights) x = relu(linear(x, w));
      mean(x).backward();
      for (const Tensor& w : weights) {
        if (!in_hook) update(w);
      }
    }
    std::vector<std::vector<float>> values;
    for (const Tensor& w : weights) values.push_back(w.to_vector<float>());
    return values;
  };
  EXPECT_EQ(train(true), train(false));
}

TEST(PostAccumulateHooks, CostNothingWhereNoLeafHasOne) {
  EXPECT_FALSE(detail::FinalLeaves::are_wanted());
  {
    const Tensor x = hooked_leaf(1);
    register_post_accumulate_grad_hook(x, [](const Tensor&) {});
    EXPECT_TRUE(detail::FinalLeaves::are_wanted());
  }
  EXPECT_FALSE(detail::FinalLeaves::are_wanted()) << "the hook ends with its leaf";
}

TEST(PostAccumulateHooks, MayAskForACallAtTheEnd) {
  const Tensor x = hooked_leaf(1), y = hooked_leaf(1);
  std::string order;
  auto a = register_post_accumulate_grad_hook(x, [&](const Tensor&) {
    detail::BackwardEnd::add([&] {
      order += " end";
      detail::BackwardEnd::add([&] { order += " last"; });
    });
    order += "x";
  });
  auto b = register_post_accumulate_grad_hook(y, [&](const Tensor&) { order += " y"; });
  sum(exp(y) * x).backward();
  EXPECT_EQ(order, "x y end last");
}

TEST(PostAccumulateHooks, RefuseOtherTensors) {
  const Tensor x = hooked_leaf(1);
  EXPECT_THROW(register_post_accumulate_grad_hook(x * 2, [](const Tensor&) {}), std::runtime_error);
  EXPECT_THROW(register_post_accumulate_grad_hook(ones({2}), [](const Tensor&) {}),
               std::runtime_error);
}

}  // namespace
}  // namespace halfgrad
