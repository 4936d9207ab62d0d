#pragma once

#include <cstddef>
#include <vector>

#include <halfgrad/core/dtype.h>

/// Four ways to add up values in a 16-bit format T (Half or BFloat16): widen, add, narrow.
namespace sums {

/// Returns a + b, rounded to T. The float sum rounds twice, which gives the same value, because
/// float has more than 2 * 11 + 2 bits (Figueroa 1995).
template <class T>
T plus(T a, T b) {
  return T(static_cast<float>(a) + static_cast<float>(b));
}

template <class T>
T minus(T a, T b) {
  return T(static_cast<float>(a) - static_cast<float>(b));
}

/// One element after the other. The error grows with n roundoffs.
template <class T>
T naive(const std::vector<T>& x) {
  T total(0.0f);
  for (const T value : x) total = plus(total, value);
  return total;
}

/// Both halves first, then their sum. The error grows with log2(n) roundoffs.
template <class T>
T pairwise(const std::vector<T>& x, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return x[begin];
  const std::size_t middle = begin + (end - begin) / 2;
  return plus(pairwise(x, begin, middle), pairwise(x, middle, end));
}

/// Kahan 1965: `lost` is what rounding took from the total, and goes into the next addition. The
/// error is about 2 roundoffs, for any n that a format can count to.
template <class T>
T kahan(const std::vector<T>& x) {
  T total(0.0f);
  T lost(0.0f);
  for (const T value : x) {
    const T corrected = minus(value, lost);
    const T next = plus(total, corrected);
    lost = minus(minus(next, total), corrected);
    total = next;
  }
  return total;
}

/// An accumulator of 32 bits, as in matrix units and in every sum of halfgrad: one rounding to T.
template <class T>
T wide(const std::vector<T>& x) {
  float total = 0;
  for (const T value : x) total += static_cast<float>(value);
  return T(total);
}

/// The exact sum: 64 bits hold every sum of up to 2^28 values of fp16 in [0, 1).
template <class T>
double exact(const std::vector<T>& x) {
  double total = 0;
  for (const T value : x) total += static_cast<double>(static_cast<float>(value));
  return total;
}

}  // namespace sums
