#include <cstdint>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/core/array.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/message_of.h>

// Sizes, steps, strides and values at the ends of their ranges.
namespace halfgrad {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(ArrayLimits, ASliceStepMayExceedTheSize) {
  const Array x = Array::full({5}, 1, kFloat32);
  const Array first = x.slice(0, 0, 5, kMost);
  EXPECT_EQ(first.sizes(), Shape{1});
  EXPECT_EQ(first.strides(), Shape{1});
  EXPECT_EQ(x.slice(0, 1, 5, 3).sizes(), Shape{2});
  EXPECT_EQ(x.slice(0, 5, 5, kMost).sizes(), Shape{0});
}

TEST(ArrayLimits, SizesWhoseProductOverflowsAreRefused) {
  const Array x = Array::full({16}, 1, kFloat32);
  EXPECT_THROW(x.reshape({(std::int64_t{1} << 62) + 4, 4}), std::invalid_argument);
  const std::int64_t wide = std::int64_t{1} << 40;
  EXPECT_EQ(Array::empty({0, wide, wide}, kFloat32).slice(0, 0, 0).numel(), 0);
}

TEST(ArrayLimits, AZeroDimensionalArrayHasNoSize) {
  const Array x = Array::full({}, 1, kFloat32);
  EXPECT_EQ(message_of<std::out_of_range>([&] { x.size(0); }),
            "size: expected an array with dimensions, got none");
  EXPECT_THROW(x.stride(-1), std::out_of_range);
}

TEST(ArrayLimits, ExpandedDimensionsMerge) {
  const Array x = Array::full({1}, 3, kFloat32).expand({2, 3}).reshape({6});
  EXPECT_EQ(x.strides(), Shape{0});
  const Array rows = Array::full({2, 1, 1}, 3, kFloat32).expand({2, 3, 2});
  EXPECT_EQ(rows.reshape({2, 6}).strides(), (Shape{1, 0}));
  EXPECT_EQ(rows.reshape({6, 2}).strides(), (Shape{2, 1})) << "rows do not merge: a copy";
}

TEST(ArrayLimits, FromBlobNeedsNoReleaseFunction) {
  float values[] = {1, 2};
  EXPECT_EQ(Array::from_blob(values, {2}, {1}, kFloat32, nullptr).select(0, 1).item(), 2);
}

TEST(ArrayLimits, DevicesHaveNoNegativeIndex) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { Device(kCUDA, -1); }),
            "Device: expected an index of at least 0, got -1");
}

TEST(ArrayLimits, UnsignedValuesAboveInt64AreRefused) {
  EXPECT_THROW(Scalar(~std::uint64_t{0}), std::invalid_argument);
  EXPECT_EQ(Scalar(std::uint64_t{1} << 62).to<std::int64_t>(), std::int64_t{1} << 62);
}

// Ties and their neighbours, which an intermediate double would round differently.
TEST(ArrayLimits, LongIntegersRoundOnce) {
  const auto rounded = [](std::int64_t x) {
    return Array::full({}, x, kInt64).to(kBFloat16).item<double>();
  };
  const std::int64_t one = std::int64_t{1} << 62, half_unit = std::int64_t{1} << 54;
  EXPECT_EQ(rounded(one + half_unit), 0x1p62);
  EXPECT_EQ(rounded(one + half_unit + 1), 0x1p62 + 0x1p55);
  EXPECT_EQ(rounded(-one - half_unit - 1), -0x1p62 - 0x1p55);
  EXPECT_EQ(rounded(one + 3 * half_unit - 1), 0x1p62 + 0x1p55);
  EXPECT_EQ(rounded((std::int64_t{1} << 53) + 1), 0x1p53);
}

TEST(ArrayLimits, DistributionsCheckTheirRange) {
  const Array x = Array::empty({4}, kFloat32);
  EXPECT_THROW(random::uniform(x, -3e38, 3e38, {1, 2}), std::invalid_argument);
  EXPECT_THROW(random::uniform(Array::empty({4}, kFloat64), -1.7e308, 1.7e308, {1, 2}),
               std::invalid_argument);
  random::uniform(Array::empty({4}, kFloat64), -3e38, 3e38, {1, 2});
  for (const double p : {-1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(random::dropout(x, x, p, {1, 2}), std::invalid_argument) << p;
  }
}

}  // namespace
}  // namespace halfgrad
