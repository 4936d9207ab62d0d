#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <halfgrad/core/hd.h>

/// Fixed-width SIMD values. A formula written once as `template <class T> T f(T x)` works on float,
/// double, Pack<float>, Pack<double> and Dual of these. Write constants as `T(0.5)`, branches as
/// `select(x > 0, a, b)`, and take functions from math.h.
///
/// Every operation acts on each lane separately, so the result of an element does not depend on its
/// position. Engines therefore use a padded pack for the last elements: a scalar loop would call
/// libm, which rounds differently.
namespace halfgrad {

namespace detail {

#if defined(__AVX__)
inline constexpr int kPackBytes = 32;
#else
inline constexpr int kPackBytes = 16;
#endif

/// A vector of T in one register, as g++ and clang++ extend the language.
template <class T>
struct Lanes {
  typedef T type __attribute__((vector_size(kPackBytes)));
};

template <int bytes>
using LaneInt = std::conditional_t<bytes == 4, std::int32_t, std::int64_t>;

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

}  // namespace detail

/// One truth value per lane of a Pack<T>, the result of a comparison. Comparing scalars gives bool,
/// which has the same operators & | ! and the same any(), all() and select().
template <class T>
struct Mask {
  using Lanes = typename detail::Lanes<detail::LaneInt<sizeof(T)>>::type;
  static constexpr int size = detail::kPackBytes / sizeof(T);

  Mask() = default;
  explicit Mask(Lanes values) { std::memcpy(storage_, &values, sizeof(values)); }

  /// All bits of a lane are set where true, none where false.
  Lanes lanes() const {
    Lanes values;
    std::memcpy(&values, storage_, sizeof(values));
    return values;
  }
  bool operator[](int lane) const { return lanes()[lane] != 0; }

  friend Mask operator&(Mask a, Mask b) { return Mask(a.lanes() & b.lanes()); }
  friend Mask operator|(Mask a, Mask b) { return Mask(a.lanes() | b.lanes()); }
  friend Mask operator!(Mask a) { return Mask(~a.lanes()); }

  friend bool any(Mask mask) {
    std::int64_t result = 0;
    for (std::int64_t word : std::bit_cast<Words>(mask)) result |= word;
    return result != 0;
  }
  friend bool all(Mask mask) { return !any(!mask); }

 private:
  using Words = std::array<std::int64_t, detail::kPackBytes / sizeof(std::int64_t)>;

  alignas(detail::kPackBytes) detail::LaneInt<sizeof(T)> storage_[size];
};

/// One SIMD vector of T (float, double, int32_t, int64_t): 8 floats with AVX, 4 without. An integer
/// division by zero in any lane traps, so pad divisors with ones.
///
/// The storage is an array, which compilers keep in a register: nvcc rejects variables of vector
/// type in __host__ __device__ formulas.
template <class T>
struct Pack {
  using Lanes = typename detail::Lanes<T>::type;
  static constexpr int size = detail::kPackBytes / sizeof(T);

  Pack() = default;
  explicit Pack(Lanes values) { std::memcpy(storage_, &values, sizeof(values)); }

  /// Broadcasts a scalar. Narrows without a warning, so that T(0.1) works for every T.
  template <detail::Arithmetic Scalar>
  Pack(Scalar value) : Pack(static_cast<T>(value) - Lanes{}) {}  // x - 0 is x, even for x = -0

  /// Reads or writes `size` elements at any alignment.
  static Pack load(const T* source) {
    Lanes values;
    std::memcpy(&values, source, sizeof(values));
    return Pack(values);
  }
  void store(T* target) const {
    const Lanes values = lanes();
    std::memcpy(target, &values, sizeof(values));
  }

  Lanes lanes() const {
    Lanes values;
    std::memcpy(&values, storage_, sizeof(values));
    return values;
  }
  T operator[](int lane) const { return lanes()[lane]; }

  friend Pack operator+(Pack a, Pack b) { return Pack(a.lanes() + b.lanes()); }
  friend Pack operator-(Pack a, Pack b) { return Pack(a.lanes() - b.lanes()); }
  friend Pack operator*(Pack a, Pack b) { return Pack(a.lanes() * b.lanes()); }
  friend Pack operator/(Pack a, Pack b) { return Pack(a.lanes() / b.lanes()); }
  friend Pack operator+(Pack a) { return a; }
  friend Pack operator-(Pack a) { return Pack(-a.lanes()); }

  Pack& operator+=(Pack other) { return *this = *this + other; }
  Pack& operator-=(Pack other) { return *this = *this - other; }
  Pack& operator*=(Pack other) { return *this = *this * other; }
  Pack& operator/=(Pack other) { return *this = *this / other; }

  friend Mask<T> operator<(Pack a, Pack b) { return Mask<T>(a.lanes() < b.lanes()); }
  friend Mask<T> operator<=(Pack a, Pack b) { return Mask<T>(a.lanes() <= b.lanes()); }
  friend Mask<T> operator>(Pack a, Pack b) { return Mask<T>(a.lanes() > b.lanes()); }
  friend Mask<T> operator>=(Pack a, Pack b) { return Mask<T>(a.lanes() >= b.lanes()); }
  friend Mask<T> operator==(Pack a, Pack b) { return Mask<T>(a.lanes() == b.lanes()); }
  friend Mask<T> operator!=(Pack a, Pack b) { return Mask<T>(a.lanes() != b.lanes()); }

  /// Per lane: mask ? a : b. Both sides are computed.
  friend Pack select(Mask<T> mask, Pack a, Pack b) {
    return Pack(mask.lanes() ? a.lanes() : b.lanes());
  }

  /// Sums the lanes in a fixed order: adds the upper half to the lower, down to one lane.
  friend T sum(Pack a) {
    return fold(a, [](T x, T y) { return x + y; });
  }
  /// Return NaN if any lane is NaN, as torch.min and torch.max do.
  friend T min(Pack a) {
    return fold(a, [](T x, T y) { return x < y || x != x ? x : y; });
  }
  friend T max(Pack a) {
    return fold(a, [](T x, T y) { return x > y || x != x ? x : y; });
  }

 private:
  template <class F>
  static T fold(Pack a, const F& f) {
    Lanes values = a.lanes();
    for (int half = size / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) values[i] = f(values[i], values[i + half]);
    }
    return values[0];
  }

  alignas(detail::kPackBytes) T storage_[size];
};

// select, any and all for scalars.
template <detail::Arithmetic T>
HG_HD constexpr T select(bool mask, T a, T b) {
  return mask ? a : b;
}
HG_HD constexpr bool any(bool mask) { return mask; }
HG_HD constexpr bool all(bool mask) { return mask; }

/// The element type: float for Pack<float> and for float.
template <class T>
struct ScalarOf {
  using type = T;
};
template <class T>
struct ScalarOf<Pack<T>> {
  using type = T;
};
template <class T>
using scalar_t = typename ScalarOf<T>::type;

/// The result type of comparing two T: bool for scalars, Mask for packs.
template <class T>
using mask_t = decltype(T() < T());

}  // namespace halfgrad
