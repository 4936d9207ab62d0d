#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/gradient_hooks.h>
#include <halfgrad/autograd/graph/gradient_memory.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace {

// A linear layer, and memory that is lent to its weight. The gradient of each element of the weight
// is the sum of the inputs of its column: 4 and 6.
class GradientMemoryTest : public testing::Test {
 protected:
  GradientMemoryTest() { detail::lend_gradient_memory(*weight_.impl(), lent_); }

  Tensor loss() const { return sum(linear(x_, weight_, bias_)); }
  static const float* address_of(const Tensor& tensor) { return tensor.data_ptr<float>(); }
  void expect_gradient(const Tensor& gradient, double factor = 1) const {
    const Tensor expected = tensor({{4.0, 6.0}, {4.0, 6.0}, {4.0, 6.0}}, kFloat32) * factor;
    EXPECT_TRUE(equal(gradient, expected));
  }

  const Tensor x_ = tensor({{1.0, 2.0}, {3.0, 4.0}}, kFloat32);
  const Tensor weight_ = ones({3, 2}, {.requires_grad = true});
  const Array lent_ = Array::full({3, 2}, 0, kFloat32, weight_.device());
  const float* const place_ = lent_.data_as<float>();
  const Tensor bias_ = zeros({3}, {.requires_grad = true});
};

TEST_F(GradientMemoryTest, HoldsTheGradient) {
  for (int pass = 0; pass < 2; ++pass) {
    weight_.set_grad({});
    loss().backward();
    EXPECT_EQ(address_of(weight_.grad()), place_) << "pass " << pass;
    expect_gradient(weight_.grad());
  }
}

TEST_F(GradientMemoryTest, LaterPassesAddToIt) {
  loss().backward();
  loss().backward();
  EXPECT_EQ(address_of(weight_.grad()), place_);
  expect_gradient(weight_.grad(), 2);
}

TEST_F(GradientMemoryTest, IsNotTakenWhileSomebodyHoldsAnEarlierGradient) {
  loss().backward();
  const Tensor held = weight_.grad();
  weight_.set_grad({});
  (loss() * 2).backward();
  EXPECT_NE(address_of(weight_.grad()), place_);
  expect_gradient(held);
  expect_gradient(weight_.grad(), 2);
}

TEST_F(GradientMemoryTest, IsNotForTheCallerOfGrad) {
  const Tensor gradient = autograd::grad({loss()}, {weight_})[0];
  EXPECT_NE(address_of(gradient), place_);
  expect_gradient(gradient);
  loss().backward();
  EXPECT_EQ(address_of(weight_.grad()), place_);

  // A pass inside of another one.
  weight_.set_grad({});
  Tensor inner;
  const HookHandle hook = bias_.register_hook([&](const Tensor& g) {
    const AutoGradMode with_graph(true);
    inner = autograd::grad({loss()}, {weight_})[0];
    return g;
  });
  loss().backward();
  EXPECT_NE(address_of(inner), place_);
  expect_gradient(inner);
  expect_gradient(weight_.grad());
}

TEST_F(GradientMemoryTest, ATiedWeightSumsBothGradients) {
  const auto tied = [&] { return loss() + loss() * 3; };
  tied().backward();
  expect_gradient(weight_.grad(), 4);
  weight_.set_grad({});
  tied().backward();
  expect_gradient(weight_.grad(), 4);
}

// A gradient that a hook keeps must not change when the lender writes to the memory.
TEST_F(GradientMemoryTest, AGradientThatAHookKeepsIsCopied) {
  Tensor kept;
  weight_.register_hook([&](const Tensor& gradient) {
    kept = gradient;
    return gradient;
  });
  loss().backward();
  EXPECT_NE(address_of(weight_.grad()), address_of(kept));
  expect_gradient(weight_.grad());
}

TEST_F(GradientMemoryTest, IsFreeAfterItsFlight) {
  loss().backward();
  EXPECT_FALSE(weight_.impl()->gradient_memory->is_in_flight);
  EXPECT_TRUE(detail::is_in_lent_memory(*weight_.impl(), weight_.grad()));
  weight_.set_grad({});
  detail::lend_gradient_memory(*weight_.impl(), {});
  loss().backward();
  EXPECT_NE(address_of(weight_.grad()), place_);
  expect_gradient(weight_.grad());
}

TEST_F(GradientMemoryTest, IsNotForADerivativeOfADerivative) {
  autograd::backward({loss()}, {}, {.create_graph = true});
  EXPECT_NE(address_of(weight_.grad()), place_);
  expect_gradient(weight_.grad());
}

// As after Module::to(), before the lender knows of it.
TEST_F(GradientMemoryTest, OfAnotherDtypeOrDeviceIsNotTaken) {
  const Device device = weight_.device(), other = device == Device() ? Device(kCPU, 1) : Device();
  for (const Array& wrong :
       {Array::full({3, 2}, 0, kFloat64, device), Array::full({3, 2}, 0, kFloat32, other)}) {
    weight_.set_grad({});
    detail::lend_gradient_memory(*weight_.impl(), wrong);
    loss().backward();
    expect_gradient(weight_.grad());
  }
}

}  // namespace
}  // namespace halfgrad
