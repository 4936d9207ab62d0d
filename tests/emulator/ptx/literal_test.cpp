#include <halfgrad/emulator/ptx/literal.h>

#include <bit>

#include <gtest/gtest.h>

namespace halfgrad::emulator {
namespace {

using Literal = Operand::Literal;

void expect_number_is(std::string_view text, Literal literal, std::uint64_t bits) {
  Lexer lexer(text);
  const Number number = expect_number(lexer);
  EXPECT_EQ(number.literal, literal) << text;
  EXPECT_EQ(number.bits, bits) << text;
  EXPECT_TRUE(lexer.at_end()) << text;
}

TEST(Literal, Integers) {
  expect_number_is("0", Literal::integer, 0);
  expect_number_is("-1", Literal::integer, ~0ull);
  expect_number_is("+-8", Literal::integer, 0 - 8ull);
  expect_number_is("~1", Literal::integer, ~1ull);
  expect_number_is("0x7fFF", Literal::integer, 0x7fff);
  expect_number_is("052", Literal::integer, 42);
  expect_number_is("0b101", Literal::integer, 5);
  expect_number_is("18446744073709551615", Literal::integer, ~0ull);
  expect_number_is("-9223372036854775808", Literal::integer, 1ull << 63);
  expect_number_is("42U", Literal::integer, 42);
}

TEST(Literal, FloatsByTheirBits) {
  expect_number_is("0f3F800000", Literal::f32, 0x3f800000);
  expect_number_is("-0f3F800000", Literal::f32, 0xbf800000);
  expect_number_is("0FfF800000", Literal::f32, 0xff800000);
  expect_number_is("0d3FF0000000000000", Literal::f64, 0x3ff0000000000000);
  expect_number_is("1.5", Literal::f64, std::bit_cast<std::uint64_t>(1.5));
  expect_number_is("-2.5e-3", Literal::f64, std::bit_cast<std::uint64_t>(-2.5e-3));
}

TEST(Literal, WordsThatAreNoNumbers) {
  for (const std::string_view text :
       {"0f3F80000", "0x", "09", "1x", "0f3F80000G", "1.5.5", "", "x"}) {
    EXPECT_FALSE(number_in(text).has_value()) << text;
  }
  EXPECT_FALSE(number_in("18446744073709551616x").has_value());
}

TEST(Literal, ACountHasALimit) {
  Lexer lexer("17");
  EXPECT_THROW(expect_count(lexer, 16, "a count"), std::runtime_error);
  EXPECT_EQ(expect_count(lexer, 17, "a count"), 17u);
}

}  // namespace
}  // namespace halfgrad::emulator
