#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "../run_ptx.h"

namespace halfgrad::emulator {

using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
__extension__ typedef __int128 Signed128;
__extension__ typedef unsigned __int128 Unsigned128;

/// An operand as whatever integer the expected formula takes.
struct Operand64 {
  uint64_t bits;
  template <class T>
  operator T() const {
    return static_cast<T>(bits);
  }
};

/// Runs `instruction` on two words and compares with `expected(a, b)`.
template <class F>
void expect_words(const std::string& instruction, F expected) {
  const auto in = operands(3, 30000);
  const Words got = run_ptx(instruction + "\ncvt.u64.u32 %result, %tw0;", in);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto a = static_cast<uint32_t>(in[0][i]), b = static_cast<uint32_t>(in[1][i]);
    const auto c = static_cast<uint32_t>(in[2][i]);
    ASSERT_EQ(got[i], static_cast<uint32_t>(expected(Operand64{a}, Operand64{b}, Operand64{c})))
        << instruction << std::hex << " a " << a << " b " << b << " c " << c;
  }
}

template <class F>
void expect_longs(const std::string& instruction, F expected) {
  const auto in = operands(3, 30000);
  const Words got = run_ptx(instruction, in);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const uint64_t a = in[0][i], b = in[1][i], c = in[2][i];
    ASSERT_EQ(got[i], static_cast<uint64_t>(expected(Operand64{a}, Operand64{b}, Operand64{c})))
        << instruction << std::hex << " a " << a << " b " << b << " c " << c;
  }
}

}  // namespace halfgrad::emulator
