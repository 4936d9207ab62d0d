#include <halfgrad/autograd/attention.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/composed_attention.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>
#include <halfgrad/tests/autograd/ops/attention_test.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

using Attention = AttentionTest;
HALFGRAD_ON_DEVICES(Attention);

// Rows and columns before, in and after a tile of the kernels, which has 32 or 64.
std::vector<AttentionCase> cases() {
  return {{1, 1, 1, 1},
          {5, 7, 6, 3},
          {64, 64, 32, 32},
          {65, 63, 33, 66},
          {1, 130, 16, 16},
          {33, 100, 8, 130, {}},
          {70, 70, 16, 8, {2}, true},
          {40, 100, 4, 4, {2}, true},
          {100, 40, 4, 4, {2}, true},
          {37, 66, 8, 8, {2}, false, 0.3},
          {66, 66, 8, 8, {3}, true, 0.5},
          {9, 70, 8, 8, {2, 3}, false, 0, Shape{9, 70}},
          {9, 70, 8, 8, {2, 3}, false, 0.2, Shape{2, 1, 1, 70}},
          {67, 35, 8, 8, {2, 2}, false, 0, Shape{2, 67, 35}, false},
          {3, 5, 8, 8, {2}, false, 0, Shape{}, false},
          {4, 0, 8, 8},
          {0, 4, 8, 8},
          {4, 6, 0, 8},
          {4, 6, 8, 0},
          {4, 6, 8, 8, {0}}};
}

TEST_P(Attention, SharesKeysAndValuesAmongGroupsOfHeads) {
  const auto draw = [this](const Shape& sizes) { return rand(sizes, {.device = device()}); };
  const Tensor query = draw({2, 6, 5, 4}), key = draw({2, 3, 7, 4}), value = draw({2, 3, 7, 8});
  const Tensor y = scaled_dot_product_attention(query, key, value, {}, 0, true, {}, true);
  for (const int head : {0, 1, 5}) {
    const Tensor alone = scaled_dot_product_attention(
        query.select(1, head), key.select(1, head / 2), value.select(1, head / 2), {}, 0, true);
    EXPECT_TRUE(y.select(1, head).equal(alone)) << head;
  }
  const Tensor four = draw({2, 4, 7, 4});
  EXPECT_THROW(scaled_dot_product_attention(query, four, four, {}, 0, false, {}, true),
               std::invalid_argument);
  EXPECT_THROW(
      scaled_dot_product_attention(query[0][0], key[0][0], key[0][0], {}, 0, false, {}, true),
      std::invalid_argument)
      << "no heads";
}

// A float32 score of 16 terms of up to 4 is off by some 20 roundoffs, and its weight is as much
// off.
TEST_P(Attention, EqualsTheCompositionInFloat64) {
  for (const AttentionCase& c : cases()) {
    for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
      SCOPED_TRACE(named(c) + " in " + std::string(name(dtype)));
      const std::vector<Tensor> expected = composed(c, dtype), actual = fused(c, dtype);
      for (std::size_t i = 0; i < actual.size(); ++i) {
        SCOPED_TRACE(i);
        EXPECT_EQ(actual[i].dtype(), dtype);
        expect_near(actual[i], expected[i], is_reduced(dtype) ? 8 : 64);
      }
    }
  }
}

TEST_P(Attention, HasTheSameBitsAgain) {
  for (const AttentionCase& c :
       {AttentionCase{70, 130, 8, 72, {2}, false, 0.25}, AttentionCase{66, 66, 8, 8, {2}, true}}) {
    for (const DType dtype : {kFloat, kHalf}) {
      const std::vector<Tensor> once = fused(c, dtype), again = fused(c, dtype);
      for (std::size_t i = 0; i < once.size(); ++i) EXPECT_TRUE(equal(once[i], again[i])) << i;
    }
  }
}

// Heads that are a view of one projection, keys that several heads share, and a mask by columns.
TEST_P(Attention, TakesAnyStrides) {
  const Tensor parts = drawn({2, 9, 3, 4, 8}, 1, kFloat).permute({2, 0, 3, 1, 4});
  const Tensor key = drawn({2, 1, 9, 8}, 2, kFloat), mask = drawn({4, 9, 9}, 3, kFloat) > -1;
  const Tensor y =
      scaled_dot_product_attention(parts[0], key, parts[2].flip({-1}), mask.transpose(1, 2));
  const Tensor expected = scaled_dot_product_attention(
      parts[0].contiguous(), key.expand({2, 4, 9, 8}).contiguous(),
      parts[2].flip({-1}).contiguous(), mask.transpose(1, 2).contiguous());
  EXPECT_TRUE(equal(y, expected));
}

TEST_P(Attention, SumsTheGradientOfAnExpandedKey) {
  const Tensor q = drawn({2, 3, 5, 4}, 1, kDouble);
  const Tensor k = drawn({1, 6, 4}, 2, kDouble).requires_grad_();
  const Tensor v = drawn({2, 1, 6, 4}, 3, kDouble).requires_grad_();
  const Tensor whole_k = k.detach().expand({2, 3, 6, 4}).contiguous().requires_grad_();
  const Tensor whole_v = v.detach().expand({2, 3, 6, 4}).contiguous().requires_grad_();
  const Tensor dy = drawn({2, 3, 5, 4}, 4, kDouble);
  scaled_dot_product_attention(q, k, v).backward(dy);
  scaled_dot_product_attention(q, whole_k, whole_v).backward(dy);
  expect_near(k.grad(), whole_k.grad().sum(Shape{0, 1}).unsqueeze(0), 16);
  expect_near(v.grad(), whole_v.grad().sum(Shape{1}).unsqueeze(1), 16);
}

// dp is up to 4e6 here: more than float16 holds, and no reason for an infinite gradient.
TEST_P(Attention, SlopesMayOverflowFloat16) {
  const double large = 32768, small = 0x1p-10;
  Tensor q = elements({small, -small}, kHalf).view({2, 1}).requires_grad_();
  Tensor k = elements({small, -small}, kHalf).view({2, 1}).requires_grad_();
  const Tensor v = elements({large, 0}, kHalf).view({2, 1});
  scaled_dot_product_attention(q, k, v).backward(elements({128, 128}, kHalf).view({2, 1}));
  // Both weights are 1/2 within 2^-20: ds = +-large 128 / 4, and dq = 2 ds small.
  const double dq = 2 * (large * 128 / 4) * small;
  expect_near(q.grad(), elements({dq, dq}).view({2, 1}), 4);
  for (const double dk : elements(k.grad())) EXPECT_NEAR(dk, 0, 0x1p-6);
}

TEST_P(Attention, LargeScoresDoNotOverflow) {
  const Tensor q = elements({3e4, 3e4}, kHalf).view({2, 1});
  const Tensor k = elements({6e4, -6e4}, kHalf).view({2, 1});
  const Tensor v = elements({2, 3}, kHalf).view({2, 1});
  EXPECT_EQ(elements(scaled_dot_product_attention(q, k, v)), (Doubles{2, 2}));
}

// 1 - p of the weights stay, times 1 / (1 - p); the values are the unit matrix, so y has the
// weights.
TEST_P(Attention, DropsWeights) {
  manual_seed(2);
  const Tensor q = zeros({64, 4}, in(kFloat)), k = zeros({64, 4}, in(kFloat));
  const Tensor rows = arange(64, in(kFloat));
  const Tensor eye = (rows.unsqueeze(0) == rows.unsqueeze(1)).to(kFloat);
  const Tensor y = scaled_dot_product_attention(q, k, eye, {}, 0.25);
  manual_seed(2);
  EXPECT_TRUE(equal(y, dropout(full({64, 64}, 1.0 / 64, in(kFloat)), 0.25, true)));
  EXPECT_FALSE(equal(y, scaled_dot_product_attention(q, k, eye, {}, 0.25)));
  EXPECT_EQ(elements(scaled_dot_product_attention(q, k, eye, {}, 1)), Doubles(64 * 64, 0));
}

TEST_P(Attention, ScaleReplacesTheDefault) {
  const Tensor q = drawn({3, 4}, 1, kFloat), k = drawn({5, 4}, 2, kFloat);
  const Tensor v = drawn({5, 4}, 3, kFloat);
  EXPECT_TRUE(equal(scaled_dot_product_attention(q, k, v, {}, 0, false, 0.5),
                    scaled_dot_product_attention(q, k, v)));
  expect_near(scaled_dot_product_attention(q, k, v, {}, 0, false, 0),
              v.mean(Shape{0}).expand({3, 4}), 8);
}

TEST_P(Attention, RefusesOtherOperands) {
  const Tensor q = drawn({3, 4}, 1, kFloat), k = drawn({5, 4}, 2, kFloat);
  const auto refused = [&](const Tensor& query, const Tensor& key, const Tensor& value,
                           const Tensor& mask = {}, double p = 0, bool is_causal = false) {
    EXPECT_THROW(scaled_dot_product_attention(query, key, value, mask, p, is_causal),
                 std::invalid_argument);
  };
  refused(q[0], k, k);
  refused(q, k.slice(1, 0, 3), k);
  refused(q, k, k.slice(0, 0, 4));
  refused(q, k, k.to(kDouble));
  refused(q.to(kInt64), k.to(kInt64), k.to(kInt64));
  refused(q, k, k, zeros({3, 5}, in(kDouble)));
  refused(q, k, k, zeros({3, 5}, in(kHalf)));
  refused(q, k, k, zeros({3, 5}, in(kInt64)));
  refused(q, k, k, zeros({4, 5}, in(kFloat)));
  refused(q, k, k, zeros({2, 3, 5}, in(kFloat)));
  refused(q, k, k, zeros({3, 5}, in(kFloat)), 0, true);
  refused(q, k, k, {}, 1.5);
  refused(q, k, k, {}, std::nan(""));
  EXPECT_NO_THROW(scaled_dot_product_attention(q.to(kHalf), k.to(kHalf), k.to(kHalf),
                                               zeros({3, 5}, in(kFloat))));
}

TEST(AttentionOnCuda, IsOneKernelAndTwoInBackward) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
  const CreationOptions there{.dtype = kHalf, .device = kCUDA, .requires_grad = true};
  const Tensor q = rand({2, 3, 70, 16}, there), k = rand({2, 3, 70, 16}, there);
  const Tensor v = rand({2, 3, 70, 16}, there),
               dy = rand({2, 3, 70, 16}, {.dtype = kHalf, .device = kCUDA});
  const std::int64_t before = detail::launches;
  const Tensor y = scaled_dot_product_attention(q, k, v, {}, 0.1, true);
  EXPECT_EQ(detail::launches - before, 1);
  y.backward(dy);
  EXPECT_EQ(detail::launches - before, 3);
}

// Second derivatives drop the same weights.
TEST(AttentionOnCpu, GradientsPassThroughTheSameMask) {
  const RandomKey state = default_generator().get_state();
  const auto f = [&](const std::vector<Tensor>& in) {
    default_generator().set_state({5, 0});
    return scaled_dot_product_attention(in[0], in[1], in[2], {}, 0.4, true);
  };
  const std::vector<Tensor> leaves{random_leaf({2, 3, 4}, 1), random_leaf({2, 5, 4}, 2),
                                   random_leaf({2, 5, 2}, 3)};
  expect_gradients(f, leaves);
  expect_second_gradients(f, leaves);
  default_generator().set_state(state);
}

}  // namespace
}  // namespace halfgrad
