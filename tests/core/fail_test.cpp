#include <halfgrad/core/fail.h>

#include <gtest/gtest.h>

#include "../message_of.h"

namespace halfgrad {
namespace {

TEST(Fail, InsertsEachValueInOrder) {
  const auto text = message_of([] {
    detail::fail("linear", "expected {} features on {}, got {} of {}", 784, Device(kCPU),
                 Shape{32, 512}, kFloat16);
  });
  EXPECT_EQ(text, "linear: expected 784 features on cpu, got [32, 512] of float16");
}

TEST(Fail, FormatsTextNumbersAndBools) {
  const auto text = message_of([] {
    const std::string given = "{}";  // a value is not a format
    detail::fail("op", "{} {} {} {} {}", given, "text", 0.1, true, std::int64_t{-7});
  });
  EXPECT_EQ(text, "op: {} text 0.1 true -7");
}

TEST(Fail, ThrowsTheNamedError) {
  EXPECT_THROW(detail::fail("op", "bad argument"), std::invalid_argument);
  EXPECT_THROW(detail::fail<std::out_of_range>("op", "bad index {}", 3), std::out_of_range);
}

}  // namespace
}  // namespace halfgrad
