#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>
#include <halfgrad/tests/message_of.h>

// The functions of compat/ at the ends of a dtype's range, at kinks and at ties.
namespace {

namespace torch = halfgrad;
namespace F = torch::nn::functional;
using torch::message_of;
using torch::Tensor;

TEST(FunctionEdges, CosineSimilarityNeitherOverflowsNorUnderflows) {
  const std::vector<std::pair<double, torch::DType>> inputs{
      {1e-5, torch::kFloat}, {1e10, torch::kFloat}, {10, torch::kHalf}, {0.01, torch::kHalf}};
  for (const auto& [value, dtype] : inputs) {
    const Tensor x = torch::full({1, 4}, value, dtype);
    const Tensor y = torch::cosine_similarity(x, x);
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_NEAR(y.item<double>(), 1, 1e-6) << value;
  }
  // PyTorch's value and gradient for norms below eps = 1e-8.
  const Tensor x = torch::full({1, 3}, 1e-9).requires_grad_();
  const Tensor y = torch::cosine_similarity(x, torch::ones({1, 3}));
  y.sum().backward();
  EXPECT_NEAR(y.item<double>(), 0.17320508, 1e-6);
  EXPECT_NEAR(x.grad()[0][0].item<double>(), 47735028, 100);
}

TEST(FunctionEdges, CeluHasTheSlope1At0) {
  const Tensor x = torch::tensor({0.0, 1.0, -1.0, INFINITY, -INFINITY}).requires_grad_();
  torch::celu(x).sum().backward();
  EXPECT_TRUE(torch::allclose(x.grad(), torch::tensor({1.0, 1.0, std::exp(-1.0), 1.0, 0.0})))
      << x.grad();
}

TEST(FunctionEdges, GumbelSoftmaxHasNoNaN) {
  for (const torch::DType dtype : {torch::kFloat, torch::kHalf, torch::kBFloat16}) {
    torch::manual_seed(0);
    const Tensor y = F::gumbel_softmax(torch::zeros({20000, 10}, dtype));
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_FALSE(y.isnan().any().item<bool>()) << dtype;
    // Each class is the largest equally often: within 5 standard deviations.
    const Tensor counts = torch::bincount(y.to(torch::kFloat).argmax(1), {}, 10);
    const double deviation = std::sqrt(20000 * 0.1 * 0.9);
    EXPECT_LT((counts - 2000).abs().max().item<double>(), 5 * deviation) << counts;
  }
}

TEST(EmbeddingBag, BeginsWithItsFirstIndex) {
  const Tensor weight = torch::ones({4, 2});
  const auto bags = [&](const Tensor& offsets) {
    return F::embedding_bag(torch::tensor({0, 1, 2, 3}), weight,
                            F::EmbeddingBagFuncOptions().offsets(offsets).mode(torch::kSum));
  };
  EXPECT_EQ(message_of([&] {
              bags(torch::tensor({1, 2}));
            }),
            "embedding_bag: expected offsets that begin with 0, got 1");
  EXPECT_EQ(bags(torch::tensor({0, 1})).sizes(), torch::Shape({2, 2}));
  EXPECT_EQ(bags(torch::empty({0}, torch::kLong)).sizes(), torch::Shape({0, 2}));
}

TEST(EmbeddingBag, GivesTheGradientOfATieToTheFirstIndex) {
  const Tensor weight = torch::ones({3, 2}).requires_grad_();
  F::embedding_bag(torch::tensor({{0, 1}}), weight, F::EmbeddingBagFuncOptions().mode(torch::kMax))
      .sum()
      .backward();
  EXPECT_TRUE(weight.grad().equal(torch::tensor({{1.0F, 1.0F}, {0.0F, 0.0F}, {0.0F, 0.0F}})));
}

}  // namespace
