#include <halfgrad/core/numbers/number_format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <halfgrad/core/dtype.h>
#include <halfgrad/tests/json.h>

#if __has_include(<eigen3/Eigen/Core>)
#include <eigen3/Eigen/Core>
#endif

namespace halfgrad {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr NumberFormat kShortFormats[] = {kFp16, kBf16, kFp8E4M3Fn, kFp8E5M2};

struct FormatFacts {
  NumberFormat format;
  double max_finite, min_normal, min_subnormal, roundoff;
  double first_overflow;  // the smallest value that overflows, rounded to nearest
};

const FormatFacts kFormatFacts[] = {
    {kFp16, 65504, 0x1p-14, 0x1p-24, 0x1p-11, 65520},
    {kBf16, 0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-8, 0x1.ffp127},
    {kFp8E4M3Fn, 448, 0x1p-6, 0x1p-9, 0x1p-4, std::nextafter(464, 465)},
    {kFp8E5M2, 57344, 0x1p-14, 0x1p-16, 0x1p-3, 61440},
};

TEST(NumberFormat, PropertiesOfEachFormat) {
  for (const FormatFacts& facts : kFormatFacts) {
    const NumberFormat& format = facts.format;
    SCOPED_TRACE(format.name);
    EXPECT_EQ(decode(format.max_finite(), format), facts.max_finite);
    EXPECT_EQ(decode(1u << format.fraction_bits, format), facts.min_normal);
    EXPECT_EQ(decode(1, format), facts.min_subnormal);
    EXPECT_EQ(std::ldexp(1, format.roundoff_exponent()), facts.roundoff);
    EXPECT_EQ(encode(facts.first_overflow, format), format.overflow());
    EXPECT_EQ(encode(std::nextafter(facts.first_overflow, 0), format), format.max_finite());
  }
}

/// significand * 2^exponent, in integers.
struct Dyadic {
  std::int64_t significand;
  int exponent;

  double value() const { return std::ldexp(static_cast<double>(significand), exponent); }
  Dyadic scaled_to(int lower) const { return {significand << (exponent - lower), lower}; }
};

/// Returns the value of a positive finite pattern, by the definition in the standards.
Dyadic meaning(std::uint32_t bits, const NumberFormat& format) {
  const std::int64_t hidden = std::int64_t{1} << format.fraction_bits;
  const std::int64_t exponent = bits / hidden, fraction = bits % hidden;
  if (exponent == 0) return {fraction, format.min_exponent() - format.fraction_bits};
  return {hidden + fraction, static_cast<int>(exponent) - format.bias() - format.fraction_bits};
}

/// Returns the value at `eighths` / 8 of the way from a to b.
double between(const Dyadic& a, const Dyadic& b, std::int64_t eighths) {
  const int unit = a.exponent;  // the exponent of b is the same or larger by one
  const std::int64_t from = a.significand, to = b.scaled_to(unit).significand;
  return Dyadic{8 * from + eighths * (to - from), unit - 3}.value();
}

TEST(NumberFormat, EveryPatternDecodesByTheStandardAndEncodesBack) {
  for (const NumberFormat& format : kShortFormats) {
    SCOPED_TRACE(format.name);
    for (std::uint32_t bits = 0; bits < format.overflow(); ++bits) {
      const double expected = meaning(bits, format).value();
      ASSERT_EQ(decode(bits, format), expected) << bits;
      ASSERT_EQ(decode(bits | format.sign_bit(), format), -expected) << bits;
      for (const Rounding rounding :
           {Rounding::nearest_even, Rounding::toward_zero, Rounding::stochastic}) {
        ASSERT_EQ(encode(expected, format, {.rounding = rounding}), bits);
        ASSERT_EQ(encode(-expected, format, {.rounding = rounding}), bits | format.sign_bit());
      }
    }
    for (std::uint32_t bits = format.overflow(); bits < format.sign_bit(); ++bits) {
      const bool infinite = format.has_infinity && bits == format.overflow();
      ASSERT_EQ(std::isinf(decode(bits, format)), infinite) << bits;
      ASSERT_EQ(std::isnan(decode(bits, format)), !infinite) << bits;
    }
  }
}

// Tests the midpoint between neighbours a < b, and the doubles next to a, b and the midpoint.
TEST(NumberFormat, EveryMidpointAndItsNeighbours) {
  for (const NumberFormat& format : kShortFormats) {
    SCOPED_TRACE(format.name);
    for (std::uint32_t a = 0; a < format.max_finite(); ++a) {
      const Dyadic low = meaning(a, format), high = meaning(a + 1, format);
      const double midpoint = between(low, high, 4);
      const auto nearest = [&](double x) { return encode(x, format); };
      ASSERT_EQ(nearest(midpoint), a + a % 2) << a;
      ASSERT_EQ(nearest(-midpoint), (a + a % 2) | format.sign_bit()) << a;
      ASSERT_EQ(nearest(std::nextafter(midpoint, 0)), a);
      ASSERT_EQ(nearest(std::nextafter(midpoint, kInfinity)), a + 1);
      ASSERT_EQ(nearest(std::nextafter(low.value(), kInfinity)), a);
      ASSERT_EQ(nearest(std::nextafter(high.value(), 0)), a + 1);
      ASSERT_EQ(encode(std::nextafter(high.value(), 0), format, {Rounding::toward_zero}), a);
      ASSERT_EQ(encode(std::nextafter(low.value(), kInfinity), format, {Rounding::toward_zero}), a);
    }
  }
}

// The fraction of the 2^64 words that round away from zero must equal the discarded fraction.
TEST(NumberFormat, StochasticRoundingIsExact) {
  for (const NumberFormat& format : kShortFormats) {
    SCOPED_TRACE(format.name);
    for (std::uint32_t a = 0; a < format.max_finite(); ++a) {
      const Dyadic low = meaning(a, format), high = meaning(a + 1, format);
      for (std::uint64_t eighths = 1; eighths < 8; ++eighths) {
        const double x = between(low, high, static_cast<std::int64_t>(eighths));
        const std::uint64_t first_down = eighths << 61;
        const auto with = [&](std::uint64_t word) {
          return encode(x, format, {.rounding = Rounding::stochastic, .random_bits = word});
        };
        ASSERT_EQ(with(first_down - 1), a + 1);
        ASSERT_EQ(with(first_down), a);
      }
    }
  }
  const EncodeOptions lowest_word{.rounding = Rounding::stochastic};
  EXPECT_EQ(encode(0x1p-24 * 0x1p-64, kFp16, lowest_word), 1u) << "one word in 2^64 rounds up";
  EXPECT_EQ(encode(0x1p-24 * 0x1p-65, kFp16, lowest_word), 0u);
  EXPECT_EQ(encode(0x1p-1074, kFp16, lowest_word), 0u);
}

TEST(NumberFormat, Overflow) {
  const auto saturated = [](Rounding rounding) { return EncodeOptions{rounding, true}; };
  for (const NumberFormat& format : kShortFormats) {
    SCOPED_TRACE(format.name);
    for (const double x : {1e300, 1.5 * decode(format.max_finite(), format)}) {
      EXPECT_EQ(encode(x, format), format.overflow());
      EXPECT_EQ(encode(-x, format), format.overflow() | format.sign_bit());
      EXPECT_EQ(encode(x, format, {Rounding::toward_zero}), format.max_finite());
      EXPECT_EQ(encode(x, format, {Rounding::stochastic}), format.overflow());
      EXPECT_EQ(encode(x, format, saturated(Rounding::nearest_even)), format.max_finite());
      EXPECT_EQ(encode(x, format, saturated(Rounding::stochastic)), format.max_finite());
    }
    EXPECT_EQ(encode(kInfinity, format), format.overflow());
    EXPECT_EQ(encode(kInfinity, format, {Rounding::toward_zero}), format.overflow());
    EXPECT_EQ(encode(-kInfinity, format, saturated(Rounding::nearest_even)),
              format.max_finite() | format.sign_bit());
    EXPECT_EQ(encode(std::nan(""), format, saturated(Rounding::nearest_even)), format.nan());
    EXPECT_EQ(encode(-std::nan(""), format), format.nan() | format.sign_bit());
  }
}

TEST(NumberFormat, MlDtypesAgrees) {
  const tests::Json stored = tests::expected("number_formats.json");
  const auto floats = stored["float32"].numbers();
  for (const NumberFormat& format : kShortFormats) {
    SCOPED_TRACE(format.name);
    const auto bits = stored[std::string(format.name)].numbers();
    ASSERT_EQ(bits.size(), floats.size());
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(floats[i]));
      EXPECT_EQ(encode(x, format), bits[i]) << x;
    }
    if (format.bits() > 8) continue;
    const auto decoded = stored[std::string(format.name) + " decoded"].numbers();
    ASSERT_EQ(decoded.size(), 256u);
    for (std::uint32_t i = 0; i < 256; ++i) {
      const auto expected = std::bit_cast<float>(static_cast<std::uint32_t>(decoded[i]));
      const double got = decode(i, format);
      EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected))) << i;
    }
  }
}

/// Returns floats of all exponents, by a constant step through the patterns.
template <class F>
void for_many_floats(const F& f) {
  for (std::uint64_t bits = 0; bits <= 0xffffffff; bits += 0x3fb1) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(x)) f(x);
  }
}

TEST(NumberFormat, TheStorageTypesConvertAsTheFormatsDo) {
  for_many_floats([](float x) {
    ASSERT_EQ(Half(x).bits, encode(x, kFp16)) << x;
    ASSERT_EQ(BFloat16(x).bits, encode(x, kBf16)) << x;
    const double longer = static_cast<double>(x) * (1 + 0x1p-24);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(longer)), encode(longer, kFp32)) << x;
  });
}

TEST(NumberFormat, EigenAgrees) {
#if __has_include(<eigen3/Eigen/Core>)
  for_many_floats([](float x) {
    ASSERT_EQ(Eigen::half(x).x, encode(x, kFp16)) << x;
    ASSERT_EQ(Eigen::bfloat16(x).value, encode(x, kBf16)) << x;
  });
#else
  GTEST_SKIP() << "Eigen is not installed";
#endif
}

}  // namespace
}  // namespace halfgrad
