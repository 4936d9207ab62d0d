#include <halfgrad/core/numbers/scalar.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/core/array.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;  // no double holds it

TEST(Scalar, PromotesByItsKind) {
  EXPECT_EQ(Scalar(2.0).kind(), kFloat);
  EXPECT_EQ(Scalar(2.0F).kind(), kFloat);
  EXPECT_EQ(Scalar(2).kind(), kLong);
  EXPECT_EQ(Scalar(std::uint8_t{2}).kind(), kLong);
  EXPECT_EQ(Scalar(true).kind(), kBool);
}

TEST(Scalar, KeepsEveryBitOfAnInteger) {
  for (const std::int64_t number : {kOdd, kLargest, kSmallest, kLargest - 1, std::int64_t{-1}}) {
    EXPECT_EQ(Scalar(number).to<std::int64_t>(), number);
    EXPECT_EQ(Scalar(number).cast<std::int64_t>(), number);
    EXPECT_EQ(Array::full({1}, number, kLong).item<std::int64_t>(), number);
  }
  EXPECT_EQ(Scalar(kLargest).to<double>(), 0x1p63);
}

TEST(Scalar, RoundsAndTruncatesAsAConversionDoes) {
  EXPECT_EQ(Scalar(2.9).to<int>(), 2);
  EXPECT_EQ(Scalar(-2.9).to<int>(), -2);
  EXPECT_EQ(Scalar(255.9).to<std::uint8_t>(), 255);
  EXPECT_EQ(Scalar(-1).to<std::uint8_t>(), 255);
  EXPECT_TRUE(Scalar(0.1).to<bool>());
  EXPECT_TRUE(Scalar(std::nan("")).to<bool>());
  EXPECT_EQ(Scalar(0.1).to<float>(), 0.1F);
  EXPECT_EQ(static_cast<float>(Scalar(65519.0).to<Half>()), 65504.0F);
  EXPECT_EQ(Scalar(std::numeric_limits<double>::infinity()).to<float>(),
            std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(Scalar(std::nan("")).to<float>()));
}

TEST(Scalar, RefusesValuesOutOfRange) {
  EXPECT_THROW(Scalar(256).to<std::uint8_t>(), std::invalid_argument);
  EXPECT_THROW(Scalar(-256).to<std::uint8_t>(), std::invalid_argument);
  EXPECT_THROW(Scalar(0x1p31).to<std::int32_t>(), std::invalid_argument);
  EXPECT_EQ(Scalar(-0x1p31).to<std::int32_t>(), std::numeric_limits<std::int32_t>::min());
  EXPECT_THROW(Scalar(-0x1p31 - 1).to<std::int32_t>(), std::invalid_argument);
  EXPECT_THROW(Scalar(0x1p63).to<std::int64_t>(), std::invalid_argument);
  EXPECT_EQ(Scalar(-0x1p63).to<std::int64_t>(), kSmallest);
  EXPECT_THROW(Scalar(std::nan("")).to<std::int64_t>(), std::invalid_argument);
  EXPECT_THROW(Scalar(std::numeric_limits<double>::infinity()).to<std::int64_t>(),
               std::invalid_argument);
  EXPECT_THROW(Scalar(65520.0).to<Half>(), std::invalid_argument);
  EXPECT_THROW(Scalar(70000).to<Half>(), std::invalid_argument);
  EXPECT_THROW(Scalar(1e39).to<float>(), std::invalid_argument);
  EXPECT_EQ(message_of([] { Array::full({1}, 300, kByte); }),
            "Scalar: expected a number within the range of uint8, got 300");
  EXPECT_EQ(message_of([] { Array::full({1}, 1e6, kHalf); }),
            "Scalar: expected a number within the range of float16, got 1e+06");
}

}  // namespace
}  // namespace halfgrad
