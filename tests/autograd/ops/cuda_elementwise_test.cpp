// Elementwise ops on a GPU whose formulas nvcc could compile differently in different kernels.
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/core/arrays.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

using ElementwiseOnCuda = OnCuda;

// Contiguous operands are read in packs, others element by element.
TEST_F(ElementwiseOnCuda, AFactorGivesTheSameBitsForAnyStrides) {
  using Op = Tensor (*)(const Tensor&, const Tensor&, Scalar);
  manual_seed(1);
  const Tensor a = randn({64, 65}).to(kCUDA), b = randn({64, 65}).to(kCUDA);
  const auto strided = [](const Tensor& x) {
    return Tensor(x.array().transpose(0, 1).contiguous().transpose(0, 1));
  };
  for (const Op op : {static_cast<Op>(add), static_cast<Op>(sub)}) {
    for (const DType dtype : {kFloat, kHalf, kBFloat16}) {
      const Tensor dense = op(a.to(dtype), b.to(dtype), -0.3);
      expect_same_bits(op(strided(a.to(dtype)), strided(b.to(dtype)), -0.3).array(), dense.array());
    }
  }
}

// dy/da of a^0 is 0 even where a^-1, or dy, is infinite.
TEST_F(ElementwiseOnCuda, NoGradientPassesAnExponentOfZero) {
  const std::vector<double> bases{0, -0.0, INFINITY, NAN, 2};
  for (const DType dtype : {kDouble, kFloat, kHalf}) {
    const Tensor a = tensor(bases, {.dtype = dtype}).to(kCUDA).requires_grad_();
    const Tensor zero = zeros({5}, {.dtype = dtype, .device = kCUDA});
    const Tensor dy = full({5}, INFINITY, {.dtype = dtype, .device = kCUDA});
    const Tensor da = autograd::grad({pow(a, zero)}, {a}, {dy}, {.create_graph = true})[0];
    EXPECT_EQ(da.to_vector<double>(), std::vector<double>(5, 0.0));
    EXPECT_EQ(autograd::grad({sum(da)}, {a})[0].to_vector<double>(), std::vector<double>(5, 0.0));
  }
}

}  // namespace
}  // namespace halfgrad
