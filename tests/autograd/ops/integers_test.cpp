#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/message_of.h>

// Integers keep bits that floating point would round, and refuse values that they cannot hold.
namespace halfgrad {
namespace {

using Integers = std::vector<std::int64_t>;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;  // no double holds it

Integers integers(const Tensor& x) {
  EXPECT_EQ(x.dtype(), kLong);
  return x.to_vector<std::int64_t>();
}

TEST(Integers, KeepTheirBitsFromAndToScalars) {
  EXPECT_EQ(integers(tensor({kOdd, kLargest})), (Integers{kOdd, kLargest}));
  EXPECT_EQ(integers(tensor({{kOdd}, {-kOdd}})), (Integers{kOdd, -kOdd}));
  EXPECT_EQ(tensor(kLargest).item<std::int64_t>(), kLargest);
  EXPECT_EQ(integers(full({2}, kLargest)), Integers(2, kLargest));
  EXPECT_EQ(integers(zeros({1}, {.dtype = kLong}).fill_(kOdd)), Integers{kOdd});
  EXPECT_EQ(integers(arange(kOdd, kOdd + 5, 2)), (Integers{kOdd, kOdd + 2, kOdd + 4}));
  EXPECT_EQ(integers(arange(kLargest - 1, kLargest)), Integers{kLargest - 1});
}

TEST(Integers, KeepTheirBitsInOpsWithScalars) {
  const Tensor x = tensor({std::int64_t{1}, kOdd});
  EXPECT_EQ(integers(x + kOdd), (Integers{kOdd + 1, 2 * kOdd}));
  EXPECT_EQ(integers(kOdd - x), (Integers{kOdd - 1, 0}));
  EXPECT_EQ(integers(tensor({1}) * kOdd), Integers{kOdd});
  EXPECT_EQ(integers(add(tensor({1}), tensor({1}), kOdd)), Integers{kOdd + 1});
  EXPECT_EQ(integers(sub(tensor({0}), tensor({1}), kOdd)), Integers{-kOdd});
  EXPECT_EQ(integers(clamp(x, 0, kLargest)), (Integers{1, kOdd}));
  EXPECT_EQ(integers(clamp(x, kOdd)), Integers(2, kOdd));
  EXPECT_EQ(integers(masked_fill(x, x == kOdd, kLargest)), (Integers{1, kLargest}));
  EXPECT_EQ(integers(where(x == kOdd, x, kOdd - 1)), (Integers{kOdd - 1, kOdd}));
  EXPECT_EQ((x == kOdd - 1).to_vector<bool>(), (std::vector<bool>{false, false}));
  EXPECT_EQ(integers(pow(x, 1)), (Integers{1, kOdd}));
}

TEST(Integers, RefuseValuesOutOfRange) {
  EXPECT_THROW(full({2}, 300, {.dtype = kByte}), std::invalid_argument);
  EXPECT_THROW(zeros({2}, {.dtype = kByte}).fill_(300), std::invalid_argument);
  EXPECT_THROW(zeros({2}, {.dtype = kLong}).fill_(std::nan("")), std::invalid_argument);
  EXPECT_THROW(full({2}, 1e30, {.dtype = kLong}), std::invalid_argument);
  EXPECT_THROW(full({2}, 1e6, {.dtype = kHalf}), std::invalid_argument);
  EXPECT_THROW(masked_fill(zeros({2}, {.dtype = kHalf}), tensor({true, false}), -1e9),
               std::invalid_argument);
  EXPECT_THROW(tensor(3e9).item<int>(), std::invalid_argument);
  const Tensor byte = zeros({2}, {.dtype = kByte});
  EXPECT_THROW(byte.array().fill_(256), std::invalid_argument);
  EXPECT_EQ(byte.to_vector<std::uint8_t>(), std::vector<std::uint8_t>(2, 0)) << "nothing lost";
}

TEST(Integers, RefuseFractions) {
  const Tensor x = tensor({1, 2});
  EXPECT_THROW(add(x, x, 2.5), std::invalid_argument);
  EXPECT_THROW(sub(x, x, 0.5), std::invalid_argument);
  EXPECT_EQ(add(x, tensor({1.0, 2.0}), 2.5).to_vector<double>(), (std::vector<double>{3.5, 7}));
  EXPECT_THROW(pow(x, -1), std::invalid_argument);
  EXPECT_EQ(pow(x, -1.0).to_vector<double>(), (std::vector<double>{1, 0.5}));
}

TEST(Integers, OfAnySizeHaveNegativePowers) {
  constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
  const Tensor bases = tensor({std::int64_t{1}, std::int64_t{-1}, std::int64_t{7}, kLargest});
  EXPECT_EQ(integers(pow(bases, tensor(kSmallest))), (Integers{1, 1, 0, 0}));
  EXPECT_EQ(integers(pow(bases, tensor(-3))), (Integers{1, -1, 0, 0}))
      << "the square of the largest wraps to 1";
}

TEST(Masks, AreAddedAsOrWithAnyAlpha) {
  const Tensor mask = tensor({true, false});
  EXPECT_EQ(add(mask, tensor(true), -1).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_EQ(add(mask, tensor(true), 0).to_vector<bool>(), (std::vector<bool>{true, false}));
}

TEST(Masks, AreNotSubtracted) {
  const Tensor mask = tensor({true, false});
  EXPECT_THROW(mask - mask, std::invalid_argument);
  EXPECT_THROW(tensor({1.0, 2.0}) - mask, std::invalid_argument);
  EXPECT_THROW(1 - mask, std::invalid_argument);
  EXPECT_THROW(-mask, std::invalid_argument);
  EXPECT_EQ((mask + mask).dtype(), kBool);
}

TEST(SmallIntegers, ScalarsOutOfRangeAreRefused) {
  const Tensor bytes = tensor({5, 7}, kUInt8);
  const Tensor mask = tensor({true, false});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { clamp_max(bytes, -3); }),
            "clamp: expected a max that uint8 can hold, got -3");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { clamp(bytes, 300); }),
            "clamp: expected a min that uint8 can hold, got 300");
  EXPECT_EQ(integers(clamp(bytes, -3, 300).to(kLong)), (Integers{5, 7}));
  EXPECT_EQ(integers(clamp(bytes, 6, 300).to(kLong)), (Integers{6, 7}));
  EXPECT_THROW(where(mask, bytes, 300), std::invalid_argument);
  EXPECT_THROW(where(mask, 300, bytes), std::invalid_argument);
  EXPECT_EQ(integers(where(mask, bytes, 255).to(kLong)), (Integers{5, 255}));
  EXPECT_THROW(add(bytes, bytes, 300), std::invalid_argument);
  EXPECT_EQ(integers(add(bytes, bytes, -1).to(kLong)), (Integers{0, 0}));
}

TEST(Integers, AreNotRoundedBesideFloat16) {
  const Tensor sum = tensor({0.6}).to(kHalf) + tensor({std::int64_t{2049}});
  EXPECT_EQ(sum.dtype(), kHalf);
  EXPECT_EQ(sum.to_vector<double>(), std::vector<double>{2050});  // 2048 + 0.6 would be 2048
}

TEST(Arange, RefusesAStepThatLeadsAway) {
  EXPECT_THROW(arange(-0.5), std::invalid_argument);
  EXPECT_THROW(arange(0, 5, -1), std::invalid_argument);
  EXPECT_THROW(arange(0, 5, 0), std::invalid_argument);
  EXPECT_THROW(arange(std::nan("")), std::invalid_argument);
  EXPECT_EQ(arange(3, 3, -1).numel(), 0);
  EXPECT_EQ(arange(1, 1.3, 0.1).numel(), 4) << "the quotient of the doubles is above 3";
}

TEST(Arange, CountsLargeStepsExactly) {
  constexpr std::int64_t kStep = std::int64_t{1} << 60;
  EXPECT_EQ(integers(arange(1, 4 * kStep + 2, kStep)).back(), 4 * kStep + 1);
  EXPECT_EQ(integers(arange(-1, -4 * kStep - 2, -kStep)).back(), -4 * kStep - 1);
  EXPECT_EQ(integers(arange(-kLargest, kLargest, kLargest)), (Integers{-kLargest, 0}));
  EXPECT_EQ(integers(arange(-7 * kStep, 7 * kStep, 4 * kStep)),
            (Integers{-7 * kStep, -3 * kStep, kStep, 5 * kStep}));
  EXPECT_THROW(arange(-kLargest, kLargest, 1), std::exception);
}

// The values are PyTorch's.
TEST(Arange, OfIntegersStepsByWholeNumbers) {
  EXPECT_EQ(integers(arange(-0.9, 2.1, 2.0, kLong)), (Integers{0, 2}));
  EXPECT_EQ(integers(arange(0.5, 5, 1.5, kLong)), (Integers{0, 1, 2}));
  EXPECT_EQ(integers(arange(-3.7, 3.2, 1.9, kInt).to(kLong)), (Integers{-3, -2, -1, 0}));
  EXPECT_EQ(arange(0.5, 2, kFloat).to_vector<float>(), (std::vector<float>{0.5, 1.5}));
}

TEST(Linspace, OfIntegersHasWholeEnds) {
  EXPECT_EQ(integers(linspace(-3, 4.3, 10, kLong)), (Integers{-3, -2, -1, 0, 0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(integers(linspace(4.3, -3.9, 4, kLong)), (Integers{4, 1, 0, -3}));
}

}  // namespace
}  // namespace halfgrad
