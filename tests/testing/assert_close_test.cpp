#include <halfgrad/testing/assert_close.h>

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/testing/ulp.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;  // 2^53 + 1 is no double

TEST(AssertClose, ComparesIntegersBeyondDoublePrecision) {
  const Tensor expected = tensor(std::vector<std::int64_t>{7, kLargestExact});
  const Tensor actual = tensor(std::vector<std::int64_t>{7, kLargestExact + 1});
  EXPECT_NO_THROW(assert_close(expected, expected));
  EXPECT_EQ(worst_error(actual, expected).index, 1);
  EXPECT_EQ(message_of<std::runtime_error>([&] { assert_close(actual, expected); }),
            "assert_close: expected 9007199254740992 at [1], got 9007199254740993: inf roundoffs "
            "of int64 off, allowed 4; 1 of 2 elements are too far");
}

TEST(AssertClose, PrintsNanWithoutItsSign) {
  const Tensor nan = full({1}, -std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(
      message_of<std::runtime_error>([&] { assert_close(nan, zeros({1})); }),
      "assert_close: expected 0 at [0], got nan: inf roundoffs of float32 off, allowed 4; 1 of "
      "1 elements are too far");
}

TEST(AssertClose, ComparesOtherDTypesAsDoubles) {
  const Tensor halves = full({2}, 0.5, {.dtype = kFloat64});
  EXPECT_THROW(assert_close(zeros({2}, {.dtype = kInt64}), halves), std::runtime_error);
  EXPECT_EQ(message_of<std::runtime_error>([&] { assert_close(ones({2}), halves); }).substr(0, 44),
            "assert_close: expected 0.5 at [0], got 1: 83");
}

}  // namespace
}  // namespace halfgrad
