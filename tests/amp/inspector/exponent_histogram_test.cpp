#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include <halfgrad/amp/inspector/exponent_histogram.h>
#include <halfgrad/autograd/creation.h>

namespace halfgrad::amp {
namespace {

TEST(ExponentHistogram, CountsEveryExponentOfFloat16) {
  ExponentHistogram numbers;
  for (int e = -24; e <= 15; ++e) {
    const double low = std::exp2(e), high = std::nextafter(2 * low, 0);
    numbers.add(tensor({low, -high}, kFloat64).array());
  }
  for (int e = -30; e <= 20; ++e) EXPECT_EQ(numbers.count(e), e >= -24 && e <= 15 ? 2 : 0) << e;
  EXPECT_EQ(numbers.between(-24, -14), 20);
  EXPECT_EQ(numbers.nonzero(), 80);
  EXPECT_EQ(numbers.smallest(), std::exp2(-24));
  EXPECT_EQ(numbers.largest(), std::nextafter(65536.0, 0));
}

TEST(ExponentHistogram, SeparatesZerosInfinitiesAndNans) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    ExponentHistogram numbers;
    numbers.add(tensor({0.0, -0.0, inf, -inf, -inf, std::nan(""), 1.5}, dtype).array());
    EXPECT_EQ(numbers.zeros(), 2);
    EXPECT_EQ(numbers.infinities(), 3);
    EXPECT_EQ(numbers.nans(), 1);
    EXPECT_EQ(numbers.nonfinite(), 4);
    EXPECT_EQ(numbers.count(0), 1);
    EXPECT_EQ(numbers.total(), 7);
  }
}

TEST(ExponentHistogram, DividesExactlyByPowersOfTwo) {
  ExponentHistogram scaled, unscaled;
  const Array numbers = tensor({6.0, 0x1p-24, 65504.0}, kFloat16).array();
  scaled.add(numbers);
  unscaled.add(numbers, 65536);
  for (int e = -40; e < 20; ++e) EXPECT_EQ(unscaled.count(e - 16), scaled.count(e)) << e;
}

TEST(ExponentHistogram, AddsHistograms) {
  ExponentHistogram a, b, both;
  const Tensor x = tensor({1.0, 2.0, 0.0}), y = tensor({2.0, 1e-3});
  a.add(x.array());
  b.add(y.array());
  both.add(x.array());
  both.add(y.array());
  a.add(b);
  EXPECT_EQ(a, both);
  EXPECT_EQ(a.smallest(), static_cast<double>(1e-3F));
}

TEST(ExponentHistogram, CountsFloat64OutsideItsExponentsAtTheEnds) {
  ExponentHistogram numbers;
  numbers.add(tensor({1e-300, 1e300}, kFloat64).array());
  EXPECT_EQ(numbers.count(ExponentHistogram::kFirst), 1);
  EXPECT_EQ(numbers.count(ExponentHistogram::kLast), 1);
}

TEST(ExponentHistogram, ReadsViewsAndEmptyArrays) {
  ExponentHistogram numbers;
  numbers.add(tensor({{1.0, 2.0}, {4.0, 8.0}}).t().array());
  numbers.add(empty({0, 3}).array());
  EXPECT_EQ(numbers.total(), 4);
  EXPECT_EQ(numbers.count(3), 1);
}

TEST(ExponentHistogram, RefusesIntegers) {
  ExponentHistogram numbers;
  EXPECT_THROW(numbers.add(zeros({2}, kLong).array()), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::amp
