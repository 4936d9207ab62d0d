#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

class LayerNorm : public OnDevice {};
HALFGRAD_ON_DEVICES(LayerNorm);

// Four times 30000 is beyond float16, and four times 2049 rounds to 8192 or 8200 there. Rows of 8
// and of 9 take different kernels on a GPU.
TEST_P(LayerNorm, GradientOfAFloat32BiasIsSummedInFloat32) {
  for (const std::int64_t n : {8, 9}) {
    for (const double dy : {30000.0, 2049.0}) {
      const Tensor x = arange(4 * n, {.dtype = kHalf}).view({4, n}).to(device());
      const CreationOptions wide{.dtype = kFloat, .device = device(), .requires_grad = true};
      const Tensor weight = ones({n}, wide), bias = zeros({n}, wide);
      const Tensor y = layer_norm(x, {n}, weight, bias);
      const Tensor given = full({4, n}, dy, {.dtype = kHalf, .device = device()});
      y.backward(given);
      const double each = given.to(kDouble).to(kCPU).to_vector<double>()[0];
      EXPECT_EQ(bias.grad().to_vector<double>(),
                std::vector<double>(static_cast<std::size_t>(n), 4 * each));
    }
  }
}

// The bias has two dimensions, and the input has no others: it is one row.
TEST_P(LayerNorm, GradientOfTheBiasOfOneRowIsThatOfTheResult) {
  const CreationOptions wide{.dtype = kFloat, .device = device(), .requires_grad = true};
  const Tensor weight = ones({3, 5}, wide), bias = zeros({3, 5}, wide);
  const Tensor dy = arange(15, {.dtype = kFloat}).view({3, 5}).to(device());
  layer_norm(rand({3, 5}, {.dtype = kFloat}).to(device()), {3, 5}, weight, bias).backward(dy);
  EXPECT_EQ(bias.grad().sizes(), (Shape{3, 5}));
  EXPECT_EQ(bias.grad().to_vector<double>(), dy.to_vector<double>());
}

}  // namespace
}  // namespace halfgrad
