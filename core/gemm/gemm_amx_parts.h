#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <halfgrad/core/gemm/gemm_vector.h>
#include <halfgrad/core/numbers/scalar.h>

// Splits 16-bit elements into bf16 parts whose sum is the element: one part for bf16, two for fp16.
// gemm_amx.h explains what they are for.
namespace halfgrad::detail {

using UintVector = Vector<std::uint32_t>;
inline constexpr int kLanes32 = kLanes<std::uint32_t>;

template <class S>
inline constexpr int kAmxParts = std::is_same_v<S, Half> ? 2 : 1;

template <class To, class From>
To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// The parts of a vector of elements, as the bits of floats: bf16 values are their upper halves.
template <class S>
struct Parts {
  UintVector of[kAmxParts<S>];
};

inline Parts<BFloat16> load_parts(const BFloat16* from) {
  return {{bits_as<UintVector>(load_wide(from))}};
}

// Splits fp16 values: `high` has the 8 leading bits of x, and low = x - high. If x has no more than
// 8 bits, `high` is the next smaller bf16 value. So both parts have the sign of x, and neither is 0
// unless x is: infinity times either is infinity. The parts of infinity are the largest bf16 value
// and infinity.
inline Parts<Half> load_parts(const Half* from) {
  const Vector<float> x = load_wide(from);
  const auto bits = bits_as<UintVector>(x);
  const UintVector high = (x != 0 ? bits - 1 : bits) & 0xffff0000U;
  return {{high, bits_as<UintVector>(x - bits_as<Vector<float>>(high))}};
}

}  // namespace halfgrad::detail
