#include <halfgrad/core/numbers/emulated.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include <halfgrad/core/math/philox.h>

namespace halfgrad {
namespace {

using EmulatedHalf = Emulated<kFp16>;
using EmulatedFloat = Emulated<kFp32>;

// The hardware computes in this format, so results must be equal.
TEST(Emulated, Fp32MatchesTheHardware) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const PhiloxBlock random = random_block({1, 0}, i);
    const auto a = std::bit_cast<float>(random.word[0]);
    const auto b = std::bit_cast<float>(random.word[1]);
    // A value close to -a * b, so that the sum cancels and rounds.
    const float c = -a * b * (1 + static_cast<float>(static_cast<int>(random.word[2])) * 0x1p-45f);
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) continue;
    const EmulatedFloat x(a), y(b), z(c);
    const auto same = [&](EmulatedFloat got, float expected) {
      return got.bits() == encode(expected, kFp32);
    };
    ASSERT_TRUE(same(x + y, a + b)) << a << ' ' << b;
    ASSERT_TRUE(same(x - y, a - b)) << a << ' ' << b;
    ASSERT_TRUE(same(x * y, a * b)) << a << ' ' << b;
    ASSERT_TRUE(same(x / y, a / b)) << a << ' ' << b;
    ASSERT_TRUE(same(sqrt(x * x), std::sqrt(a * a))) << a;
    ASSERT_TRUE(same(fma(x, y, z), std::fma(a, b, c))) << a << ' ' << b << ' ' << c;
  }
}

TEST(Emulated, AHalfPrecisionSumStopsGrowingAt2048) {
  EmulatedHalf sum(0);
  for (int i = 0; i < 4096; ++i) sum += EmulatedHalf(1);
  EXPECT_EQ(static_cast<double>(sum), 2048);
}

// 7 * 37 = 259 and 9 * 29 = 261 are midpoints in bf16, whose spacing here is 2. The addend decides,
// and is too small for the 53 bits of a double.
TEST(Emulated, FmaRoundsOnce) {
  using EmulatedBFloat16 = Emulated<kBf16>;
  const auto computed = [](double a, double b, double c) {
    return static_cast<double>(fma(EmulatedBFloat16(a), EmulatedBFloat16(b), EmulatedBFloat16(c)));
  };
  EXPECT_EQ(computed(7, 37, 0), 260);
  EXPECT_EQ(computed(7, 37, -0x1p-60), 258);
  EXPECT_EQ(computed(9, 29, 0), 260);
  EXPECT_EQ(computed(9, 29, 0x1p-60), 262);
}

}  // namespace
}  // namespace halfgrad
