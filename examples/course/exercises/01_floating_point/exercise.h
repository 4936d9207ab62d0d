#pragma once

#include <cstdint>

// Your format: {{NAME}}.
constexpr int kExponentBits = {{EXPONENT_BITS}};
constexpr int kFractionBits = {{FRACTION_BITS}};
constexpr int kBias = (1 << (kExponentBits - 1)) - 1;

/// Returns the bits of x, rounded to nearest, ties to even: the sign in bit 15, the exponent field
/// below it, and the fraction field in the lowest kFractionBits bits.
std::uint16_t to_bits(float x);
