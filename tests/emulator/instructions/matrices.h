#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace halfgrad::emulator {

/// Types of matrix elements in tests, with encodings of small integers that are written without the
/// emulator's own conversions.
struct ElementType {
  std::string name;
  unsigned bits;
  bool is_float;
  unsigned exponent_bits = 0;  ///< exponent bits of a float type

  std::uint64_t encode(std::int64_t value) const {
    if (!is_float) return static_cast<std::uint64_t>(value) & (~std::uint64_t{0} >> (64 - bits));
    const auto wide = std::bit_cast<std::uint64_t>(static_cast<double>(value));
    if (bits == 64 || value == 0) return wide;
    const unsigned mantissa = bits - 1 - exponent_bits;
    const std::uint64_t bias = (std::uint64_t{1} << (exponent_bits - 1)) - 1;
    const std::uint64_t exponent = (wide >> 52 & 0x7ff) - 1023 + bias;
    const std::uint64_t fraction = (wide & ((std::uint64_t{1} << 52) - 1)) >> (52 - mantissa);
    return (wide >> 63) << (bits - 1) | exponent << mantissa | fraction;
  }
  double decode(std::uint64_t x) const {
    if (name == "s32") return static_cast<std::int32_t>(x);
    if (bits == 64) return std::bit_cast<double>(x);
    const unsigned mantissa = bits - 1 - exponent_bits;
    const std::uint64_t exponent = x >> mantissa & ((std::uint64_t{1} << exponent_bits) - 1);
    if (exponent == 0) return 0;  // no test has subnormals
    const std::uint64_t bias = (std::uint64_t{1} << (exponent_bits - 1)) - 1;
    const std::uint64_t fraction = (x & ((std::uint64_t{1} << mantissa) - 1)) << (52 - mantissa);
    return std::bit_cast<double>((x >> (bits - 1) & 1) << 63 | (exponent - bias + 1023) << 52 |
                                 fraction);
  }
  /// Small integers that the type holds, so that sums are exact.
  std::int64_t value(std::uint32_t random) const {
    if (name == "b1") return random & 1;
    if (name == "u4" || name == "u8") return random % 16;
    if (name == "s4") return static_cast<std::int64_t>(random % 16) - 8;
    return static_cast<std::int64_t>(random % 9) - 4;
  }
};

inline const ElementType kF16{"f16", 16, true, 5}, kBF16{"bf16", 16, true, 8},
    kTF32{"tf32", 32, true, 8}, kF32{"f32", 32, true, 8}, kF64{"f64", 64, true, 11},
    kS8{"s8", 8, false}, kU8{"u8", 8, false}, kS4{"s4", 4, false}, kU4{"u4", 4, false},
    kB1{"b1", 1, false}, kS32{"s32", 32, false}, kE4M3{"e4m3", 8, true, 4},
    kE5M2{"e5m2", 8, true, 5};

/// Words as a string of bits, lowest first.
inline void put_bits(std::uint32_t* words, std::uint64_t at, unsigned bits, std::uint64_t value) {
  for (unsigned i = 0; i < bits; ++i, ++at) {
    const std::uint32_t bit = 1u << at % 32;
    words[at / 32] = (value >> i & 1) != 0 ? words[at / 32] | bit : words[at / 32] & ~bit;
  }
}
inline std::uint64_t get_bits(const std::uint32_t* words, std::uint64_t at, unsigned bits) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bits; ++i, ++at) {
    value |= std::uint64_t{words[at / 32] >> at % 32 & 1} << i;
  }
  return value;
}

struct HostMatrix {
  unsigned rows, columns;
  std::vector<std::int64_t> values;

  HostMatrix(unsigned rows, unsigned columns)
      : rows(rows), columns(columns), values(rows * columns) {}
  std::int64_t& at(unsigned i, unsigned j) { return values[i * columns + j]; }
  std::int64_t at(unsigned i, unsigned j) const { return values[i * columns + j]; }
};

template <class Random>
HostMatrix random_matrix(unsigned rows, unsigned columns, const ElementType& type, Random& random) {
  HostMatrix matrix(rows, columns);
  for (std::int64_t& one : matrix.values) one = type.value(static_cast<std::uint32_t>(random()));
  return matrix;
}

/// a b + c; `term` multiplies.
template <class Term>
HostMatrix product(const HostMatrix& a, const HostMatrix& b, const HostMatrix& c, Term term) {
  HostMatrix result = c;
  for (unsigned i = 0; i < c.rows; ++i) {
    for (unsigned j = 0; j < c.columns; ++j) {
      for (unsigned k = 0; k < a.columns; ++k) result.at(i, j) += term(a.at(i, k), b.at(k, j));
    }
  }
  return result;
}

inline std::int64_t times(std::int64_t a, std::int64_t b) { return a * b; }
inline std::int64_t different(std::int64_t a, std::int64_t b) { return a != b ? 1 : 0; }

}  // namespace halfgrad::emulator
