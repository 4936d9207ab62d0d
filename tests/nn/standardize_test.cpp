#include <halfgrad/nn/standardize.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/testing/assert_close.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::nn {
namespace {

TEST(Standardize, GivesFeaturesMean0AndDeviation1) {
  Standardize scale(3);
  scale.fit(tensor({{1.0, -5.0, 0.1}, {3.0, -5.0, 0.1}, {5.0, -5.0, 0.1}, {7.0, 7.0, 0.1}}));
  EXPECT_EQ(scale.mean.to_vector<float>(), (std::vector<float>{4, -2, 0.1f}));
  // The third feature is constant, and stays as it is but for its mean.
  assert_close(scale.std, tensor({std::sqrt(5.0), std::sqrt(27.0), 1.0}, {.dtype = kDouble}),
               {.roundoffs = 1});
  const Tensor y = scale(tensor({4 + std::sqrt(5.0), -2.0, 1.1}));
  // 4 + sqrt(5) rounds to float32 by at most 4 roundoffs of 1.
  assert_close(y, tensor({1.0, 0.0, 1.0}, {.dtype = kDouble}), {.roundoffs = 4});
}

TEST(Standardize, AConstantFeatureKeepsItsScale) {
  Standardize scale(1, {.dtype = kDouble});
  for (int n = 1; n < 64; ++n) {  // some of the means round, which makes the variance 1e-34
    scale.fit(full({n, 1}, 0.1, {.dtype = kDouble}));
    EXPECT_EQ(scale.std.item(), 1) << n;
  }
}

TEST(Standardize, ComputesLargeMeansInDouble) {
  Standardize scale(1);
  scale.fit(arange(16777216, 16777216 + 8, 2).to(kFloat32).unsqueeze(1));
  EXPECT_EQ(scale.std.item<float>(), std::sqrt(5.0f));
}

TEST(Standardize, IsPartOfTheStateAndNothingThatTrains) {
  Standardize scale(2);
  scale.fit(tensor({{1.0, 2.0}, {3.0, 6.0}}));
  const Sequential model(scale, Linear(2, 1));
  EXPECT_TRUE(model.state_dict().contains("0.mean"));
  EXPECT_TRUE(model.state_dict().contains("0.std"));
  EXPECT_EQ(model.parameters().size(), 2U);
  Sequential other(Standardize(2), Linear(2, 1));
  other.load_state_dict(model.state_dict());
  const Tensor x = tensor({{0.5, -1.0}});
  EXPECT_TRUE(equal(model(x), other(x)));
}

TEST(Standardize, KeepsFloat32UnderAutocast) {
  Standardize scale(1);
  scale.fit(tensor({{100000.0}, {100002.0}}));
  const amp::Autocast autocast(kCPU, {.dtype = kHalf});
  const Tensor y = scale(tensor({{100003.0}}));  // float16 cannot hold it
  EXPECT_EQ(y.dtype(), kFloat32);
  EXPECT_EQ(y.item<float>(), 2);
  scale.fit(tensor({{100000.0}, {100004.0}}));
  EXPECT_EQ(scale.std.item<float>(), 2);
}

TEST(Standardize, RefusesWrongDataAndUseBeforeFit) {
  Standardize scale(2);
  if (scale.mean.is_cpu()) {  // on a GPU the test would wait for it
    EXPECT_EQ(message_of<std::invalid_argument>([&] {
                scale(zeros({1, 2}));
              }),
              "Standardize: expected fit() or load_state_dict() before, got neither");
  }
  EXPECT_EQ(message_of<std::invalid_argument>([&] { scale.fit(zeros({3})); }),
            "Standardize: expected x [n, 2] with n > 0 to fit, got [3]");
  EXPECT_THROW(scale.fit(zeros({0, 2})), std::invalid_argument);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(
        message_of<std::invalid_argument>([&] {
          scale.fit(tensor({{1.0, 2.0}, {1.0, bad}}));
        }),
        "Standardize: expected finite elements with a finite variance, got others in feature 1");
  }
  EXPECT_THROW(Standardize(0), std::invalid_argument);
  scale.fit(tensor({{1.0, 2.0}, {3.0, 2.0}}));
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              scale(zeros({1, 3}));
            }),
            "Standardize: expected shape [..., 2], got [1, 3]");
}

TEST(Standardize, ClonesHaveBuffersOfTheirOwn) {
  Standardize scale(1);
  scale.fit(tensor({{1.0}, {3.0}}));
  const auto copy = scale.clone();
  scale.fit(tensor({{10.0}, {30.0}}));
  EXPECT_EQ(copy->as<Standardize>()->mean.item<float>(), 2);
}

}  // namespace
}  // namespace halfgrad::nn
