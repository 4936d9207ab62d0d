#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/halfgrad.h>
#include <halfgrad/tests/autograd/table/doubles.h>

// Options of Embedding that change rows and gradients. Expected values are PyTorch's.
namespace halfgrad {
namespace {

Tensor table() { return tensor_of({3, 4, 0.3, 0.4, 6, 8, 1, 0}, {4, 2}).to(get_default_device()); }
Tensor looked_up() { return tensor({0, 2, 2, 1}).reshape({2, 2}); }

void expect_near(const Tensor& actual, const Doubles& expected) {
  const Doubles values = elements(actual);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-7) << i;
}

TEST(EmbeddingRows, MaxNormScalesTheRowsThatAreRead) {
  nn::Embedding layer(table().requires_grad_(), std::nullopt, {.max_norm = 1});
  const Tensor y = layer(looked_up());
  expect_near(y, {0.6, 0.8, 0.6, 0.8, 0.6, 0.8, 0.3, 0.4});
  expect_near(layer.weight, {0.6, 0.8, 0.3, 0.4, 0.6, 0.8, 1, 0});
  y.sum().backward();
  EXPECT_EQ(elements(layer.weight.grad()), (Doubles{1, 1, 1, 1, 2, 2, 0, 0}));
  EXPECT_EQ(layer.options.max_norm(), 1);

  nn::Embedding by_sum(table(), std::nullopt, {.max_norm = 2, .norm_type = 1});
  expect_near(by_sum(tensor({0})), {6.0 / 7, 8.0 / 7});
  expect_near(by_sum.weight, {6.0 / 7, 8.0 / 7, 0.3, 0.4, 6, 8, 1, 0});
  EXPECT_EQ(by_sum(tensor(std::vector<std::int64_t>())).numel(), 0);
  const nn::Embedding drawn(100, 8, {.max_norm = 0.5});
  EXPECT_LE(amax(drawn.forward(arange(100)).norm(2, 1)).item<double>(), 0.5 + 1e-6);
}

TEST(EmbeddingRows, GradientsAreDividedByCounts) {
  const nn::Embedding layer(table().requires_grad_(), std::nullopt, {.scale_grad_by_freq = true});
  layer.forward(looked_up()).backward(arange(8.0).to(kFloat64).reshape({2, 2, 2}));
  EXPECT_EQ(elements(layer.weight.grad()), (Doubles{0, 1, 6, 7, 3, 4, 0, 0}));
  EXPECT_TRUE(layer.options.scale_grad_by_freq());
}

}  // namespace
}  // namespace halfgrad
