#include <halfgrad/core/array.h>
#include <halfgrad/tests/core/arrays.h>
#include <halfgrad/tests/message_of.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace halfgrad {
namespace {

TEST(Array, ViewsShareTheStorage) {
  const Array x = counting({2, 3, 4});
  EXPECT_EQ(values(x.transpose(0, 2).select(0, 1)), (std::vector<double>{1, 13, 5, 17, 9, 21}));
  EXPECT_EQ(values(x.slice(2, 1, 4, 2).select(0, 0)), (std::vector<double>{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(values(x.permute({2, 0, 1}).select(0, -1)),
            (std::vector<double>{3, 7, 11, 15, 19, 23}));
  x.select(0, 1).fill_(-1);
  EXPECT_EQ(values(x)[12], -1);
  EXPECT_EQ(values(x)[11], 11);
}

TEST(Array, ReshapeIsAViewWhereStridesAllow) {
  const Array x = counting({2, 3, 4});
  struct Case {
    Array array;
    Shape sizes;
    bool is_view;
  };
  const Case cases[] = {
      {x, {6, 4}, true},
      {x, {-1}, true},
      {x.transpose(0, 1), {3, 2, 2, 2}, true},
      {x.transpose(0, 1), {6, 4}, false},
      {x.slice(2, 0, 2), {6, 2}, true},
      {x.slice(2, 0, 2), {12}, false},
      {x.unsqueeze(1), {2, 12}, true},
      {x.select(1, 0).expand({5, 2, 4}), {5, 8}, false},
      {x.select(0, 0).select(0, 0).expand({2, 3, 4}), {2, 3, 2, 2}, true},
  };
  for (const Case& c : cases) {
    const Array y = c.array.reshape(c.sizes);
    EXPECT_EQ(values(y), values(c.array)) << to_string(c.sizes);
    EXPECT_EQ(y.storage() == c.array.storage(), c.is_view) << to_string(c.sizes);
  }
}

TEST(Array, BadShapesAreRefused) {
  const Array x = counting({2, 3});
  EXPECT_THROW(x.reshape({4}), std::invalid_argument);
  EXPECT_THROW(x.reshape({-1, -1}), std::invalid_argument);
  EXPECT_THROW(x.expand({2, 4}), std::invalid_argument);
  EXPECT_THROW(x.permute({0, 0}), std::invalid_argument);
  EXPECT_THROW(x.select(0, 2), std::out_of_range);
  EXPECT_THROW(x.select(2, 0), std::out_of_range);
  EXPECT_EQ(message_of<std::out_of_range>([&] { x.select(0, 0).select(0, 0).select(0, 0); }),
            "select: expected at least one dimension, got [] and index 0; item() returns the only "
            "element");
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(
      message_of([&] {
        Array::full({1, 1}, 1, kFloat).expand({large, large});
      }),
      "expand: expected fewer than 2^63 elements, got sizes " + to_string(Shape{large, large}));
  EXPECT_THROW(Array::empty({-1}, kFloat), std::invalid_argument);
  EXPECT_THROW(Array::empty({1LL << 40, 1LL << 40}, kFloat), std::invalid_argument);
  EXPECT_THROW(x.item(), std::invalid_argument);
  EXPECT_THROW(broadcast_shapes({2, 3}, {4}, "add"), std::invalid_argument);
}

TEST(Array, ViewsOutsideTheStorageAreRefused) {
  const Array x = counting({2, 3});
  EXPECT_EQ(values(x.as_strided({2, 2}, {3, 2}, 0)), (std::vector<double>{0, 2, 3, 5}));
  const struct {
    Shape sizes, strides;
    std::int64_t offset;
  } outside[] = {
      {{4}, {2}, 0},
      {{2}, {1}, 5},
      {{2}, {-1}, 0},
      {{1}, {1}, -1},
      {{1}, {1}, INT64_MAX},
      {{-2, -2}, {1, 1}, 3},
      {{3}, {INT64_MAX / 2 + 1}, 0},
      {{2, 2}, {INT64_MAX, 2}, 0},
      {{1LL << 32, 1LL << 32}, {0, 0}, 0},
  };
  for (const auto& [sizes, strides, offset] : outside) {
    EXPECT_THROW(x.as_strided(sizes, strides, offset), std::invalid_argument)
        << to_string(sizes) << to_string(strides) << offset;
  }
}

TEST(Array, RepeatsElementsDetectsOverlap) {
  const Array x = counting({12});
  const struct {
    Shape sizes, strides;
    bool repeats;
  } cases[] = {
      {{3, 4}, {4, 1}, false}, {{4, 3}, {1, 4}, false},      {{2, 2}, {3, 2}, false},
      {{3, 2}, {0, 1}, true},  {{1, 2}, {0, 1}, false},      {{3, 4}, {1, 2}, true},
      {{2, 3}, {4, 2}, true},  {{2, 3}, {5, 2}, false},      {{0, 3}, {1, 0}, false},
      {{}, {}, false},         {{2, 1, 4}, {2, 2, 1}, true},
  };
  for (const auto& [sizes, strides, repeats] : cases) {
    EXPECT_EQ(x.as_strided(sizes, strides, 0).repeats_elements(), repeats)
        << to_string(sizes) << to_string(strides);
  }
}

TEST(Array, SlicesClampAsPythonDoes) {
  const Array x = counting({5});
  EXPECT_EQ(values(x.slice(0, -2, 100)), (std::vector<double>{3, 4}));
  EXPECT_EQ(x.slice(0, 4, 2).numel(), 0);
  EXPECT_EQ(values(x.slice(0, -100, 1)), (std::vector<double>{0}));
}

TEST(Array, EveryPairOfDtypesConverts) {
  for (const DType from : kAllDTypes) {
    for (const DType to : kAllDTypes) {
      const Array x = counting({3, 700}, from).transpose(0, 1);
      const Array y = x.to(to);
      for (const std::int64_t i : {0, 1, 2, 3}) {
        const double expected = x.select(0, i).select(0, 0).item();
        const double got = y.select(0, i).select(0, 0).item();
        EXPECT_EQ(got, to == kBool ? double(expected != 0) : expected) << from << " to " << to;
      }
    }
  }
}

TEST(Array, CopiesBetweenEqualDtypesKeepEveryBit) {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    const Array x = signalling_nans({4, 6}, dtype), y = Array::empty({6, 4}, dtype);
    y.copy_(x.transpose(0, 1));
    expect_same_bits(y.select(1, 2).clone(), x.select(0, 2).clone());
    EXPECT_EQ(std::memcmp(y.select(1, 2).contiguous().data(), x.select(0, 2).contiguous().data(),
                          static_cast<std::size_t>(6 * item_size(dtype))),
              0);
  }
}

TEST(Array, DoublesAreRoundedToSixteenBitsOnce) {
  // A value just above the midpoint between 1 and the next half. Rounded to float first, it would
  // become the midpoint, and that would round to even, down to 1.
  const double above_middle = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(Array::full({1}, above_middle, kHalf).item(), 1 + 0x1p-10);
  EXPECT_EQ(Array::full({1}, 1 + 0x1p-8 + 0x1p-40, kBFloat16).item(), 1 + 0x1p-7);
  EXPECT_EQ(Array::full({1}, 1 + 0x1p-11, kHalf).item(), 1);
  EXPECT_TRUE(std::isinf(Array::full({1}, 1e300, kDouble).to(kHalf).item()));
  EXPECT_TRUE(std::isnan(Array::full({1}, std::nan(""), kBFloat16).item()));
}

TEST(Array, ValuesOutOfTheIntegerRangeBecomeTheSmallest) {
  const double lowest = static_cast<double>(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Array::full({1}, 1e30, kDouble).to(kLong).item(), lowest);
  EXPECT_EQ(Array::full({1}, std::nan(""), kDouble).to(kLong).item(), lowest);
}

TEST(Array, WithoutElementsIsContiguous) {
  const Array x = Array::empty({2, 3, 4}, kFloat);
  const Array views[] = {
      x.slice(1, 1, 1),
      x.slice(2, 4, 4).transpose(0, 1),
      x.transpose(0, 2).slice(0, 0, 0),
      Array::empty({0, 3}, kFloat).transpose(0, 1),
      x.as_strided({0, 5}, {7, 3}, 0),
      Array::from_blob(nullptr, {3, 0}, {2, 9}, kFloat, nullptr),
  };
  for (const Array& view : views) {
    EXPECT_TRUE(view.is_contiguous()) << to_string(view.sizes());
    EXPECT_EQ(view.contiguous().storage(), view.storage()) << to_string(view.sizes());
  }
  EXPECT_FALSE(x.transpose(0, 2).is_contiguous());
}

TEST(Array, EveryFunctionAcceptsEmptyArrays) {
  const Array x = Array::empty({0, 3}, kFloat);
  EXPECT_EQ(x.numel(), 0);
  EXPECT_EQ(x.transpose(0, 1).clone().numel(), 0);
  EXPECT_EQ(x.to(kHalf).numel(), 0);
  EXPECT_EQ(x.reshape({3, 0}).numel(), 0);
  x.fill_(1);
}

}  // namespace
}  // namespace halfgrad
