#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <halfgrad/core/hd.h>

/// Fixed-width SIMD values. A formula written once as `template <class T> T f(T x)` runs on float,
/// double, Pack<float>, Pack<double> and Dual of these: constants are spelled `T(0.5)`, branches
/// are `select(x > 0, a, b)`, functions come from math.h.
///
/// Every operation acts on each lane alone, so an element's result depends on its value and never
/// on its position, provided that all elements of an array go through packs: engines pad the last
/// pack instead of finishing with scalars, whose math functions are libm's and round differently.
namespace halfgrad {

namespace detail {

#if defined(__AVX__)
inline constexpr int kPackBytes = 32;
#else
inline constexpr int kPackBytes = 16;
#endif

template <class T>
struct Lanes {
  typedef T type __attribute__((vector_size(kPackBytes)));
};

template <int bytes>
using LaneInt = std::conditional_t<bytes == 4, std::int32_t, std::int64_t>;

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

}  // namespace detail

/// One truth value per lane of a Pack<T>, as comparisons return it. A scalar comparison returns
/// bool, which understands the same operators & | ! and the same any(), all() and select().
template <class T>
struct Mask {
  using Lanes = typename detail::Lanes<detail::LaneInt<sizeof(T)>>::type;
  static constexpr int size = detail::kPackBytes / sizeof(T);

  Mask() = default;
  explicit Mask(Lanes values) { std::memcpy(storage_, &values, sizeof(values)); }

  /// All bits set where true, none where false.
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

/// One vector register of T (float, double, int32_t, int64_t): with AVX 8 floats, without it 4.
/// Dividing an integer lane by zero traps as it does for scalars, so pad divisors with ones.
///
/// The lanes are kept as an array, which compilers hold in a register all the same: nvcc accepts no
/// variable that contains a vector in a __host__ __device__ formula.
template <class T>
struct Pack {
  using Lanes = typename detail::Lanes<T>::type;
  static constexpr int size = detail::kPackBytes / sizeof(T);

  Pack() = default;
  explicit Pack(Lanes values) { std::memcpy(storage_, &values, sizeof(values)); }

  /// Broadcast. Narrows without a warning, so that T(0.1) reads the same for every T.
  template <detail::Arithmetic Scalar>
  Pack(Scalar value) : Pack(static_cast<T>(value) - Lanes{}) {}  // x - 0 is x, also for -0

  /// Reads and writes `size` elements; any alignment.
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

  /// Lane by lane: mask ? a : b. Both sides are computed.
  friend Pack select(Mask<T> mask, Pack a, Pack b) {
    return Pack(mask.lanes() ? a.lanes() : b.lanes());
  }

  /// Over the lanes, always in the same order: the upper half onto the lower, down to one lane.
  friend T sum(Pack a) {
    return fold(a, [](T x, T y) { return x + y; });
  }
  /// A NaN in any lane is the result, as in torch.min and torch.max.
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

// The same vocabulary for scalars.
template <detail::Arithmetic T>
HG_HD constexpr T select(bool mask, T a, T b) {
  return mask ? a : b;
}
HG_HD constexpr bool any(bool mask) { return mask; }
HG_HD constexpr bool all(bool mask) { return mask; }

/// The element type: scalar_t<Pack<float>> and scalar_t<float> are float.
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

/// What comparing two T gives: bool for scalars, Mask for packs.
template <class T>
using mask_t = decltype(T() < T());

}  // namespace halfgrad
