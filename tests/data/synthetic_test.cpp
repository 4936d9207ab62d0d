#include <halfgrad/data/synthetic.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

namespace halfgrad::data {
namespace {

constexpr std::int64_t kPixels = DigitImages::kSide * DigitImages::kSide;

TEST(SyntheticDigits, SampleDependsOnSeedAndIndexAlone) {
  const DigitImages many = synthetic_digits(50, 3), few = synthetic_digits(20, 3);
  EXPECT_TRUE(std::equal(few.pixels.begin(), few.pixels.end(), many.pixels.begin()));
  EXPECT_TRUE(std::equal(few.labels.begin(), few.labels.end(), many.labels.begin()));
  EXPECT_NE(synthetic_digits(20, 4).pixels, few.pixels);
}

/// Fixes the images: examples and documents state accuracies that were measured with them.
TEST(SyntheticDigits, ImagesHaveTheExpectedBytes) {
  const DigitImages digits = synthetic_digits(1000, 1);
  std::uint64_t digest = 0;
  for (std::uint8_t pixel : digits.pixels) digest = digest * 0x100000001B3 + pixel;
  for (std::int64_t label : digits.labels) digest = digest * 0x100000001B3 + label;
  EXPECT_EQ(digest, 0x07F547AD555C17DDu);
}

TEST(SyntheticDigits, ClassesAreBalancedAndImagesAreMostlyPaper) {
  constexpr std::int64_t count = 5000;
  const DigitImages digits = synthetic_digits(count, 1);
  ASSERT_EQ(digits.pixels.size(), static_cast<size_t>(count * kPixels));
  std::vector<std::int64_t> counts(10);
  for (std::int64_t label : digits.labels) ++counts.at(label);
  const double deviation = std::sqrt(count * 0.1 * 0.9);
  for (std::int64_t n : counts) EXPECT_NEAR(static_cast<double>(n), count * 0.1, 4 * deviation);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint8_t* image = &digits.pixels[i * kPixels];
    const auto inked =
        std::count_if(image, image + kPixels, [](std::uint8_t p) { return p > 127; });
    EXPECT_GT(inked, 10) << i;
    EXPECT_LT(inked, kPixels / 2) << i;
  }
}

TEST(Synthetic, CountMayBeZeroButNotNegative) {
  EXPECT_TRUE(synthetic_digits(0, 1).labels.empty());
  EXPECT_THROW(synthetic_digits(-1, 1), std::invalid_argument);
  EXPECT_TRUE(membrane_loads(0, 1).loads.empty());
  EXPECT_THROW(membrane_loads(-1, 1), std::invalid_argument);
}

constexpr std::int64_t kSide = MembraneLoads::kSide;
constexpr std::int64_t kPoints = kSide * kSide;

TEST(MembraneLoads, SampleDependsOnSeedAndIndexAlone) {
  const MembraneLoads many = membrane_loads(50, 3), few = membrane_loads(20, 3);
  EXPECT_TRUE(std::equal(few.loads.begin(), few.loads.end(), many.loads.begin()));
  EXPECT_TRUE(std::equal(few.deflections.begin(), few.deflections.end(), many.deflections.begin()));
  EXPECT_NE(membrane_loads(20, 4).loads, few.loads);
}

/// Green's identity with the first eigenfunction p = sin(pi x) sin(pi y):
///     integral of q p = T 2 pi^2 integral of w p
/// The midpoint rule computes both integrals, the left one over the patch of the load.
TEST(MembraneLoads, DeflectionBalancesTheLoad) {
  constexpr std::int64_t count = 50;
  const double pi = std::acos(-1.0);
  const MembraneLoads samples = membrane_loads(count, 1);
  for (std::int64_t i = 0; i < count; ++i) {
    const float* load = &samples.loads[i * MembraneLoads::kInputs];
    const double x = 0.5 + 0.3 * load[0], y = 0.5 + 0.3 * load[1];
    const double half_width = 0.1 + 0.05 * load[2], force = 1 + 0.5 * load[3];
    constexpr int steps = 10000;
    double along_x = 0, along_y = 0;
    for (int k = 0; k < steps; ++k) {
      const double offset = half_width * ((2 * k + 1.0) / steps - 1);
      along_x += std::sin(pi * (x + offset)) / steps;
      along_y += std::sin(pi * (y + offset)) / steps;
    }
    double response = 0;
    for (std::int64_t row = 0; row < kSide; ++row)
      for (std::int64_t column = 0; column < kSide; ++column)
        response += samples.deflections[(i * kSide + row) * kSide + column] *
                    std::sin(pi * (static_cast<double>(row) + 0.5) / kSide) *
                    std::sin(pi * (static_cast<double>(column) + 0.5) / kSide) / kPoints;
    const double expected = force * along_x * along_y;
    // One float roundoff for each deflection, times 10 for cancellation in the sum.
    EXPECT_NEAR(1000 * 2 * pi * pi * response, expected, 10 * 0x1p-24 * expected);
  }
}

/// The reason for the task: if the network's output is zero, every element of dL/dy is zero in
/// fp16.
TEST(MembraneLoads, EveryGradientElementRoundsToZeroInHalfPrecision) {
  const float elements = 128 * static_cast<float>(kPoints);
  const MembraneLoads samples = membrane_loads(4096, 1);
  float largest = 0;
  for (float w : samples.deflections) largest = std::max(largest, std::abs(w));
  EXPECT_LE(2 * largest / elements, 0x1p-25f);
  EXPECT_GT(65536 * 2 * largest / elements, 0x1p-14f);  // a normal fp16 value after scaling
}

}  // namespace
}  // namespace halfgrad::data
