#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace {

/// Sets the default dtype until the end of the scope.
class DefaultDType {
 public:
  explicit DefaultDType(DType dtype) { set_default_dtype(dtype); }
  ~DefaultDType() { set_default_dtype(before_); }
  DefaultDType(const DefaultDType&) = delete;
  DefaultDType& operator=(const DefaultDType&) = delete;

 private:
  DType before_ = get_default_dtype();
};

std::vector<Tensor> without_dtype() {
  return {empty({2}),
          zeros({2}),
          ones({2}),
          full({2}, 0.5),
          arange(0.0, 3.0),
          rand({2}),
          randn({2}),
          eye(2),
          linspace(0, 1, 3),
          tensor(0.5),
          tensor({0.5}),
          tensor({0.5f}),
          tensor({{0.5, 1.0}}),
          tensor(std::vector<double>{0.5})};
}

TEST(DefaultDType, IsFloat32) {
  EXPECT_EQ(get_default_dtype(), kFloat);
  for (const Tensor& x : without_dtype()) EXPECT_EQ(x.dtype(), kFloat);
}

TEST(DefaultDType, IsThatOfNewFloatingPointTensors) {
  for (const DType dtype : {kDouble, kHalf, kBFloat16}) {
    const DefaultDType scope(dtype);
    for (const Tensor& x : without_dtype()) EXPECT_EQ(x.dtype(), dtype);
    EXPECT_EQ(TensorOptions().dtype(), dtype);
  }
  EXPECT_EQ(zeros({2}).dtype(), kFloat);
}

TEST(DefaultDType, LeavesIntegersAndNamedDTypes) {
  const DefaultDType scope(kDouble);
  EXPECT_EQ(full({2}, 3).dtype(), kLong);
  EXPECT_EQ(full({2}, true).dtype(), kBool);
  EXPECT_EQ(arange(3).dtype(), kLong);
  EXPECT_EQ(tensor({1, 2}).dtype(), kLong);
  EXPECT_EQ(randperm(3).dtype(), kLong);
  EXPECT_EQ(randint(3, {2}).dtype(), kLong);
  EXPECT_EQ(zeros({2}, kHalf).dtype(), kHalf);
  EXPECT_EQ(zeros_like(ones({2}, kFloat)).dtype(), kFloat);
}

// Expected dtypes: PyTorch 2.15.
TEST(DefaultDType, IsThatOfIntegersWhichAnOpMakesFloatingPoint) {
  const Tensor x = ones({2}, kLong), f = ones({2}, kFloat);
  for (const DType dtype : {kFloat, kDouble, kHalf}) {
    const DefaultDType scope(dtype);
    for (const Tensor& y :
         {x / 2, x / x, x * 2.5, (x > 0) * 1.5, sqrt(x), erfc(x), pow(x, 2.5), atan2(x, x),
          where(x > 0, x, 2.5), clamp(x, 0.5), fmod(x, 2.5), logsumexp(x, 0)}) {
      EXPECT_EQ(y.dtype(), dtype) << dtype;
    }
    EXPECT_EQ((f * 2.5).dtype(), kFloat);
    EXPECT_EQ((x * f).dtype(), kFloat);
    EXPECT_EQ(cumsum(x, 0).dtype(), kLong);
  }
}

TEST(DefaultDType, IsFloatingPoint) {
  EXPECT_THROW(set_default_dtype(kLong), std::invalid_argument);
  EXPECT_THROW(set_default_dtype(kBool), std::invalid_argument);
  EXPECT_EQ(get_default_dtype(), kFloat);
}

}  // namespace
}  // namespace halfgrad
