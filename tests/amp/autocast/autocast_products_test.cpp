#include <halfgrad/amp/autocast.h>

#include <gtest/gtest.h>
#include <halfgrad/tests/amp/autocast/casts.h>
#include <halfgrad/tests/devices.h>

/// Functions composed of products: those in PyTorch's autocast lists, and those that are not.
namespace halfgrad::amp {
namespace {

TEST(Autocast, ComposedOpsKeepTheirDTypeAndEinsumIsAProduct) {
  const Autocast autocast(default_device_type(), kHalf);
  for (const DType dtype : {kFloat, kHalf, kBFloat16}) {
    const Tensor x = ones({2, 2}, dtype);
    EXPECT_EQ(roll(x, 1).dtype(), dtype);
    EXPECT_EQ(trace(x).dtype(), dtype);
    EXPECT_EQ(diag(x.diagonal()).dtype(), dtype);
    EXPECT_EQ(einsum("ij,jk->ik", {x, x}).dtype(), kHalf);
    for (const char* const one : {"ij->ji", "ii->i", "ij->", "ij->ij"}) {
      EXPECT_EQ(einsum(one, {x}).dtype(), kHalf) << one;
    }
    EXPECT_EQ(einsum("ij,ij->ij", {x, x}).dtype(), kHalf);
  }
  EXPECT_EQ(einsum("i->i", {ones({2}, kDouble)}).dtype(), kDouble);
}

TEST(Autocast, EinsumGivesFloat32LeavesFloat32Gradients) {
  const Tensor x = (ones({2, 3}) * 2).detach().requires_grad_();
  {
    const Autocast autocast(default_device_type(), kHalf);
    sum(einsum("ij->ji", {x}) * 3).backward();
  }
  EXPECT_EQ(x.grad().dtype(), kFloat);
  EXPECT_EQ(x.grad().to_vector<double>(), Values(6, 3));
}

TEST(Autocast, LinearWithAMatrixAsBiasIsOneProduct) {
  const Autocast autocast(default_device_type(), kHalf);
  const Tensor x = ones({2, 3}, kFloat), w = ones({4, 3}, kFloat), b = ones({2, 4}, kFloat);
  EXPECT_EQ(linear(x, w, b).dtype(), kHalf);
  EXPECT_EQ(linear(x.unsqueeze(0), w, b).dtype(), kHalf);
}

}  // namespace
}  // namespace halfgrad::amp
