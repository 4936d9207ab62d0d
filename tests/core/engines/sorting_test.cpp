#include <halfgrad/core/engines/sorting.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/thread_pool.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

using Order = std::vector<std::int64_t>;

class RowOrder : public OnDevice {
 protected:
  Order order_of(const std::vector<double>& values, DType dtype, std::int64_t rows,
                 std::int64_t count, bool descending) const {
    const Array x = array({rows, std::ssize(values) / rows}, values, dtype);
    return integers(detail::row_order("test", x, count, descending));
  }
  Order selection_of(const std::vector<double>& values, DType dtype, const Order& places) const {
    const std::int64_t rows = std::ssize(places);
    const Array x = array({rows, std::ssize(values) / rows}, values, dtype);
    const std::vector<double> place(places.begin(), places.end());
    return integers(detail::row_selection("test", x, array({rows}, place, kLong)));
  }
  Order counts_of(const std::vector<double>& sequence, const std::vector<double>& values,
                  DType dtype, bool right) const {
    return integers(detail::count_before("test", array({std::ssize(sequence)}, sequence, dtype),
                                         array({std::ssize(values)}, values, dtype), right));
  }

 private:
  Array array(const Shape& sizes, const std::vector<double>& values, DType dtype) const {
    const Array doubles = Array::empty(sizes, kDouble);
    std::copy(values.begin(), values.end(), doubles.data_as<double>());
    return doubles.to(dtype).to(device());
  }
  static Order integers(const Array& given) {
    const Array order = given.to(Device());
    const auto* const first = order.data_as<std::int64_t>();
    return {first, first + order.numel()};
  }
};
HALFGRAD_ON_DEVICES(RowOrder);

constexpr double kDoubleInfinity = std::numeric_limits<double>::infinity();
const double kDoubleNaN = std::nan("");

TEST_P(RowOrder, PutsNaNAboveInfinityAndKeepsTheOrderOfEqualValues) {
  const std::vector<double> x = {
      0, kDoubleNaN, -kDoubleInfinity, -0.0, 3, -kDoubleNaN, kDoubleInfinity, -2, 3, 0, -3};
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    EXPECT_EQ(order_of(x, dtype, 1, 11, false), (Order{2, 10, 7, 0, 3, 9, 4, 8, 6, 1, 5}));
    EXPECT_EQ(order_of(x, dtype, 1, 11, true), (Order{1, 5, 6, 4, 8, 0, 3, 9, 7, 10, 2}));
    EXPECT_EQ(order_of(x, dtype, 1, 3, true), (Order{1, 5, 6}));
  }
}

TEST_P(RowOrder, OrdersTheSmallestAndTheLargestValues) {
  for (const auto& [dtype, least, most] : {std::tuple{kDouble, 0x1p-1074, 0x1.fffffffffffffp1023},
                                           {kFloat, 0x1p-149, 0x1.fffffep127},
                                           {kHalf, 0x1p-24, 65504.0},
                                           {kBFloat16, 0x1p-133, 0x1.fep127}}) {
    EXPECT_EQ(order_of({most, kDoubleInfinity, least, 0, -least, -kDoubleInfinity, -most}, dtype, 1,
                       7, false),
              (Order{5, 6, 4, 3, 2, 0, 1}))
        << name(dtype);
  }
}

TEST_P(RowOrder, OrdersIntegers) {
  EXPECT_EQ(order_of({5, -1, 0x1p62, -0x1p63, 0, -1}, kLong, 1, 6, false),
            (Order{3, 1, 5, 4, 0, 2}));
  EXPECT_EQ(order_of({5, -1, 0x1p30, -0x1p31, 0, -1}, kInt, 1, 6, true), (Order{2, 0, 4, 1, 5, 3}));
  EXPECT_EQ(order_of({5, 255, 0, 128, 127, 5}, kUInt8, 1, 6, true), (Order{1, 3, 4, 0, 5, 2}));
  EXPECT_EQ(order_of({5, -128, 0, -1, 127, 5}, kInt8, 1, 6, false), (Order{1, 3, 2, 0, 5, 4}));
  EXPECT_EQ(order_of({-32768, 32767, -1, 0}, kInt16, 1, 4, true), (Order{1, 3, 2, 0}));
  EXPECT_EQ(order_of({1, 0, 1, 0}, kBool, 1, 4, false), (Order{1, 3, 0, 2}));
  EXPECT_EQ(order_of({1, 0, 1, 0}, kBool, 1, 4, true), (Order{0, 2, 1, 3}));
}

// Compares with std::stable_sort, on rows with many equal values.
TEST_P(RowOrder, SortsEachRowSeparately) {
  for (const auto& sizes : {std::pair{1, 5000}, {7, 129}, {3000, 3}, {65, 1}}) {
    const int rows = sizes.first, n = sizes.second;
    std::vector<double> x(static_cast<std::size_t>(rows) * static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i * 31 % 101 % 37);
    Order expected;
    for (int row = 0; row < rows; ++row) {
      Order order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      const auto value = [&](std::int64_t i) { return x[static_cast<std::size_t>(row * n + i)]; };
      std::stable_sort(order.begin(), order.end(),
                       [&](auto i, auto j) { return value(i) < value(j); });
      expected.insert(expected.end(), order.begin(), order.end());
    }
    for (const DType dtype : {kDouble, kHalf, kLong, kInt16, kInt8, kUInt8}) {
      EXPECT_EQ(order_of(x, dtype, rows, n, false), expected) << rows << " x " << n;
    }
    for (const std::int64_t count : {(n + 1) / 2, n / 100}) {
      Order first;
      for (int row = 0; row < rows; ++row) {
        first.insert(first.end(), expected.begin() + row * n, expected.begin() + row * n + count);
      }
      EXPECT_EQ(order_of(x, kFloat, rows, count, false), first) << rows << " x " << n;
    }
    Order places, selected;
    for (int row = 0; row < rows; ++row) {
      const std::int64_t place = (row * 7 + n / 2) % n;
      places.push_back(place);
      selected.push_back(expected[static_cast<std::size_t>(row * n + place)]);
    }
    for (const DType dtype : {kDouble, kHalf, kLong, kUInt8}) {
      EXPECT_EQ(selection_of(x, dtype, places), selected) << rows << " x " << n;
    }
  }
}

TEST_P(RowOrder, CountsElementsBeforeEachValue) {
  const std::vector<double> sequence = {-kDoubleInfinity, -2, 0, 0, 3, kDoubleInfinity, kDoubleNaN};
  const std::vector<double> values = {-kDoubleInfinity, -3,        -2, -0.0, 0, 1,
                                      kDoubleInfinity,  kDoubleNaN};
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    EXPECT_EQ(counts_of(sequence, values, dtype, false), (Order{0, 1, 1, 2, 2, 4, 5, 6}));
    EXPECT_EQ(counts_of(sequence, values, dtype, true), (Order{1, 1, 2, 4, 4, 4, 6, 7}));
  }
  for (const DType dtype : {kLong, kInt, kInt16, kInt8, kUInt8}) {
    EXPECT_EQ(counts_of({1, 2, 2, 5}, {0, 1, 2, 7}, dtype, false), (Order{0, 0, 1, 4}));
    EXPECT_EQ(counts_of({1, 2, 2, 5}, {0, 1, 2, 7}, dtype, true), (Order{0, 1, 3, 4}));
  }
}

TEST_P(RowOrder, AcceptsEmptyRows) {
  EXPECT_EQ(order_of({}, kFloat, 3, 0, false), Order());
  EXPECT_EQ(order_of({1, 2}, kFloat, 1, 0, false), Order());
}

}  // namespace
}  // namespace halfgrad
