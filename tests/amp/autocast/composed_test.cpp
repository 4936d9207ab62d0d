#include <cmath>
#include <limits>
#include <tuple>

#include <gtest/gtest.h>

#include <halfgrad/halfgrad.h>

// Dtypes of composed functions under autocast: those of torch.autocast on CUDA, whose lists are in
// at::autocast (aten/src/ATen/autocast_mode.h).
namespace halfgrad {
namespace {

class ComposedUnderAutocast : public ::testing::Test {
 protected:
  const Tensor x_ = ones({3, 3});
  const Tensor half_ = ones({3, 3}, kHalf);
};

TEST_F(ComposedUnderAutocast, RunsInFloat32WhereSixteenBitsOverflow) {
  const amp::Autocast autocast(default_device_type());
  EXPECT_EQ(sinh(half_).dtype(), kFloat);
  EXPECT_EQ(half_.cosh().dtype(), kFloat);
  EXPECT_EQ(half_.asin().dtype(), kFloat);
  EXPECT_EQ(half_.acos().dtype(), kFloat);
  EXPECT_EQ(half_.atan().dtype(), kHalf);
  EXPECT_EQ(half_.erfinv().dtype(), kFloat);
  EXPECT_EQ(half_.lgamma().dtype(), kHalf);
  EXPECT_EQ(half_.erfc().dtype(), kHalf);
  EXPECT_EQ(atan2(half_, x_).dtype(), kFloat);
  EXPECT_EQ(cumprod(half_, 0).dtype(), kFloat);
  EXPECT_EQ(cumprod(half_.slice(0, 0, 1), 0).dtype(), kFloat);
  EXPECT_EQ(cumprod(half_, 0, kHalf).dtype(), kHalf);
  EXPECT_EQ(cdist(half_, half_).dtype(), kFloat);
  EXPECT_EQ(half_.dist(half_).dtype(), kFloat);
  EXPECT_EQ(trapezoid(half_).dtype(), kFloat);
  EXPECT_EQ(trapezoid(half_, half_[0]).dtype(), kFloat);
  EXPECT_EQ(trapezoid(full({3}, 60000, kHalf)).item<double>(), 120000);
  const Tensor far = full({2}, 60000, kHalf);
  EXPECT_EQ(far.dist(-far, std::numeric_limits<double>::infinity()).item<double>(), 120000);
  EXPECT_NEAR(full({}, 12, kHalf).sinh().item<double>(), std::sinh(12), 1);
}

TEST_F(ComposedUnderAutocast, RunsInSixteenBitsWhereTensorCoresDo) {
  const amp::Autocast autocast(default_device_type());
  EXPECT_EQ(addmv(x_[0], x_, x_[1]).dtype(), kHalf);
  EXPECT_EQ(addr(x_, x_[0], x_[1]).dtype(), kHalf);
  EXPECT_EQ(chain_matmul({x_, x_, x_}).dtype(), kHalf);
  EXPECT_EQ(matrix_power(x_, 2).dtype(), kHalf);
}

TEST_F(ComposedUnderAutocast, TakesTheWidestOperand) {
  const amp::Autocast autocast(default_device_type());
  EXPECT_EQ(tensordot(x_, half_, {1}, {0}).dtype(), kFloat);
  EXPECT_EQ(tensordot(x_, x_, {1}, {0}).dtype(), kFloat);
  EXPECT_EQ(tensordot(half_, half_, {1}, {0}).dtype(), kHalf);
  EXPECT_EQ(hstack({x_, half_}).dtype(), kFloat);
}

TEST_F(ComposedUnderAutocast, KeepsTheDtypeElsewhere) {
  const amp::Autocast autocast(default_device_type());
  for (const Tensor& x : {x_, half_}) {
    EXPECT_EQ(nansum(x).dtype(), x.dtype());
    EXPECT_EQ(nanmean(x, 0).dtype(), x.dtype());
    EXPECT_EQ(logaddexp(x, x).dtype(), x.dtype());
    EXPECT_EQ(hypot(x, x).dtype(), x.dtype());
    EXPECT_EQ(std::get<0>(cummax(x, 0)).dtype(), x.dtype());
    EXPECT_EQ(median(x).dtype(), x.dtype());
    EXPECT_EQ(index_add(x, 0, tensor({0}), x.slice(0, 0, 1)).dtype(), x.dtype());
    EXPECT_EQ(scatter(x, 0, zeros({1, 3}, kLong), 2).dtype(), x.dtype());
    EXPECT_EQ(diff(x).dtype(), x.dtype());
    EXPECT_EQ(kron(x, x).dtype(), x.dtype());
  }
}

}  // namespace
}  // namespace halfgrad
