#include <bit>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/tests/amp/autocast/casts.h>
#include <halfgrad/tests/devices.h>

/// Values computed by PyTorch: casts round to nearest, ties to even.
namespace halfgrad::amp {
namespace {

TEST(Autocast, CastGoldens) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const struct {
    DType dtype;
    double from, to;
  } cases[] = {
      {kHalf, 65519.99, 65504},
      {kHalf, 65520, kInf},
      {kHalf, 0x1p-24, 0x1p-24},
      {kHalf, 0x1p-25, 0},
      {kHalf, 0x1p-25 * 1.001, 0x1p-24},
      {kHalf, 6.1e-5, 6.097555160522461e-05},
      {kHalf, 1 + 0x1p-11, 1},
      {kHalf, 1 + 0x1p-11 + 0x1p-20, 1.0009765625},
      {kHalf, 1 + 3 * 0x1p-11, 1.001953125},
      {kHalf, 2049, 2048},
      {kHalf, 2051, 2052},
      {kHalf, 0.1, 0.0999755859375},
      {kHalf, 1.0 / 3, 0.333251953125},
      {kHalf, 1e-8, 0},
      {kBFloat16, 1 + 0x1p-8, 1},
      {kBFloat16, 1 + 3 * 0x1p-8, 1.015625},
      {kBFloat16, 1 + 0x1p-8 + 0x1p-16, 1.0078125},
      {kBFloat16, 0.1, 0.10009765625},
      {kBFloat16, 1.0 / 3, 0.333984375},
      {kBFloat16, 257, 256},
      {kBFloat16, 259, 260},
      {kBFloat16, 65504, 65536},
      {kBFloat16, 3.4e38, kInf},
      {kBFloat16, 1e-40, 9.183549615799121e-41},
  };
  for (const auto& c : cases) {
    const Autocast autocast(default_device_type(), c.dtype);
    const double cast = to_fast(filled({1}, c.from)).item();
    EXPECT_EQ(std::bit_cast<std::uint64_t>(cast), std::bit_cast<std::uint64_t>(c.to))
        << c.from << " in " << name(c.dtype);
    const double nan = to_fast(filled({1}, std::numeric_limits<double>::quiet_NaN())).item();
    EXPECT_NE(nan, nan);
  }
}

TEST(Autocast, LinearGoldens) {
  const Tensor x = vector_of({0.1, 0.2, 0.3});
  const Tensor weight = vector_of({1.1, -2.2, 3.3, 0.5, 0.25, -0.125}).reshape({2, 3});
  const Tensor bias = vector_of({0.01, -0.02});
  const struct {
    DType dtype;
    bool enabled;
    double first, second;
    double roundoffs;  // in float32, where the order of summation is not fixed
  } cases[] = {
      {kBFloat16, true, 0.671875, 0.04248046875, 0},
      {kHalf, true, 0.67041015625, 0.04248046875, 0},
      {kFloat, false, 0.66999996, 0.0425, 4},
  };
  for (const auto& c : cases) {
    const Autocast autocast(default_device_type(), c.dtype, c.enabled);
    const Tensor y = linear(x, weight, bias);
    EXPECT_EQ(y.dtype(), c.dtype);
    EXPECT_NEAR(y[0].item(), c.first, c.roundoffs * roundoff(kFloat)) << name(c.dtype);
    EXPECT_NEAR(y[1].item(), c.second, c.roundoffs * roundoff(kFloat)) << name(c.dtype);
  }
}

}  // namespace
}  // namespace halfgrad::amp
