#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <type_traits>

#include <halfgrad/core/dtype.h>
#include <halfgrad/core/hd.h>
#include <halfgrad/core/numbers/convert.h>

namespace halfgrad {

namespace detail {

[[noreturn]] void refuse_number(double number, const std::string& type);

}  // namespace detail

/// A number that is passed where a tensor could be. Only its kind (bool, integer, floating point)
/// takes part in type promotion: a float16 tensor times 2.0 stays float16. Integers keep all 64
/// bits.
class Scalar {
 public:
  Scalar(double value) : floating_(value), kind_(DType::f32) {}
  Scalar(float value) : Scalar(static_cast<double>(value)) {}
  /// Throws std::invalid_argument for an unsigned integer of 2^63 or more.
  template <std::integral T>
  Scalar(T value)
      : floating_(static_cast<double>(value)),
        integer_(static_cast<std::int64_t>(value)),
        kind_(std::same_as<T, bool> ? DType::boolean : DType::i64) {
    if (std::is_unsigned_v<T> && integer_ < 0) detail::refuse_number(floating_, "int64");
  }

  /// The kind in promotion: float32, int64 or bool.
  DType kind() const { return kind_; }

  /// Converts to T, an arithmetic or 16-bit type. Rounds to nearest, or toward zero if T is an
  /// integer; negative values wrap around in unsigned types. Throws std::invalid_argument for a
  /// finite value out of the range of T, and for infinity and NaN if T is an integer.
  template <class T>
  T to() const;

  /// libtorch's name for the kind: float64, int64 or bool.
  DType type() const { return isFloatingPoint() ? DType::f64 : kind_; }
  // libtorch's names. NOLINTBEGIN(readability-identifier-naming)
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  std::int64_t toLong() const { return to<std::int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }
  bool isFloatingPoint() const { return kind_ == DType::f32; }
  bool isBoolean() const { return kind_ == DType::boolean; }
  bool isIntegral(bool include_bool) const {
    return kind_ == DType::i64 || (include_bool && isBoolean());
  }
  // NOLINTEND(readability-identifier-naming)

  /// Prints the number: "2.5", "3", "true".
  friend std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

  /// Converts without checks, for kernels; T is double, float or int64_t.
  template <class T>
  HG_HD T cast() const {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(floating_);
    } else {
      return kind_ == DType::f32 ? detail::to_integer(floating_) : integer_;
    }
  }

 private:
  double floating_;
  std::int64_t integer_ = 0;  // not used if the kind is float32
  DType kind_;
};

namespace detail {

/// A Scalar that converts to double: Tensor::item() returns it in a program for libtorch. The
/// destructor is not trivial, so that `printf("%g", x.item())` does not compile.
class ItemScalar : public Scalar {
 public:
  explicit ItemScalar(Scalar value) : Scalar(value) {}
  ItemScalar(const ItemScalar&) = default;
  ItemScalar& operator=(const ItemScalar&) = default;
  ~ItemScalar() {}  // NOLINT(modernize-use-equals-default)
  operator double() const { return to<double>(); }
};

#if defined(HALFGRAD_COMPAT)
using Item = ItemScalar;
#else
#define HALFGRAD_HAS_PLAIN_NAMES
using Item = double;
#endif

}  // namespace detail

template <class T>
T Scalar::to() const {
  const bool exact = kind_ != DType::f32;
  if constexpr (std::same_as<T, detail::ItemScalar>) {
    return T(*this);
  } else if constexpr (std::same_as<T, bool>) {
    return floating_ != 0;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr int kDigits = std::min(std::numeric_limits<T>::digits, 63);
    constexpr double kLimit = 2.0 * static_cast<double>(std::int64_t{1} << (kDigits - 1));
    const double whole = std::trunc(floating_);
    const bool fits = whole < kLimit && (std::is_signed_v<T> ? whole >= -kLimit : whole > -kLimit);
    if (!fits && !(exact && sizeof(T) == sizeof integer_)) {
      detail::refuse_number(floating_,
                            (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)));
    }
    return static_cast<T>(cast<std::int64_t>());
  } else {
    const T number = exact ? detail::convert<T>(integer_) : detail::convert<T>(floating_);
    if (std::isfinite(floating_) && !std::isfinite(static_cast<compute_t<T>>(number))) {
      detail::refuse_number(floating_, std::string(name(dtype_of<T>())));
    }
    return number;
  }
}

}  // namespace halfgrad
