#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <halfgrad/core/dtype.h>

namespace halfgrad {
namespace {

template <class T>
class LimitsOf16Bits : public testing::Test {};
using StoredTypes = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(LimitsOf16Bits, StoredTypes);

float neighbour(auto value, int steps) {
  value.bits = static_cast<std::uint16_t>(value.bits + steps);
  return static_cast<float>(value);
}

TYPED_TEST(LimitsOf16Bits, AreThoseOfTheFormat) {
  using Limits = std::numeric_limits<TypeParam>;
  const auto value = [](TypeParam x) { return static_cast<float>(x); };
  const TypeParam one(1.0f);
  EXPECT_TRUE(Limits::is_specialized);
  EXPECT_EQ(value(Limits::epsilon()), neighbour(one, 1) - 1);
  EXPECT_EQ(value(Limits::epsilon()), std::ldexp(1.0f, 1 - Limits::digits));
  EXPECT_EQ(value(Limits::epsilon()), static_cast<float>(2 * roundoff(dtype_of<TypeParam>())));
  EXPECT_TRUE(std::isinf(neighbour(Limits::max(), 1)));
  EXPECT_EQ(value(Limits::lowest()), -value(Limits::max()));
  EXPECT_EQ(value(Limits::max()),
            std::ldexp(2 - value(Limits::epsilon()), Limits::max_exponent - 1));
  EXPECT_EQ(value(Limits::min()), std::ldexp(1.0f, Limits::min_exponent - 1));
  EXPECT_EQ(value(Limits::denorm_min()), value(Limits::min()) * value(Limits::epsilon()));
  EXPECT_EQ(value(Limits::round_error()), 0.5f);
  EXPECT_EQ(value(Limits::infinity()), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(value(Limits::quiet_NaN())));
  EXPECT_TRUE(std::isnan(value(Limits::signaling_NaN())));
}

TEST(LargestOf16Bits, AreKnown) {
  EXPECT_EQ(static_cast<float>(std::numeric_limits<Half>::max()), 65504.0f);
  EXPECT_EQ(static_cast<float>(std::numeric_limits<BFloat16>::max()), 0x1.fep127f);
}

}  // namespace
}  // namespace halfgrad
