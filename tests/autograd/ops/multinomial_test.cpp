#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

using Multinomial = TensorsOnDevice;
HALFGRAD_ON_DEVICES(Multinomial);

constexpr RandomKey kKey{5, 9};

double uniform_sample(std::int64_t i) {
  double u[2];
  uniform(random_block(kKey, static_cast<std::uint64_t>(i / 2)), u);
  return u[i % 2];
}

TEST_P(Multinomial, WithReplacementInvertsTheCumulativeSums) {
  const Doubles weights = {1, 0, 3, 2, 0.5, 0, 2, 2, 2, 2, 2, 0};  // [2, 6]
  default_generator().set_state(kKey);
  const Tensor drawn = multinomial(elements(weights).reshape({2, 6}), 50, true);
  EXPECT_EQ(drawn.dtype(), kLong);
  EXPECT_EQ(drawn.sizes(), (Shape{2, 50}));
  Doubles expected;
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto first = weights.begin() + i / 50 * 6;
    double rest = uniform_sample(i) * std::accumulate(first, first + 6, 0.0);
    auto at = first;
    while (rest >= *at) rest -= *at++;
    expected.push_back(static_cast<double>(at - first));
  }
  EXPECT_EQ(elements(drawn), expected);
  EXPECT_EQ(default_generator().get_state().stream, kKey.stream + 1);
}

TEST_P(Multinomial, WithoutReplacementOrdersExponentialArrivalTimes) {
  const Doubles weights = {1, 0, 3, 2, 0.5, 4, 2, 2, 2, 0, 2, 9};  // [2, 6]
  default_generator().set_state(kKey);
  const Tensor drawn = multinomial(elements(weights).reshape({2, 6}), 5);
  EXPECT_EQ(drawn.sizes(), (Shape{2, 5}));
  Doubles expected;
  for (std::int64_t row = 0; row < 2; ++row) {
    const auto time = [&](double i) {
      const std::int64_t at = row * 6 + static_cast<std::int64_t>(i);
      return -std::log1p(-uniform_sample(at)) / weights[static_cast<std::size_t>(at)];
    };
    Doubles order = {0, 1, 2, 3, 4, 5};
    std::sort(order.begin(), order.end(), [&](double a, double b) { return time(a) < time(b); });
    expected.insert(expected.end(), order.begin(), order.end() - 1);
  }
  EXPECT_EQ(elements(drawn), expected);
}

// i is drawn with p_i, then j with p_j / (1 - p_i), within five standard deviations.
TEST_P(Multinomial, DrawsInProportion) {
  constexpr std::int64_t kMany = 100'000;
  const Doubles p = {0.5, 0.125, 0, 0.375};
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    manual_seed(1);
    const Tensor rows = (elements(p, dtype) * 64).expand({kMany, 4});
    const Doubles pairs = elements(multinomial(rows, 2));
    const Doubles alone = elements(multinomial(rows[0], kMany, true));
    std::map<std::pair<double, double>, double> seen;
    std::map<double, double> seen_alone;
    for (std::size_t i = 0; i < pairs.size(); i += 2) ++seen[{pairs[i], pairs[i + 1]}];
    for (const double each : alone) ++seen_alone[each];
    const auto expect_share = [&](double count, double share) {
      const double sigma = std::sqrt(share * (1 - share) / kMany);
      EXPECT_NEAR(count / kMany, share, 5 * sigma) << name(dtype);
    };
    for (int i = 0; i < 4; ++i) {
      expect_share(seen_alone[i], p[static_cast<std::size_t>(i)]);
      for (int j = 0; j < 4; ++j) {
        const double first = p[static_cast<std::size_t>(i)], next = p[static_cast<std::size_t>(j)];
        expect_share(seen[{i, j}], i == j ? 0 : first * next / (1 - first));
      }
    }
  }
}

TEST_P(Multinomial, FollowsTheSeed) {
  const Tensor weights = ones({1000}, in(kFloat));
  manual_seed(1);
  const Doubles first = elements(multinomial(weights, 5)),
                second = elements(multinomial(weights, 5));
  EXPECT_NE(first, second);
  manual_seed(1);
  EXPECT_EQ(elements(multinomial(weights, 5)), first);
}

TEST_P(Multinomial, TakesWeightsOfAnySize) {
  const auto never_1 = [&](const Doubles& weights, DType dtype) {
    const Doubles drawn = elements(multinomial(elements(weights, dtype), 500, true));
    EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()), (std::set<double>{0, 2}));
  };
  never_1({1.5e308, 0, 1.5e308}, kDouble);
  never_1({5e-324, 0, 5e-324}, kDouble);
  never_1({3e38, 0, 3e38}, kFloat);
  never_1({6e-8, 0, 6e-8}, kHalf);
  for (int i = 0; i < 50; ++i) {
    const Doubles two = elements(multinomial(elements({0, 5e-324, 1e300}), 2));
    EXPECT_EQ(two, (Doubles{2, 1})) << "0 is never drawn, however small the others";
  }
  const Tensor alike = elements({1.5e308, 1.5e308}).expand({10'000, 2});
  const double share = multinomial(alike, 2).select(1, 0).to(kDouble).mean().item();
  EXPECT_NEAR(share, 0.5, 5 * std::sqrt(0.25 / 10'000));
  EXPECT_EQ(elements(multinomial(elements({0, 0, 1}), 1)), Doubles{2});
}

TEST_P(Multinomial, AcceptsViewsAndNoRows) {
  const Tensor columns = tensor({{0.0, 1.0}, {1.0, 0.0}, {0.0, 0.0}}, in(kFloat)).t();
  EXPECT_EQ(elements(multinomial(columns, 1)), (Doubles{1, 0}));
  EXPECT_EQ(multinomial(ones({3}, in(kFloat)), 2).sizes(), Shape{2});
  EXPECT_EQ(multinomial(zeros({0, 3}, in(kFloat)), 2).sizes(), (Shape{0, 2}));
  const Tensor leaf = ones({3}, in(kFloat)).requires_grad_();
  EXPECT_FALSE(leaf.multinomial(2).requires_grad());
}

std::string refusal_of(const Tensor& weights, std::int64_t draws = 1, bool replacement = false) {
  return message_of<std::invalid_argument>([&] { multinomial(weights, draws, replacement); });
}

TEST_P(Multinomial, RefusesOtherArguments) {
  const Tensor two = ones({2}, in(kFloat));
  EXPECT_EQ(refusal_of(two.to(kLong)),
            "multinomial: expected probabilities of a floating-point dtype, got int64");
  EXPECT_EQ(refusal_of(sum(two)),
            "multinomial: expected probabilities [n] or [rows, n], got shape []");
  EXPECT_EQ(refusal_of(zeros({2, 0}, in(kFloat)), 1, true),
            "multinomial: expected probabilities to choose from, got shape [2, 0]");
  EXPECT_EQ(refusal_of(two, 0), "multinomial: expected num_samples above 0, got 0");
  EXPECT_EQ(refusal_of(two, 3),
            "multinomial: expected num_samples of at most 2 without replacement, got 3");
  EXPECT_EQ(refusal_of(two, 3, true), "no error");
}

TEST(MultinomialOnCpu, RefusesInvalidProbabilities) {
  const RandomKey before = default_generator().get_state();
  for (const bool replacement : {false, true}) {
    const std::pair<double, std::string> invalid[] = {
        {-1.5, "-1.5"}, {kInf, "inf"}, {-kInf, "-inf"}, {kNan, "nan"}};
    for (const auto& [probability, shown] : invalid) {
      const Tensor weights = elements({1, 1, probability}, kFloat);
      EXPECT_EQ(refusal_of(weights, 2, replacement),
                "multinomial: expected probabilities >= 0 and finite, got " + shown);
    }
    EXPECT_EQ(refusal_of(tensor({{1.0, 0.0}, {0.0, 0.0}}), 1, replacement),
              "multinomial: expected 1 or more probabilities above 0 in every row, got 0 in row 1");
  }
  EXPECT_EQ(refusal_of(elements({1, 0, 1}), 3),
            "multinomial: expected 3 or more probabilities above 0 in every row, got 2 in row 0");
  EXPECT_EQ(refusal_of(elements({1, 0, 1}), 3, true), "no error");
  EXPECT_EQ(default_generator().get_state().stream, before.stream + 1)
      << "a call that throws draws nothing";
}

using MultinomialOnCuda = OnCuda;

TEST_F(MultinomialOnCuda, GivesTheDrawsOfTheCpuWithoutWaiting) {
  const Tensor weights = rand({40, 300}), there = weights.to(kCUDA);
  for (const bool replacement : {false, true}) {
    manual_seed(3);
    const Tensor expected = multinomial(weights, 20, replacement);
    manual_seed(3);
    const auto waits = cuda::host_waits();
    const Tensor drawn = multinomial(there, 20, replacement);
    EXPECT_EQ(cuda::host_waits(), waits);
    EXPECT_EQ(elements(drawn), elements(expected));
  }
}

TEST_F(MultinomialOnCuda, GivesValidIndicesForInvalidProbabilities) {
  for (const double bad : {-1.0, kInf, kNan, 0.0}) {
    const Tensor rows = full({3, 4}, bad, {.dtype = kFloat, .device = kCUDA});
    for (const bool replacement : {false, true}) {
      for (const double index : elements(multinomial(rows, 3, replacement))) {
        EXPECT_TRUE(index >= 0 && index < 4) << bad;
      }
    }
  }
}

}  // namespace
}  // namespace halfgrad
