#include <halfgrad/autograd/group_norm.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

class GroupNormOp : public TensorsOnDevice {};
HALFGRAD_ON_DEVICES(GroupNormOp);

// One group is layer_norm over all channels; c groups of [n, c, l] normalize each channel alone.
TEST_P(GroupNormOp, IsLayerNormOfGroups) {
  const Tensor x = random_tensor({3, 6, 4}, -1, 3, {1, 2}).to(device());
  EXPECT_TRUE(equal(group_norm(x, 1), layer_norm(x, {6, 4})));
  EXPECT_TRUE(equal(group_norm(x, 6), layer_norm(x, {4})));
  EXPECT_TRUE(equal(group_norm(x, 2), layer_norm(x.view({3, 2, 12}), {12}).view({3, 6, 4})));
  const Tensor pixels = x.view({3, 6, 2, 2});
  EXPECT_TRUE(equal(group_norm(pixels, 3).view({3, 6, 4}), group_norm(x, 3)));
}

// A single element in a group: its deviation is 0, so the result is the bias, as libtorch's.
TEST_P(GroupNormOp, OfSingleElementsIsTheBias) {
  const Tensor x = elements({5, -7}).view({1, 2});
  const Tensor weight = elements({2, 3}), bias = elements({0.25, -4});
  EXPECT_EQ(group_norm(x, 2, weight, bias).to_vector<double>(), (Doubles{0.25, -4}));
}

// 16-bit inputs are rounded once, at the end; the parameters may be float32.
TEST_P(GroupNormOp, RoundsOnce) {
  const Tensor x = random_tensor({2, 8, 33}, -1, 3, {1, 2}).to(device());
  const Tensor weight = random_tensor({8}, -1, 1, {1, 3}).to(device()).to(kFloat);
  const Tensor bias = random_tensor({8}, -1, 1, {1, 4}).to(device()).to(kFloat);
  for (const DType narrow : {kHalf, kBFloat16}) {
    const Tensor y = group_norm(x.to(narrow), 4, weight, bias);
    EXPECT_EQ(y.dtype(), narrow);
    EXPECT_TRUE(equal(y, group_norm(x.to(narrow).to(kFloat), 4, weight, bias).to(narrow)));
  }
}

TEST_P(GroupNormOp, TakesStridedAndEmptyInputs) {
  const Tensor x = random_tensor({4, 6, 5}, -1, 3, {1, 2}).to(device());
  const Tensor turned = x.transpose(0, 2);  // [5, 6, 4]
  EXPECT_TRUE(equal(group_norm(turned, 3), group_norm(turned.contiguous(), 3)));
  EXPECT_EQ(group_norm(x.slice(0, 0, 0), 3).sizes(), Shape({0, 6, 5}));
  EXPECT_EQ(group_norm(x.slice(2, 0, 0), 3).sizes(), Shape({4, 6, 0}));
}

// A NaN or an infinity spoils its own group only.
TEST_P(GroupNormOp, KeepsGroupsApart) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double value : {inf, -inf, std::nan("")}) {
    const Tensor y = group_norm(elements({1, value, 2, 4}).view({1, 4}), 2);
    const Doubles out = y.to_vector<double>();
    EXPECT_TRUE(std::isnan(out[1]));
    EXPECT_NEAR(out[2], -1, 1e-4);
    EXPECT_NEAR(out[3], 1, 1e-4);
  }
}

TEST(GroupNormOnCpu, HasGradients) {
  for (const std::int64_t groups : {1, 2, 6}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return group_norm(in[0], groups, in[1], in[2]);
    };
    expect_gradients(f, {random_leaf({3, 6, 4}, 1), random_leaf({6}, 2), random_leaf({6}, 3)});
  }
}

TEST(GroupNormOnCpu, RefusesOtherOperands) {
  const Tensor x = ones({2, 6, 3});
  EXPECT_THROW(group_norm(ones({6}), 2), std::invalid_argument);
  EXPECT_THROW(group_norm(x, 0), std::invalid_argument);
  EXPECT_THROW(group_norm(x, 4), std::invalid_argument);
  EXPECT_THROW(group_norm(x, 2, ones({3})), std::invalid_argument);
  EXPECT_THROW(group_norm(x, 2, {}, ones({6, 1})), std::invalid_argument);
  EXPECT_THROW(group_norm(x.to(kInt64), 2), std::invalid_argument);
  EXPECT_THROW(group_norm(x, 2, ones({6}).to(kDouble)), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
