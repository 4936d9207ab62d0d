#include <halfgrad/core/numbers/convert.h>
#include <halfgrad/tests/core/numbers/special_floats.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace halfgrad {
namespace {

// A binary format with these numbers of bits, computed with doubles.
struct Format {
  int exponent_bits, fraction_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }

  double decode(std::uint16_t bits) const {
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    const double sign = bits >> 15 != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? kNaN : sign * kInf;
    const int scale = std::max(exponent, 1) - bias() - fraction_bits;
    return sign * std::ldexp(fraction + (exponent != 0 ? 1 << fraction_bits : 0), scale);
  }

  double round(double x) const {
    if (!std::isfinite(x) || x == 0) return x;
    const int exponent = std::max(std::ilogb(x), 1 - bias());
    const double spacing = std::ldexp(1, exponent - fraction_bits);
    const double rounded = std::nearbyint(x / spacing) * spacing;
    const double largest = std::ldexp(2 - std::ldexp(1, -fraction_bits), bias());
    return std::abs(rounded) > largest ? std::copysign(kInf, x) : rounded;
  }
};

template <class T>
constexpr Format kFormat = std::is_same_v<T, Half> ? Format{5, 10} : Format{8, 7};

template <class T>
class Convert : public ::testing::Test {};
using Reduced = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(Convert, Reduced);

// Expects equal values and signs, or two NaNs.
void expect_same(double actual, double expected, double input) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << input;
  } else {
    EXPECT_EQ(actual, expected) << input;
    EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << input;
  }
}

template <class T>
std::vector<T> all_patterns() {
  std::vector<T> patterns;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    patterns.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
  }
  return patterns;
}

template <class T>
std::vector<float> widened(const std::vector<T>& in) {
  std::vector<float> out(in.size());
  widen(in.data(), out.data(), static_cast<std::int64_t>(in.size()));
  return out;
}

// Converts by vector and by scalar code, expects equal bits, and returns the values.
template <class T>
std::vector<double> narrowed(const std::vector<float>& in) {
  std::vector<T> out(in.size());
  narrow(in.data(), out.data(), static_cast<std::int64_t>(in.size()));
  std::vector<double> values;
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(out[i].bits, T(in[i]).bits) << std::hexfloat << in[i];
    values.push_back(kFormat<T>.decode(out[i].bits));
  }
  return values;
}

TYPED_TEST(Convert, WidensEveryPattern) {
  const auto patterns = all_patterns<TypeParam>();
  const auto floats = widened(patterns);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(floats[i]),
              std::bit_cast<std::uint32_t>(static_cast<float>(patterns[i])));
    expect_same(floats[i], kFormat<TypeParam>.decode(patterns[i].bits), patterns[i].bits);
  }
}

TYPED_TEST(Convert, RoundTripsEveryValue) {
  const auto patterns = all_patterns<TypeParam>();
  const auto floats = widened(patterns);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (std::isnan(floats[i])) continue;
    EXPECT_EQ(TypeParam(floats[i]).bits, patterns[i].bits);
  }
}

// Tests every value and every midpoint between neighbours, each with the floats next to it.
TYPED_TEST(Convert, RoundsToNearestEven) {
  const Format format = kFormat<TypeParam>;
  std::vector<float> inputs;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double low = format.decode(static_cast<std::uint16_t>(bits));
    if (!std::isfinite(low)) continue;
    double high = format.decode(static_cast<std::uint16_t>(bits + 1));
    if (!std::isfinite(high)) {
      high = low + (low - format.decode(static_cast<std::uint16_t>(bits - 1)));
    }
    const double midpoint = low + (high - low) / 2;
    for (const double x : {low, midpoint}) {
      const float at = static_cast<float>(x);
      ASSERT_EQ(static_cast<double>(at), x);
      inputs.insert(inputs.end(), {std::nextafter(at, -kInf), at, std::nextafter(at, kInf)});
    }
  }
  for (const float edge : {0.0f, -0.0f, kInf, -kInf, kNaN, -kNaN, 0x1p-149f, -0x1p-149f,
                           0x1.fffffep127f, -0x1.fffffep127f}) {
    inputs.push_back(edge);
  }
  const auto values = narrowed<TypeParam>(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    expect_same(values[i], format.round(inputs[i]), inputs[i]);
  }
}

TYPED_TEST(Convert, KeepsNaNsThatFillOnlyLowBits) {
  for (const std::uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fffffffu, 0x7f801fffu}) {
    EXPECT_TRUE(std::isnan(narrowed<TypeParam>({std::bit_cast<float>(bits)})[0])) << bits;
  }
}

TYPED_TEST(Convert, TouchesOnlyItsRange) {
  for (std::int64_t n = 0; n < 20; ++n) {
    std::vector<float> floats(32, 3.0f);
    std::vector<TypeParam> shorts(32, TypeParam(5.0f));
    narrow(floats.data(), shorts.data() + 1, n);
    for (std::int64_t i = 0; i < 32; ++i) {
      EXPECT_EQ(static_cast<float>(shorts[i]), i >= 1 && i <= n ? 3.0f : 5.0f);
    }
    widen(shorts.data() + 1, floats.data() + 1, n);
    EXPECT_EQ(floats[n + 1], 3.0f);
  }
}

struct Golden {
  double input, expected;
};

template <class T, std::size_t N>
void check_goldens(const Golden (&goldens)[N]) {
  for (const auto [input, expected] : goldens) {
    const std::vector<float> eight(8, static_cast<float>(input));
    for (const double value : narrowed<T>(eight)) expect_same(value, expected, input);
  }
}

// Computed with PyTorch's casts.
TEST(ConvertGoldens, Half) {
  check_goldens<Half>({{65519.99, 65504},
                       {65520, kInf},
                       {0x1p-24, 0x1p-24},
                       {0x1p-25, 0},
                       {0x1p-25 * 1.001, 0x1p-24},
                       {6.1e-5, 6.097555160522461e-05},
                       {1 + 0x1p-11, 1},
                       {1 + 0x1p-11 + 0x1p-20, 1.0009765625},
                       {1 + 3 * 0x1p-11, 1.001953125},
                       {2049, 2048},
                       {2051, 2052},
                       {0.1, 0.0999755859375},
                       {1.0 / 3, 0.333251953125},
                       {1e-8, 0},
                       {kNaN, kNaN}});
}

TEST(ConvertGoldens, BFloat16) {
  check_goldens<BFloat16>({{1 + 0x1p-8, 1},
                           {1 + 3 * 0x1p-8, 1.015625},
                           {1 + 0x1p-8 + 0x1p-16, 1.0078125},
                           {0.1, 0.10009765625},
                           {1.0 / 3, 0.333984375},
                           {257, 256},
                           {259, 260},
                           {65504, 65536},
                           {3.4e38, kInf},
                           {1e-40, 9.183549615799121e-41},
                           {kNaN, kNaN}});
}

// PyTorch's, on x86.
TEST(ConvertGoldens, IntegersOutOfRange) {
  struct Integers {
    double input;
    std::int64_t i64;
    std::int32_t i32;
    std::int16_t i16;
    std::int8_t i8;
    std::uint8_t u8;
  };
  const auto check = [](auto x, const Integers& row) {
    EXPECT_EQ(detail::convert<std::int64_t>(x), row.i64) << row.input;
    EXPECT_EQ(detail::convert<std::int32_t>(x), row.i32) << row.input;
    EXPECT_EQ(detail::convert<std::int16_t>(x), row.i16) << row.input;
    EXPECT_EQ(detail::convert<std::int8_t>(x), row.i8) << row.input;
    EXPECT_EQ(detail::convert<std::uint8_t>(x), row.u8) << row.input;
  };
  for (const Integers& row :
       {Integers{kInf, INT64_MIN, INT32_MIN, 0, 0, 0},
        Integers{-kInf, INT64_MIN, INT32_MIN, 0, 0, 0},
        Integers{kNaN, INT64_MIN, INT32_MIN, 0, 0, 0},
        Integers{1e20, INT64_MIN, INT32_MIN, 0, 0, 0},
        Integers{1e10, 10'000'000'000, INT32_MIN, 0, 0, 0},
        Integers{-3e9, -3'000'000'000, INT32_MIN, 0, 0, 0},
        Integers{70000.5, 70000, 70000, 4464, 112, 112}, Integers{300.5, 300, 300, 300, 44, 44},
        Integers{-1.5, -1, -1, -1, -1, 255}, Integers{-200.9, -200, -200, -200, 56, 56}}) {
    check(row.input, row);
    check(static_cast<float>(row.input), row);
  }
  const Half infinite(std::numeric_limits<float>::infinity());
  EXPECT_EQ(detail::convert<std::int32_t>(infinite), INT32_MIN);
  EXPECT_EQ(detail::convert<std::int8_t>(Half(300.0F)), 44);
}

}  // namespace
}  // namespace halfgrad
