// Masks of scaled_dot_product_attention: their gradient, and what they hide.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <halfgrad/autograd/attention.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/ops/attention_test.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

using AttentionMask = AttentionTest;
HALFGRAD_ON_DEVICES(AttentionMask);

// The gradient of a mask is that of the scores.
TEST_P(AttentionMask, HasAGradientOfAFloatMask) {
  const Tensor q = drawn({2, 5, 4}, 1, kDouble), k = drawn({2, 6, 4}, 2, kDouble);
  const Tensor v = drawn({2, 6, 3}, 3, kDouble);
  const Tensor mask = drawn({5, 6}, 4, kDouble).requires_grad_();
  const Tensor dy = drawn({2, 5, 3}, 5, kDouble);
  const auto loss = [&](const Tensor& m) {
    return (scaled_dot_product_attention(q, k, v, m) * dy).sum().item();
  };
  (scaled_dot_product_attention(q, k, v, mask) * dy).sum().backward();
  for (const std::int64_t i : {0, 7, 29}) {
    Doubles step(30, 0);
    step[static_cast<std::size_t>(i)] = 0x1p-18;
    const Tensor change = elements(step).view({5, 6});
    const double slope = (loss(mask.detach() + change) - loss(mask.detach() - change)) / 0x1p-17;
    EXPECT_NEAR(elements(mask.grad())[static_cast<std::size_t>(i)], slope, 1e-8);
  }
}

TEST_P(AttentionMask, AQueryThatSeesNoKeyGetsZeros) {
  const Tensor q = drawn({3, 4}, 1, kFloat).requires_grad_();
  const Tensor k = drawn({5, 4}, 2, kFloat), v = drawn({5, 4}, 3, kFloat);
  const Tensor seen = elements({1, 0, 1}, kFloat).view({3, 1});
  const Tensor masks[] = {seen != 0, log(seen)};
  for (const Tensor& mask : masks) {
    const Tensor y = scaled_dot_product_attention(q, k, v, mask);
    EXPECT_EQ(elements(y[1]), Doubles(4, 0));
    EXPECT_TRUE(equal(y[0], scaled_dot_product_attention(q, k, v)[0]));
    q.set_grad({});
    y.backward(ones_like(y));
    EXPECT_EQ(elements(q.grad()[1]), Doubles(4, 0));
    EXPECT_NE(elements(q.grad()[0]), Doubles(4, 0));
  }
}

// The value is inf where the query does not look, and overflow elsewhere is not hidden.
TEST_P(AttentionMask, AHiddenKeyTakesNoPart) {
  for (const DType dtype : {kFloat, kHalf, kBFloat16}) {
    const Tensor q = drawn({2, 4}, 1, dtype).requires_grad_();
    const Tensor k = drawn({2, 4}, 2, dtype).requires_grad_();
    const Tensor v = elements({1, 2, kInf, kNan}, dtype).view({2, 2}).requires_grad_();
    const Tensor y = scaled_dot_product_attention(q, k, v, {}, 0, true);
    EXPECT_EQ(elements(y[0]), (Doubles{1, 2}));
    EXPECT_EQ(elements(y[1])[0], kInf);
    EXPECT_TRUE(std::isnan(elements(y[1])[1]));
    y.backward(elements({1, 1, 0, 0}, dtype).view({2, 2}));
    EXPECT_EQ(elements(q.grad()[0]), Doubles(4, 0));
  }
}

// An infinite value in the second of three tiles, which all but three queries do not see.
TEST_P(AttentionMask, AHiddenKeyOfALaterTileTakesNoPart) {
  for (const DType dtype : {kHalf, kBFloat16}) {
    const Tensor q = drawn({130, 8}, 1, dtype), k = drawn({130, 8}, 2, dtype);
    const Tensor finite = drawn({130, 8}, 3, dtype), v = finite.clone();
    v[127].fill_(kInf);
    const Tensor y = scaled_dot_product_attention(q, k, v, {}, 0, true);
    const Tensor expected = scaled_dot_product_attention(q, k, finite, {}, 0, true);
    expect_near(y.slice(0, 0, 127), expected.slice(0, 0, 127).to(kDouble), 2);
    EXPECT_EQ(elements(y.slice(0, 127)), Doubles(3 * 8, kInf));
  }
}

}  // namespace
}  // namespace halfgrad
