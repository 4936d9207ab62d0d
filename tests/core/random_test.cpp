#include <halfgrad/core/random.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/thread_pool.h>
#include <halfgrad/tests/core/arrays.h>

namespace halfgrad {
namespace {

constexpr RandomKey kKey{7, 3};
constexpr std::int64_t kMany = 100'000;

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double variance_of(const std::vector<double>& x) {
  const double mean = mean_of(x);
  double sum = 0;
  for (const double value : x) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(x.size());
}

// Five standard deviations of the mean of n values with this variance.
double five_sigma(double variance) { return 5 * std::sqrt(variance / kMany); }

TEST(GeneratorTest, TakesOneStreamPerTensor) {
  Generator generator(5);
  EXPECT_EQ(generator.initial_seed(), 5U);
  EXPECT_EQ(generator.take().stream, 0U);
  EXPECT_EQ(generator.take().stream, 1U);
  const RandomKey saved = generator.get_state();
  const RandomKey next = generator.take();
  generator.set_state(saved);
  EXPECT_EQ(generator.take().stream, next.stream);
  generator.manual_seed(6);
  const RandomKey first = generator.take();
  EXPECT_EQ(first.seed, 6U);
  EXPECT_EQ(first.stream, 0U);
}

TEST(GeneratorTest, NeverReturnsAKeyTwiceToThreads) {
  constexpr int kThreads = 4, kTakes = 1000;
  Generator generator;
  std::vector<std::vector<std::uint64_t>> taken(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&generator, &mine] {
      for (int i = 0; i < kTakes; ++i) mine.push_back(generator.take().stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), std::size_t{kThreads * kTakes});
}

TEST(Uniform, IsWithinBoundsAndSpreadEvenly) {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    const Array out = Array::empty({kMany}, dtype);
    random::uniform(out, -1, 3, kKey);
    const std::vector<double> x = values(out);
    EXPECT_GE(*std::min_element(x.begin(), x.end()), -1);
    EXPECT_LT(*std::max_element(x.begin(), x.end()), 3) << dtype;
    // Steps of one roundoff make the mean half a step smaller.
    EXPECT_NEAR(mean_of(x), 1 - 2 * roundoff(dtype), five_sigma(16.0 / 12)) << dtype;
    EXPECT_NEAR(variance_of(x), 16.0 / 12, five_sigma(256.0 / 180)) << dtype;
  }
}

TEST(Uniform, StaysBelowOneInSixteenBits) {
  for (const DType dtype : {kHalf, kBFloat16}) {
    const Array out = Array::empty({kMany}, dtype);
    random::uniform(out, 0, 1, kKey);
    const std::vector<double> x = values(out);
    EXPECT_EQ(*std::max_element(x.begin(), x.end()), 1 - roundoff(dtype));
  }
}

// Expects low + u (high - low), rounded, except where that is the upper end.
TEST(Uniform, StaysBelowItsUpperEndAndKeepsAllOtherBits) {
  struct Range {
    double low, high;
  };
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    for (const auto& [low, high] :
         std::vector<Range>{{1, 2}, {-2, -1}, {-1, 0}, {0, 0.3}, {5, 5}, {1, 6e4}}) {
      const Array unit = Array::empty({kMany}, dtype), out = Array::empty({kMany}, dtype);
      random::uniform(unit, 0, 1, kKey);
      random::uniform(out, low, high, kKey);
      const Array sums = unit.to(dtype == kDouble ? kDouble : kFloat).clone();
      for (std::int64_t i = 0; i < kMany; ++i) {
        if (dtype == kDouble) {
          double& x = sums.data_as<double>()[i];
          x = std::fma(high - low, x, low);
        } else {
          float& x = sums.data_as<float>()[i];
          x = std::fma(static_cast<float>(high - low), x, static_cast<float>(low));
        }
      }
      const std::vector<double> x = values(out), rounded = values(sums.to(dtype));
      int limited = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (low < high && rounded[i] >= high) {
          EXPECT_LT(x[i], high) << dtype;
          EXPECT_GT(x[i], high - 4 * roundoff(dtype) * std::max(1.0, high)) << dtype;
          ++limited;
        } else {
          ASSERT_EQ(x[i], rounded[i]) << dtype << ' ' << low << ' ' << high;
        }
      }
      if (is_reduced(dtype) && low == 1 && high == 2) {
        EXPECT_GT(limited, 20) << dtype;
      }
    }
  }
}

TEST(Normal, HasTheMomentsOfTheNormalDistribution) {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    const Array out = Array::empty({kMany}, dtype);
    random::normal(out, 2, 3, kKey);
    const std::vector<double> x = values(out);
    EXPECT_NEAR(mean_of(x), 2, five_sigma(9)) << dtype;
    // Rounding to bf16, by up to a roundoff of values around 3, adds variance.
    EXPECT_NEAR(variance_of(x), 9, five_sigma(2 * 81) + 13 * std::pow(roundoff(dtype), 2)) << dtype;
  }
}

TEST(Bernoulli, IsOneWithProbabilityP) {
  for (const DType dtype : {kFloat, kBool, kLong, kHalf}) {
    for (const double p : {0.0, 0.25, 1.0}) {
      const Array out = Array::empty({kMany}, dtype);
      random::bernoulli(out, p, kKey);
      EXPECT_NEAR(mean_of(values(out)), p, five_sigma(p * (1 - p))) << dtype << " " << p;
    }
  }
}

TEST(Integer, TakesEveryValueOfTheRange) {
  const Array out = Array::empty({kMany}, kLong);
  random::integer(out, -2, 3, kKey);
  std::vector<double> counts(5);
  for (const double x : values(out)) ++counts.at(static_cast<std::size_t>(x + 2));
  for (const double count : counts) EXPECT_NEAR(count / kMany, 0.2, five_sigma(0.2 * 0.8));
}

TEST(Integer, SpansAllOfInt64) {
  const Array out = Array::empty({1000}, kLong);
  random::integer(out, INT64_MIN, INT64_MAX, kKey);
  const auto* const x = out.data_as<std::int64_t>();
  EXPECT_LT(*std::min_element(x, x + 1000), INT64_MIN / 2);
  EXPECT_GT(*std::max_element(x, x + 1000), INT64_MAX / 2);
}

TEST(Permutation, HasEveryIndexOnce) {
  const Array order = random::permutation(1000, kKey);
  std::vector<double> x = values(order);
  EXPECT_FALSE(std::is_sorted(x.begin(), x.end()));
  std::sort(x.begin(), x.end());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], static_cast<double>(i));
  EXPECT_EQ(random::permutation(0, kKey).numel(), 0);
}

TEST(Permutation, IsTheOrderOfSortedKeys) {
  for (const std::int64_t n : {1, 2, 7, 15, 16, 17, 63, 64, 65, 1000, 70000}) {
    const Array order = random::permutation(n, kKey);
    const auto* const actual = order.data_as<std::int64_t>();
    EXPECT_EQ(std::vector(actual, actual + n), random_permutation(n, kKey)) << n;
  }
}

TEST(Fills, ShorterTensorsArePrefixesForAnyStrides) {
  const Array whole = Array::empty({5000}, kFloat);
  random::normal(whole, 0, 1, kKey);
  const std::vector<double> expected = values(whole);
  const Array strided = Array::empty({7, 41}, kFloat).transpose(0, 1);
  random::normal(strided, 0, 1, kKey);
  const std::vector<double> actual = values(strided);
  EXPECT_TRUE(std::equal(actual.begin(), actual.end(), expected.begin()));
}

TEST(Fills, SixteenBitsAreRoundedFloats) {
  const Array floats = Array::empty({999}, kFloat);
  const Array halves = Array::empty({999}, kHalf);
  random::normal(floats, 0, 1, kKey);
  random::normal(halves, 0, 1, kKey);
  EXPECT_EQ(values(halves), values(floats.to(kHalf)));
}

TEST(Fills, AreTheSameForAnyNumberOfThreads) {
  const int threads = get_num_threads();
  std::vector<std::vector<double>> results;
  for (const int count : {1, 3}) {
    set_num_threads(count);
    for (const DType dtype : {kDouble, kFloat}) {
      const Array out = Array::empty({3 * kMany + 1}, dtype);
      random::normal(out, 0, 1, kKey);
      results.push_back(values(out));
    }
  }
  set_num_threads(threads);
  EXPECT_EQ(results[0], results[2]);
  EXPECT_EQ(results[1], results[3]);
}

TEST(Fills, DifferBetweenStreamsAndSeeds) {
  const auto first_of = [](RandomKey key) {
    const Array out = Array::empty({1}, kDouble);
    random::uniform(out, 0, 1, key);
    return out.item();
  };
  EXPECT_NE(first_of({7, 3}), first_of({7, 4}));
  EXPECT_NE(first_of({7, 3}), first_of({8, 3}));
}

TEST(Fills, RefuseInvalidParameters) {
  const Array out = Array::empty({2}, kFloat);
  const Array integers = Array::empty({2}, kLong);
  EXPECT_THROW(random::uniform(out, 1, 0, kKey), std::invalid_argument);
  EXPECT_THROW(random::uniform(integers, 0, 1, kKey), std::invalid_argument);
  EXPECT_THROW(random::normal(out, 0, -1, kKey), std::invalid_argument);
  EXPECT_THROW(random::normal(integers, 0, 1, kKey), std::invalid_argument);
  EXPECT_THROW(random::bernoulli(out, 1.5, kKey), std::invalid_argument);
  EXPECT_THROW(random::bernoulli(out, std::nan(""), kKey), std::invalid_argument);
  EXPECT_THROW(random::integer(integers, 3, 3, kKey), std::invalid_argument);
  EXPECT_THROW(random::permutation(-1, kKey), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
