#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include <halfgrad/core/hd.h>

namespace halfgrad {

namespace detail {

HG_HD constexpr float float_from_bits(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
HG_HD constexpr std::uint32_t bits_of_float(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}

}  // namespace detail

/// IEEE 754 binary16 (fp16): 1 sign, 5 exponent and 10 fraction bits. A storage type: it converts
/// to and from float explicitly, and has no arithmetic. Widen, compute, narrow.
struct Half {
  std::uint16_t bits;

  Half() = default;
  /// Rounds to nearest, ties to even. From 65520 on the result is infinity; NaN stays a quiet NaN.
  HG_HD explicit constexpr Half(float value) : bits(rounded(detail::bits_of_float(value))) {}
  HG_HD static constexpr Half from_bits(std::uint16_t bits) {
    Half half(0.0f);
    half.bits = bits;
    return half;
  }

  HG_HD explicit constexpr operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t magnitude = bits & 0x7fffu;
    if (magnitude > 0x7c00u) return detail::float_from_bits(sign | 0x7fc00000u | magnitude << 13);
    if (magnitude == 0x7c00u) return detail::float_from_bits(sign | 0x7f800000u);
    if (magnitude >= 0x0400u) return detail::float_from_bits(sign | ((magnitude << 13) + kRebias));
    const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
    return sign != 0 ? -subnormal : subnormal;
  }

 private:
  // The difference of the exponent biases of binary32 and binary16, in the bits of a float.
  static constexpr std::uint32_t kRebias = (127 - 15) << 23;

  HG_HD static constexpr std::uint16_t rounded(std::uint32_t x) {
    const std::uint32_t sign = x >> 16 & 0x8000u;
    const std::uint32_t magnitude = x & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return std::uint16_t(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= detail::bits_of_float(65520.0f)) return std::uint16_t(sign | 0x7c00u);
    if (magnitude >= detail::bits_of_float(0x1p-14f)) {
      const std::uint32_t just_below_half_ulp = 0x0fffu + (magnitude >> 13 & 1u);
      return std::uint16_t(sign | (magnitude - kRebias + just_below_half_ulp) >> 13);
    }
    // Floats in [0.5, 1) have a spacing of 2^-24, as binary16's subnormals have, so this addition
    // rounds.
    const float aligned = detail::float_from_bits(magnitude) + 0.5f;
    return std::uint16_t(sign | (detail::bits_of_float(aligned) - detail::bits_of_float(0.5f)));
  }
};

/// bfloat16, the upper half of an IEEE 754 binary32: 1 sign, 8 exponent and 7 fraction bits. A
/// storage type without arithmetic.
struct BFloat16 {
  std::uint16_t bits;

  BFloat16() = default;
  /// Rounds to nearest, ties to even; NaN becomes the quiet NaN 0x7fc0.
  HG_HD explicit constexpr BFloat16(float value) : bits(rounded(detail::bits_of_float(value))) {}
  HG_HD static constexpr BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 bfloat(0.0f);
    bfloat.bits = bits;
    return bfloat;
  }

  HG_HD explicit constexpr operator float() const {
    return detail::float_from_bits(static_cast<std::uint32_t>(bits) << 16);
  }

 private:
  HG_HD static constexpr std::uint16_t rounded(std::uint32_t x) {
    if ((x & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
    // Adds half of the last kept bit, less 1 if that bit is 0: a tie rounds up from odd values
    // only.
    return std::uint16_t((x + 0x7fffu + (x >> 16 & 1u)) >> 16);
  }
};

/// The type of the elements of an array. Compiled kernels know the values of the enumerators
/// (testing/kernel_abi.h), so a dtype is added at the end.
enum class DType : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  u8,
  boolean,
  i16,
  i8,
  // libtorch's names: ScalarType::Half. NOLINTBEGIN(readability-identifier-naming)
  Double = f64,
  Float = f32,
  Half = f16,
  BFloat16 = bf16,
  Long = i64,
  Int = i32,
  Short = i16,
  Char = i8,
  Byte = u8,
  Bool = boolean,
  // NOLINTEND(readability-identifier-naming)
};
using ScalarType = DType;  ///< libtorch's name

inline constexpr DType kFloat64 = DType::f64, kDouble = DType::f64;
inline constexpr DType kFloat32 = DType::f32, kFloat = DType::f32;
inline constexpr DType kFloat16 = DType::f16, kHalf = DType::f16;
inline constexpr DType kBFloat16 = DType::bf16;
inline constexpr DType kInt64 = DType::i64, kLong = DType::i64;
inline constexpr DType kInt32 = DType::i32, kInt = DType::i32;
inline constexpr DType kInt16 = DType::i16, kShort = DType::i16;
inline constexpr DType kInt8 = DType::i8, kChar = DType::i8;
inline constexpr DType kUInt8 = DType::u8, kByte = DType::u8;
inline constexpr DType kBool = DType::boolean;

/// All dtypes, in the order of promotion: see promote_types.
inline constexpr DType kAllDTypes[] = {kFloat64, kFloat32, kFloat16, kBFloat16, kInt64,
                                       kInt32,   kInt16,   kInt8,    kUInt8,    kBool};

/// Calls f with std::type_identity<T>, where T is the C++ type that stores `dtype`:
///     visit(dtype, [&](auto tag) { using T = typename decltype(tag)::type; ... })
template <class F>
constexpr decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return std::forward<F>(f)(std::type_identity<double>{});
    case DType::f32:
      return std::forward<F>(f)(std::type_identity<float>{});
    case DType::f16:
      return std::forward<F>(f)(std::type_identity<Half>{});
    case DType::bf16:
      return std::forward<F>(f)(std::type_identity<BFloat16>{});
    case DType::i64:
      return std::forward<F>(f)(std::type_identity<std::int64_t>{});
    case DType::i32:
      return std::forward<F>(f)(std::type_identity<std::int32_t>{});
    case DType::u8:
      return std::forward<F>(f)(std::type_identity<std::uint8_t>{});
    case DType::boolean:
      return std::forward<F>(f)(std::type_identity<bool>{});
    case DType::i16:
      return std::forward<F>(f)(std::type_identity<std::int16_t>{});
    case DType::i8:
      return std::forward<F>(f)(std::type_identity<std::int8_t>{});
  }
  throw std::logic_error("visit: expected a dtype, got an unknown enumerator");
}

/// The DType whose elements are stored as T.
template <class T>
constexpr DType dtype_of() {
  for (const DType dtype : kAllDTypes) {
    const bool found =
        visit(dtype, [](auto tag) { return std::is_same_v<typename decltype(tag)::type, T>; });
    if (found) return dtype;
  }
  throw std::logic_error("dtype_of: expected a type that a DType stores");
}

namespace detail {

template <class T>
struct Compute {
  using type = std::int64_t;
};
template <>
struct Compute<double> {
  using type = double;
};
template <>
struct Compute<float> {
  using type = float;
};
template <>
struct Compute<Half> {
  using type = float;
};
template <>
struct Compute<BFloat16> {
  using type = float;
};

}  // namespace detail

/// The type in which a stored T is computed: double, float (also for 16-bit types) or int64_t.
template <class T>
using compute_t = typename detail::Compute<T>::type;

/// PyTorch's name without the prefix: "float32", "bfloat16", "bool".
constexpr std::string_view name(DType dtype) {
  constexpr std::string_view names[] = {"float64", "float32", "float16", "bfloat16", "int64",
                                        "int32",   "uint8",   "bool",    "int16",    "int8"};
  return names[static_cast<int>(dtype)];
}

inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

/// Bytes per element.
constexpr std::int64_t item_size(DType dtype) {
  return visit(dtype, [](auto tag) {
    return static_cast<std::int64_t>(sizeof(typename decltype(tag)::type));
  });
}

constexpr bool is_floating_point(DType dtype) { return dtype <= DType::bf16; }

/// True for the 16-bit floating types.
constexpr bool is_reduced(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// Unit roundoff: half the distance from 1 to the next larger value, which is the largest relative
/// error of one rounding to nearest. Zero for integers and bool.
constexpr double roundoff(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-53;
    case DType::f32:
      return 0x1p-24;
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0;
  }
}

/// Rank of the kind in promotion: bool 0, integer 1, floating point 2.
constexpr int kind_rank(DType dtype) {
  return is_floating_point(dtype) ? 2 : dtype == DType::boolean ? 0 : 1;
}

/// The dtype of an operation on both, as torch.promote_types: floating point beats integer, a
/// longer type a shorter one, and everything beats bool. Of two types that do not hold each
/// other's values neither wins: f16 with bf16 gives f32, int8 with uint8 gives int16.
constexpr DType promote_types(DType a, DType b) {
  const auto are = [a, b](DType x, DType y) { return (a == x && b == y) || (a == y && b == x); };
  if (are(DType::f16, DType::bf16)) return DType::f32;
  if (are(DType::i8, DType::u8)) return DType::i16;
  return *std::ranges::find_if(kAllDTypes,
                               [a, b](DType dtype) { return dtype == a || dtype == b; });
}

}  // namespace halfgrad

// Always there: a type without limits has zeros for them, which compile.
#include <halfgrad/core/numbers/limits.h>
