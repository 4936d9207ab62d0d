#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad {
namespace {

Tensor leaf(double value) { return full({2}, value, {.requires_grad = true}); }

TEST(HooksOf, LeavesMayRemoveThemselves) {
  const Tensor x = leaf(1);
  HookHandle once([] {});
  once = x.register_hook([&](const Tensor& g) {
    once.remove();
    return g * 10;
  });
  x.register_hook([](const Tensor& g) { return g + 1; });
  sum(x * 3).backward();
  EXPECT_EQ(x.grad()[0].item(), 31);
  sum(x * 3).backward();
  EXPECT_EQ(x.grad()[0].item(), 31 + 4);
}

TEST(HooksOf, NodesMayRemoveThemselvesAndAddOthers) {
  const Tensor x = leaf(1);
  const Tensor y = x * 1;
  HookHandle once([] {});
  once = y.register_hook([&](const Tensor& g) {
    once.remove();
    for (int i = 0; i < 100; ++i) y.register_hook([](const Tensor& grad) { return grad * 0; });
    return g * 10;
  });
  y.register_hook([](const Tensor& g) { return g + 1; });
  sum(y * 3).backward();
  EXPECT_EQ(x.grad()[0].item(), 31);
}

TEST(HooksOf, LeavesRunInGradToo) {
  const Tensor x = leaf(1);
  x.register_hook([](const Tensor& g) { return g * 2; });
  EXPECT_EQ(autograd::grad({sum(x * 3)}, {x})[0][1].item(), 6);
}

// The optimizer would read beyond a smaller gradient.
TEST(HooksOf, MustKeepShapeAndDType) {
  const Tensor x = leaf(1);
  const Tensor y = x * 1;
  for (const Tensor& watched : {x, y}) {
    for (const auto& hook : std::vector<std::function<Tensor(const Tensor&)>>{
             [](const Tensor& g) { return g.slice(0, 0, 1) * 1; },
             [](const Tensor& g) { return g.sum(); }, [](const Tensor& g) { return g.to(kHalf); },
             [](const Tensor& g) {
               return cat({g, g});
             }}) {
      HookHandle handle = watched.register_hook(hook);
      EXPECT_THROW(sum(y * 3).backward({}, true), std::runtime_error);
      handle.remove();
    }
  }
  EXPECT_FALSE(x.grad().defined());
  sum(y * 3).backward();
  EXPECT_EQ(x.grad()[0].item(), 3);
}

TEST(UndefinedTensors, AreRefusedByName) {
  const Tensor condition = ones({2}, kBool);
  EXPECT_THROW(where(condition, Tensor(), ones({2})), std::runtime_error);
  EXPECT_THROW(where(condition, ones({2}), Tensor()), std::runtime_error);
  EXPECT_THROW(Tensor().detach_(), std::runtime_error);
  const Tensor none, x = leaf(1);
  EXPECT_THROW(x.grad() * 2, std::runtime_error);
  EXPECT_THROW(none + x, std::runtime_error);
  EXPECT_THROW(cat({x, none}), std::runtime_error);
  EXPECT_THROW(none.dim(), std::runtime_error);
  EXPECT_THROW(none.requires_grad(), std::runtime_error);
  EXPECT_THROW(none.backward(), std::runtime_error);
  EXPECT_THROW(autograd::grad({sum(x)}, {none}), std::runtime_error);
  EXPECT_THROW(Tensor().set_grad({}), std::runtime_error);
  EXPECT_THROW(Tensor().zero_(), std::runtime_error);
}

}  // namespace
}  // namespace halfgrad
