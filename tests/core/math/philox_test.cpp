#include <gtest/gtest.h>
#include <halfgrad/core/math/philox.h>

#include <array>
#include <cmath>
#include <numeric>
#include <set>

namespace halfgrad {
namespace {

constexpr RandomKey kPhiloxKey{.seed = 20111112, .stream = 7};

/// Returns `count` elements of the tensor kPhiloxKey, as a kernel would fill it.
template <class T, class Fill>
std::vector<T> draw(std::int64_t count, Fill fill) {
  constexpr std::int64_t per_block = 16 / sizeof(T);
  std::vector<T> values;
  for (std::int64_t k = 0; k * per_block < count; ++k) {
    T out[per_block];
    fill(random_block(kPhiloxKey, static_cast<std::uint64_t>(k)), out);
    values.insert(values.end(), out, out + per_block);
  }
  return values;
}

template <class T>
std::vector<T> draw_uniform(std::int64_t count) {
  return draw<T>(count, [](const PhiloxBlock& block, auto& out) { uniform(block, out); });
}
template <class T>
std::vector<T> draw_normal(std::int64_t count) {
  return draw<T>(count, [](const PhiloxBlock& block, auto& out) { normal(block, out); });
}

/// Pearson's chi-square statistic of equally likely cells, in standard deviations from its mean.
double chi_square_score(const std::vector<std::int64_t>& counts) {
  const double freedom = static_cast<double>(counts.size()) - 1;
  const double total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0L));
  const double expected = total / (freedom + 1);
  double statistic = 0;
  for (std::int64_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    statistic += difference * difference / expected;
  }
  return (statistic - freedom) / std::sqrt(2 * freedom);
}

struct KnownAnswer {
  std::array<std::uint32_t, 4> counter;
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 4> expected;
};

TEST(Philox, KnownAnswersOfTheRandom123Distribution) {
  const KnownAnswer answers[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const KnownAnswer& a : answers) {
    const PhiloxBlock counter{{a.counter[0], a.counter[1], a.counter[2], a.counter[3]}};
    const PhiloxBlock block = philox4x32(counter, a.key[0], a.key[1]);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(block.word[i], a.expected[i]) << i;
  }
}

TEST(Philox, EveryPartOfKeyAndIndexMatters) {
  const std::uint64_t high = std::uint64_t{1} << 32;
  std::set<std::array<std::uint32_t, 4>> seen;
  for (RandomKey key : {RandomKey{0, 0}, {1, 0}, {high, 0}, {0, 1}, {0, high}})
    for (std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, high}) {
      const PhiloxBlock block = random_block(key, index);
      seen.insert({block.word[0], block.word[1], block.word[2], block.word[3]});
    }
  EXPECT_EQ(seen.size(), 15u);
}

template <class T>
class PhiloxReal : public ::testing::Test {};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(PhiloxReal, RealTypes);

TYPED_TEST(PhiloxReal, UniformFillsItsRangeEvenly) {
  constexpr std::int64_t count = 1 << 18, cells = 256;
  std::vector<std::int64_t> first(cells), pairs(cells);
  TypeParam previous = 0;
  for (TypeParam x : draw_uniform<TypeParam>(count)) {
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    ++first[static_cast<std::int64_t>(x * cells)];
    ++pairs[static_cast<std::int64_t>(x * 16) * 16 + static_cast<std::int64_t>(previous * 16)];
    previous = x;
  }
  EXPECT_LT(std::abs(chi_square_score(first)), 4);
  EXPECT_LT(std::abs(chi_square_score(pairs)), 4);  // neighbours are independent
}

TEST(Philox, UniformReachesBothEndsExactly) {
  float f[4];
  uniform(PhiloxBlock{{0, 255, 256, ~0u}}, f);
  EXPECT_EQ(f[0], 0);
  EXPECT_EQ(f[1], 0);
  EXPECT_EQ(f[2], 0x1p-24f);
  EXPECT_EQ(f[3], 1 - 0x1p-24f);
  double d[2];
  uniform(PhiloxBlock{{1u << 11, 0, ~0u, ~0u}}, d);
  EXPECT_EQ(d[0], 0x1p-53);
  EXPECT_EQ(d[1], 1 - 0x1p-53);
}

TYPED_TEST(PhiloxReal, NormalHasTheMomentsOfANormal) {
  constexpr std::int64_t count = 1 << 20;
  double sums[5] = {};
  for (TypeParam x : draw_normal<TypeParam>(count)) {
    double power = 1;
    for (int k = 1; k <= 4; ++k) sums[k] += power *= static_cast<double>(x);
  }
  const double moments[] = {0, 0, 1, 0, 3}, variances[] = {0, 1, 2, 15, 96};
  for (int k = 1; k <= 4; ++k)
    EXPECT_LT(std::abs(sums[k] / count - moments[k]), 4 * std::sqrt(variances[k] / count)) << k;
}

TYPED_TEST(PhiloxReal, NormalHasTheTailsOfANormal) {
  constexpr std::int64_t count = 1 << 20;
  const auto values = draw_normal<TypeParam>(count);
  for (double bound : {0.5, 1.0, 2.0, 3.0, 4.0})
    for (double sign : {-1.0, 1.0}) {
      const double p = std::erfc(bound / std::sqrt(2.0)) / 2;
      const auto beyond =
          std::count_if(values.begin(), values.end(), [&](double x) { return sign * x > bound; });
      EXPECT_LT(std::abs(static_cast<double>(beyond) - count * p), 4 * std::sqrt(count * p))
          << sign * bound;
    }
}

TYPED_TEST(PhiloxReal, NormalIsFiniteAtEveryCornerAndReachesFar) {
  double largest = 0;
  for (std::uint32_t radius : {0u, 1u, 1u << 31, ~0u})
    for (std::uint32_t angle : {0u, 1u << 29, 1u << 30, 1u << 31, 3u << 30, ~0u}) {
      TypeParam out[16 / sizeof(TypeParam)];
      const bool is_float = sizeof(TypeParam) == 4;
      normal(is_float ? PhiloxBlock{{radius, angle, radius, angle}}
                      : PhiloxBlock{{radius, radius, angle, angle}},
             out);
      for (TypeParam x : out) {
        ASSERT_TRUE(std::isfinite(x)) << radius << " " << angle;
        largest = std::max(largest, std::abs(static_cast<double>(x)));
      }
    }
  const double bits = sizeof(TypeParam) == 4 ? 33 : 65;
  EXPECT_NEAR(largest, std::sqrt(2 * bits * std::log(2.0)), 1e-6);
}

/// The largest error of the series in roundoffs, against libm in a wider type.
TYPED_TEST(PhiloxReal, LogarithmIsRightToFourRoundoffs) {
  using Word = std::conditional_t<sizeof(TypeParam) == 4, std::uint32_t, std::uint64_t>;
  const double roundoff = sizeof(TypeParam) == 4 ? 0x1p-24 : 0x1p-53;
  for (TypeParam u : draw_uniform<TypeParam>(1 << 16))
    for (TypeParam v : {u, 1 - u / 1024, u / 65536}) {
      if (v <= 0) continue;
      const long double expected = std::log(static_cast<long double>(v));
      const long double error = detail::portable_log<TypeParam, Word>(v) - expected;
      ASSERT_LE(std::abs(error), 4 * roundoff * std::abs(expected)) << v;
    }
}

TYPED_TEST(PhiloxReal, CosineAndSineAreRightToThreeRoundoffs) {
  using Word = std::conditional_t<sizeof(TypeParam) == 4, std::uint32_t, std::uint64_t>;
  const double roundoff = sizeof(TypeParam) == 4 ? 0x1p-24 : 0x1p-53;
  const long double turn = 2 * std::acos(-1.0L) / std::ldexp(1.0L, sizeof(Word) * 8);
  for (std::uint64_t k = 0; k < 1 << 16; ++k) {
    const PhiloxBlock block = random_block(kPhiloxKey, k);
    const Word angle = static_cast<Word>(detail::join(block.word[0], block.word[1]));
    TypeParam cosine, sine;
    detail::portable_cos_sin<TypeParam, Word>(angle, cosine, sine);
    const long double radians = turn * static_cast<long double>(angle);
    ASSERT_LE(std::abs(cosine - std::cos(radians)), 3 * roundoff) << angle;
    ASSERT_LE(std::abs(sine - std::sin(radians)), 3 * roundoff) << angle;
  }
}

/// Fixed bits: a compiler, flag or device that computes others breaks reproducibility.
TEST(Philox, NormalsHaveTheExpectedBits) {
  std::uint64_t digest = 0;
  for (float x : draw_normal<float>(1 << 16))
    digest = digest * 0x100000001B3 + detail::same_bits<std::uint32_t>(x);
  EXPECT_EQ(digest, 0x199609D47FD807F4u);
  digest = 0;
  for (double x : draw_normal<double>(1 << 16))
    digest = digest * 0x100000001B3 + detail::same_bits<std::uint64_t>(x);
  EXPECT_EQ(digest, 0xBB34146B42211ECBu);
}

TEST(Philox, BoundedIsTheHighHalfOfTheProduct) {
  const std::uint64_t all = ~std::uint64_t{0};
  EXPECT_EQ(bounded(all, 10), 9u);
  EXPECT_EQ(bounded(0, 10), 0u);
  EXPECT_EQ(bounded(all, all), all - 1);
  EXPECT_EQ(bounded(std::uint64_t{1} << 63, 7), 3u);
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const PhiloxBlock block = random_block(kPhiloxKey, k);
    const std::uint64_t a = detail::join(block.word[0], block.word[1]);
    const std::uint64_t b = detail::join(block.word[2], block.word[3]);
    __extension__ using uint128 = unsigned __int128;
    EXPECT_EQ(bounded(a, b), static_cast<std::uint64_t>(static_cast<uint128>(a) * b >> 64));
  }
}

TEST(Philox, IntegersAreEvenlySpread) {
  for (std::int64_t bound : {1, 3, 10, 1000}) {
    std::vector<std::int64_t> counts(bound);
    for (std::uint64_t k = 0; k < 1 << 16; ++k) {
      std::uint64_t out[2];
      uniform_integer(random_block(kPhiloxKey, k), static_cast<std::uint64_t>(bound), out);
      for (std::uint64_t x : out) ++counts.at(x);
    }
    if (bound > 1) {
      EXPECT_LT(std::abs(chi_square_score(counts)), 4) << bound;
    }
  }
}

TEST(Philox, PermutationHoldsEachIndexOnceAndReachesAllOrders) {
  for (std::int64_t n : {0, 1, 2, 1000}) {
    auto order = random_permutation(n, kPhiloxKey);
    std::sort(order.begin(), order.end());
    std::vector<std::int64_t> expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(order, expected) << n;
  }
  std::vector<std::int64_t> counts(24);
  const std::vector<std::int64_t> identity{0, 1, 2, 3};
  for (std::uint64_t stream = 0; stream < 24000; ++stream) {
    auto order = random_permutation(4, {.seed = 1, .stream = stream});
    std::int64_t rank = 0;
    while (std::prev_permutation(order.begin(), order.end())) ++rank;
    ++counts[rank];
  }
  EXPECT_LT(std::abs(chi_square_score(counts)), 4);
  EXPECT_THROW(random_permutation(-1, kPhiloxKey), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
