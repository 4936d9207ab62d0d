#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/zero_grad.h>
#include <halfgrad/core/graph.h>

#include <halfgrad/tests/devices.h>

// A gradient that stays in 16 bits is a float32 gradient to everything that looks at it.
namespace halfgrad::detail {
namespace {

using Values = std::vector<double>;

class NarrowGradients : public OnDevice {
 protected:
  Tensor leaf() const { return zeros({3}, {.device = device()}).requires_grad_(); }
  // Adds `value` to the gradient of w, which a cast hands on in `dtype`.
  void backward(const Tensor& w, double value, DType dtype = kHalf) const {
    (w.to(dtype) * full({3}, value, {.dtype = dtype, .device = device()})).sum(kFloat).backward();
  }
};
HALFGRAD_ON_DEVICES(NarrowGradients);

TEST_P(NarrowGradients, IsWidenedByTheFirstLook) {
  for (const DType dtype : {kHalf, kBFloat16}) {
    const Tensor w = leaf();
    backward(w, 1.5, dtype);
    const Tensor held = w.grad();
    EXPECT_TRUE(is_narrow(held));
    EXPECT_EQ(gradient_dtype(held), kFloat);
    EXPECT_EQ(narrow_elements(held)->dtype(), dtype);
    EXPECT_EQ(held.dtype(), kFloat);
    EXPECT_FALSE(is_narrow(w.grad()));
    EXPECT_EQ(narrow_elements(held), nullptr);
    EXPECT_TRUE(held.is_same(w.grad()));
    EXPECT_EQ(w.grad().to_vector<double>(), Values(3, 1.5));
  }
}

TEST_P(NarrowGradients, IsLeftToOptimizersOfFloat32Only) {
  const Tensor narrow_leaf = leaf().to(kHalf).detach().requires_grad_();
  (narrow_leaf * Scalar(2)).sum().backward();
  EXPECT_FALSE(is_narrow(narrow_leaf.grad()));
}

// Float32 elements may wait for factors. They are the gradient itself.
TEST_P(NarrowGradients, MayHaveFloat32Elements) {
  for (const bool has_factors : {false, true}) {
    const Tensor w = leaf();
    (w * Scalar(2)).sum().backward();
    const Tensor held = w.grad();
    ASSERT_TRUE(is_narrow(held));
    EXPECT_EQ(narrow_elements(held)->dtype(), kFloat);
    const std::byte* const address = narrow_elements(held)->data();
    if (has_factors) set_factors(held, tensor({0.5F, 0.25F}).to(device()).array());
    EXPECT_EQ(held.array().data(), address);
    EXPECT_FALSE(is_narrow(w.grad()));
    EXPECT_EQ(held.to_vector<double>(), Values(3, has_factors ? 0.25 : 2));
  }
}

// A captured gradient without factors is the memory that each replay writes.
TEST_P(NarrowGradients, FollowReplaysInFloat32) {
  const Tensor w = leaf(), x = ones({3}, {.device = device()});
  const auto backward = [&] {
    w.set_grad({});
    (w * x).sum().backward();
  };
  backward();
  Graph graph(device());
  graph.capture(backward);
  graph.replay();
  EXPECT_EQ(w.grad().to_vector<double>(), Values(3, 1));
  x.fill_(3);
  graph.replay();
  EXPECT_EQ(w.grad().to_vector<double>(), Values(3, 3));
}

TEST_P(NarrowGradients, IsSummedInFloat32) {
  const Tensor w = leaf();
  backward(w, 2048);
  backward(w, 1);  // 2049 is no float16 value
  EXPECT_EQ(w.grad().to_vector<double>(), Values(3, 2049));
}

TEST_P(NarrowGradients, IsMultipliedByItsFactorsWhenItIsWidened) {
  const Tensor w = leaf();
  backward(w, 3);
  const Tensor factors = tensor({0.5F, 0.1F}).to(device());
  set_factors(w.grad(), factors.array());
  EXPECT_TRUE(is_narrow(w.grad()));
  EXPECT_EQ(narrow_elements(w.grad()), nullptr);
  EXPECT_EQ(w.grad().to_vector<double>(), Values(3, static_cast<double>(1.5F * 0.1F)));
}

TEST_P(NarrowGradients, DoesNotFollowACotangentThatChangesLater) {
  const Tensor w = leaf();
  const Tensor cotangent = full({3}, 2, {.dtype = kHalf, .device = device()});
  w.to(kHalf).backward(cotangent);
  const Tensor returned = autograd::grad({w.to(kHalf)}, {w}, {cotangent})[0];
  cotangent.fill_(9);
  EXPECT_EQ(w.grad().to_vector<double>(), Values(3, 2));
  EXPECT_EQ(returned.to_vector<double>(), Values(3, 2));
}

TEST_P(NarrowGradients, IsFloat32ForHooksAndGraphs) {
  const Tensor w = leaf();
  DType seen = kHalf;
  w.register_hook([&seen](const Tensor& gradient) {
    seen = gradient.dtype();
    return gradient * Scalar(2);
  });
  backward(w, 3);
  EXPECT_EQ(seen, kFloat);
  EXPECT_EQ(w.grad().to_vector<double>(), Values(3, 6));
  const Tensor v = leaf();
  (v.to(kHalf) * v.to(kHalf)).sum(kFloat).backward({}, true, true);
  EXPECT_FALSE(is_narrow(v.grad()));
  EXPECT_TRUE(v.grad().requires_grad());
  v.set_grad({});  // a gradient with a graph keeps its leaf alive
}

TEST_P(NarrowGradients, IsZeroedInPlace) {
  const Tensor w = leaf();
  backward(w, 3);
  zero_grad(w, false);
  backward(w, 1);
  EXPECT_EQ(w.grad().to_vector<double>(), Values(3, 1));
}

// An eager gradient is widened before a capture, which would repeat it in every replay.
TEST_P(NarrowGradients, OfAnEagerPassIsNoPartOfAGraph) {
  const Tensor w = leaf();
  backward(w, 1);
  Graph graph(device());
  graph.capture([&] { backward(w, 2); });
  for (int replay = 1; replay < 4; ++replay) {
    graph.replay();
    EXPECT_EQ(w.grad().to_vector<double>(), Values(3, 1 + 2 * replay));
  }
}

TEST_P(NarrowGradients, OfACapturedPassFollowsTheReplays) {
  const Tensor w = leaf();
  const Tensor value = full({3}, 1, {.dtype = kHalf, .device = device()});
  Graph graph(device());
  const auto pass = [&] {
    zero_grad(w, true);
    (w.to(kHalf) * value).sum(kFloat).backward();
  };
  pass();
  graph.capture(pass);
  for (int replay = 1; replay < 4; ++replay) {
    value.array().fill_(replay);
    graph.replay();
    EXPECT_EQ(w.grad().to_vector<double>(), Values(3, replay));
    w.grad().mul_(Scalar(2));  // lasts until the next replay
    EXPECT_EQ(w.grad().to_vector<double>(), Values(3, 2 * replay));
  }
}

}  // namespace
}  // namespace halfgrad::detail
