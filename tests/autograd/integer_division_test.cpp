#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/doubles.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

using IntegerDivision = NumbersOnDevice;
HALFGRAD_ON_DEVICES(IntegerDivision);

using Integers = std::vector<std::int64_t>;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// As C++ divides; the one quotient beyond the range wraps.
std::int64_t truncated(std::int64_t a, std::int64_t b) {
  return a == kLeast && b == -1 ? kLeast : a / b;
}
std::int64_t floored(std::int64_t a, std::int64_t b) {
  const bool exact = b == -1 || a % b == 0;
  return truncated(a, b) - (!exact && (a < 0) != (b < 0) ? 1 : 0);
}

// Where doubles round, on both sides of multiples, and at the ends of the range.
Integers hard_integers() {
  Integers all{0, 1, 2, 3, 5, 7, 10, 255, 3037000499, 3037000500};
  for (const int power : {31, 52, 53, 54, 61, 62}) {
    for (const std::int64_t near : {-3, -1, 0, 1, 2}) {
      all.push_back((std::int64_t{1} << power) + near);
    }
  }
  for (const std::int64_t below : {0, 1, 511, 512, 513, 1024}) all.push_back(kMost - below);
  for (const std::int64_t part : {2, 3, 5, 7}) all.push_back(kMost / part);
  for (std::size_t i = 0, count = all.size(); i < count; ++i) all.push_back(-all[i]);
  all.push_back(kLeast);
  return all;
}

TEST_P(IntegerDivision, IsExact) {
  const Integers dividends = hard_integers();
  Integers divisors;
  for (const std::int64_t each : dividends) {
    if (each != 0) divisors.push_back(each);
  }
  const Tensor a = unsqueeze(tensor(dividends).to(device()), 1), b = tensor(divisors).to(device());
  const Integers down = div(a, b, "floor").to_vector<std::int64_t>();
  const Integers toward_zero = div(a, b, "trunc").to_vector<std::int64_t>();
  std::size_t place = 0;
  for (const std::int64_t dividend : dividends) {
    for (const std::int64_t divisor : divisors) {
      EXPECT_EQ(down[place], floored(dividend, divisor)) << dividend << " / " << divisor;
      EXPECT_EQ(toward_zero[place], truncated(dividend, divisor)) << dividend << " / " << divisor;
      ++place;
    }
  }
}

TEST_P(IntegerDivision, KeepsTheCommonDType) {
  const Doubles dividends{7, -7, 7, -7}, divisors{2, 2, -2, -2};
  for (const DType dtype : {kLong, kInt}) {
    const Tensor a = numbers(dividends, dtype), b = numbers(divisors, dtype);
    EXPECT_EQ(floor_divide(a, b).dtype(), dtype);
    EXPECT_EQ(numbers(floor_divide(a, b)), (Doubles{3, -4, -4, 3}));
    EXPECT_EQ(numbers(div(a, b, "trunc")), (Doubles{3, -3, -3, 3}));
    EXPECT_EQ(numbers(floor_divide(a, 2)), (Doubles{3, -4, 3, -4}));
    EXPECT_EQ(numbers(div(a > 0, b, "floor")), (Doubles{0, 0, -1, 0}));
  }
  const Tensor bytes = numbers({7, 249}, kUInt8);
  EXPECT_EQ(floor_divide(bytes, 2).dtype(), kUInt8);
  EXPECT_EQ(numbers(floor_divide(bytes, 2)), (Doubles{3, 124}));
  EXPECT_EQ(div(bytes, numbers({2, 2}, kInt), "trunc").dtype(), kInt);
  EXPECT_EQ(numbers(floor_divide(numbers({-0x1p31}, kInt), -1)), Doubles{-0x1p31}) << "wraps";
  EXPECT_EQ(div(numbers(dividends, kLong), 2, std::nullopt).dtype(), kFloat);
  EXPECT_EQ(floor_divide(zeros({0, 2}, in(kLong)), 0).sizes(), (Shape{0, 2}));
}

TEST_P(IntegerDivision, OfFloatsTowardZeroIsRoundedOnce) {
  const Tensor a = numbers({7, -7, -1, kInf, 1, 0}), b = numbers({2, 2, 3, 2, 0, 0});
  expect_numbers(div(a, b, "trunc").cpu(), {3, -3, -0.0, kInf, kInf, kNan});
  expect_numbers(div(a, 2.5, "trunc").cpu(), {2, -2, -0.0, kInf, 0, 0});
  // Below 3, which is the nearest number in 16 bits.
  EXPECT_EQ(numbers(div(numbers({2047}, kHalf), numbers({682.5}, kHalf), "trunc")), Doubles{2});
  EXPECT_EQ(numbers(div(numbers({256}, kBFloat16), 85.5, "trunc")), Doubles{2});
}

TEST_P(IntegerDivision, HasAGradientOfZero) {
  const Tensor a = numbers({7, 1, 0}).requires_grad_(), b = numbers(Doubles{0}).requires_grad_();
  const Tensor y = div(a, b, "trunc");
  EXPECT_TRUE(y.requires_grad());
  y.backward(ones_like(y));
  EXPECT_EQ(numbers(a.grad()), Doubles(3, 0));
  EXPECT_EQ(numbers(b.grad()), Doubles(1, 0));
}

TEST_P(IntegerDivision, RefusesWhatItCannotAnswer) {
  const Tensor integers = numbers({1, 2}, kLong), floats = numbers({1, 2}, kFloat);
  EXPECT_EQ(message_of([&] { div(floats, floats, "floor"); }),
            "div: expected integers for rounding_mode 'floor', got float32");
  EXPECT_EQ(message_of([&] { div(integers, integers, "round"); }),
            "div: expected rounding_mode 'trunc' or 'floor', got 'round'");
  EXPECT_THROW(div(integers > 0, integers > 0, "trunc"), std::invalid_argument);
  EXPECT_THROW(floor_divide(integers, 2.0), std::invalid_argument);
  EXPECT_THROW(floor_divide(integers, numbers({1, 2, 3}, kLong)), std::invalid_argument);
  if (!device().is_cpu()) return;
  EXPECT_EQ(message_of([&] { floor_divide(integers, integers - 1); }),
            "div: expected no integer divisor of 0, got one");
  EXPECT_THROW(div(integers, 0, "trunc"), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
