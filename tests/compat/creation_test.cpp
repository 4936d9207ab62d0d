#include <halfgrad/compat/torch.h>

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

// libtorch's rarer ways to make a tensor.
namespace halfgrad {
namespace {

TEST(RarerCreation, ScalarsAndPowers) {
  EXPECT_EQ(scalar_tensor(3).dtype(), kFloat);
  EXPECT_EQ(scalar_tensor(3, kLong).item<int>(), 3);
  EXPECT_EQ(scalar_tensor(3).dim(), 0);
  EXPECT_EQ(logspace(0, 3, 4).to_vector<float>(), (std::vector<float>{1, 10, 100, 1000}));
  EXPECT_EQ(logspace(-1, 1, 3, 2, dtype(kHalf).requires_grad(true)).to_vector<float>(),
            (std::vector<float>{0.5f, 1, 2}));
  EXPECT_TRUE(logspace(0, 1, 2, 10, requires_grad()).requires_grad());
}

TEST(RarerCreation, NormalElementsOfGivenMeansAndDeviations) {
  manual_seed(3);
  const Tensor x = normal(5.0, 2.0, {10000});
  EXPECT_NEAR(x.mean().item<double>(), 5, 0.1);
  EXPECT_NEAR(x.std().item<double>(), 2, 0.1);
  const Tensor mean = tensor({0.0, 100.0}).expand({10000, 2});
  const Tensor y = normal(mean, tensor({1.0, 0.0}));
  EXPECT_NEAR(y.select(1, 0).std().item<double>(), 1, 0.05);
  EXPECT_TRUE(y.select(1, 1).eq(100).all().item<bool>());
  EXPECT_NEAR(normal(mean, 3).select(1, 1).mean().item<double>(), 100, 0.2);
  EXPECT_NEAR(normal(7, ones({10000})).mean().item<double>(), 7, 0.1);
  EXPECT_THROW(normal(0.0, -1.0, {2}), std::invalid_argument);
  EXPECT_THROW(normal(ones({2}), -ones({2})), std::invalid_argument);
  EXPECT_THROW(normal(ones({2}), ones({3})), std::invalid_argument);
}

TEST(RarerCreation, BernoulliElements) {
  manual_seed(4);
  const Tensor p = tensor({0.0, 0.25, 1.0}).expand({10000, 3});
  const Tensor drawn = bernoulli(p).mean(0);
  EXPECT_EQ(drawn[0].item<double>(), 0);
  EXPECT_NEAR(drawn[1].item<double>(), 0.25, 0.03);
  EXPECT_EQ(drawn[2].item<double>(), 1);
  EXPECT_EQ(bernoulli(p.to(kHalf)).dtype(), kHalf);
  EXPECT_NEAR(bernoulli(p, 0.5).mean().item<double>(), 0.5, 0.03);
  EXPECT_THROW(bernoulli(tensor({1.5})), std::invalid_argument);
  EXPECT_THROW(bernoulli(tensor({-0.5})), std::invalid_argument);
}

TEST(RarerCreation, QuestionsAboutTensors) {
  EXPECT_TRUE(is_nonzero(tensor({2})));
  EXPECT_FALSE(is_nonzero(tensor(0.0)));
  EXPECT_THROW(is_nonzero(ones({2})), std::invalid_argument);
  EXPECT_EQ(numel(ones({2, 3})), 6);
  EXPECT_EQ(result_type(ones({2}, kHalf), tensor(2.0, kDouble)), kHalf);
  EXPECT_EQ(result_type(ones({2}, kInt), ones({3}, kHalf)), kHalf);
  EXPECT_EQ(result_type(ones({2}, kInt), tensor(2.0)), kFloat);
  EXPECT_TRUE(can_cast(kDouble, kHalf));
  EXPECT_TRUE(can_cast(kBool, kInt));
  EXPECT_FALSE(can_cast(kFloat, kInt));
  EXPECT_FALSE(can_cast(kInt, kBool));
  const Tensor x = tensor({{1.0, 2.0}, {0.0, -1.0}}), target = tensor({0, 1});
  EXPECT_EQ(
      cross_entropy_loss(x, target, {}, kSum, 1, 0.25).item<float>(),
      cross_entropy(x, target, {.ignore_index = 1, .reduction = kSum, .label_smoothing = 0.25})
          .item<float>());
}

}  // namespace
}  // namespace halfgrad
