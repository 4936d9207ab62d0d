#pragma once
// Philox4x32-10: random numbers as a pure function of a counter (Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011). There is no state to advance, so the
// values depend neither on the number of threads nor on the device.
//
// A RandomKey names a random tensor. Block k of that key has four 32-bit words, from which
// `uniform` and `normal` make 4 floats or 2 doubles. With n elements per block, block i / n has
// element i as its element i % n. The code uses only +, *, /, sqrt and explicit fma, each correctly
// rounded on every device, and adds a product only inside std::fma. So no compiler can change a bit
// by contracting a * b + c. (Flags that give up correct rounding, -ffast-math or --use_fast_math,
// would.)

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/hd.h>

namespace halfgrad {

/// Names one random tensor: the seed of the user, and a stream that differs for each tensor.
///
/// In a captured graph both change with each replay. Then `base`, in device memory, has the seed
/// and the first stream of this replay, and `stream` is added to that.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  const RandomKey* base = nullptr;

  /// Returns the key without `base`; call it where `base` can be read.
  HG_HD RandomKey resolved() const {
    return base == nullptr ? *this : RandomKey{base->seed, base->stream + stream, nullptr};
  }
};

/// Four independent, uniformly distributed 32-bit words.
struct PhiloxBlock {
  std::uint32_t word[4];
};

namespace detail {

HG_HD inline std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
}

}  // namespace detail

/// The Philox bijection: ten rounds on 128-bit counters with a 64-bit key. c[w][i] is word w of
/// counter i, low words first. g++ vectorises the loop over i for Count of 17 or more, and unrolls
/// shorter ones. Always inlined, so that the optimised sources of a debug build have their own
/// optimised copy.
template <int Count>
[[gnu::always_inline]] HG_HD inline void philox4x32(std::uint32_t (&c)[4][Count],
                                                    std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < Count; ++i) {
      const std::uint32_t a = c[0][i], b = c[2][i];
      c[0][i] = detail::high_product(0xCD9E8D57, b) ^ c[1][i] ^ key0;
      c[1][i] = 0xCD9E8D57 * b;
      c[2][i] = detail::high_product(0xD2511F53, a) ^ c[3][i] ^ key1;
      c[3][i] = 0xD2511F53 * a;
    }
    key0 += 0x9E3779B9;  // the golden ratio
    key1 += 0xBB67AE85;  // sqrt(3) - 1
  }
}
HG_HD inline PhiloxBlock philox4x32(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  std::uint32_t c[4][1] = {
      {counter.word[0]}, {counter.word[1]}, {counter.word[2]}, {counter.word[3]}};
  philox4x32(c, key0, key1);
  return {{c[0][0], c[1][0], c[2][0], c[3][0]}};
}

/// Computes blocks first, first + 1, ... of the tensor `key`.
template <int Count>
[[gnu::always_inline]] HG_HD inline void random_blocks(RandomKey key, std::uint64_t first,
                                                       PhiloxBlock (&out)[Count]) {
  std::uint32_t c[4][Count];
  for (int i = 0; i < Count; ++i) {
    c[0][i] = static_cast<std::uint32_t>(first + i);
    c[1][i] = static_cast<std::uint32_t>((first + i) >> 32);
    c[2][i] = static_cast<std::uint32_t>(key.stream);
    c[3][i] = static_cast<std::uint32_t>(key.stream >> 32);
  }
  philox4x32(c, static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32));
  for (int i = 0; i < Count; ++i) out[i] = {{c[0][i], c[1][i], c[2][i], c[3][i]}};
}

/// Returns block `index` of the tensor `key`.
[[gnu::always_inline]] HG_HD inline PhiloxBlock random_block(RandomKey key, std::uint64_t index) {
  PhiloxBlock block[1];
  random_blocks(key, index, block);
  return block[0];
}

namespace detail {

HG_HD inline std::uint64_t join(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

template <class To, class From>
HG_HD To same_bits(From from) {  // nvcc rejects std::bit_cast in device code: it is constexpr
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// Constants of the formulas below for T. The number of series terms makes the remainder less than
/// half a roundoff.
template <class T>
struct NormalTraits;

template <>
struct NormalTraits<float> {
  using Signed = std::int32_t;
  static constexpr int fraction_bits = 23, log_terms = 5, sine_terms = 6;
  static constexpr std::uint32_t sqrt_half_bits = 0x3F3504F3;
};

template <>
struct NormalTraits<double> {
  using Signed = std::int64_t;
  static constexpr int fraction_bits = 52, log_terms = 11, sine_terms = 10;
  static constexpr std::uint64_t sqrt_half_bits = 0x3FE6A09E667F3BCD;
};

/// Returns ln(u) for a normal u > 0:
///     u = 2^e m  with  sqrt(1/2) <= m < sqrt(2),  s = (m - 1) / (m + 1)
///     ln(u) = e ln(2) + 2 s (1 + s^2/3 + s^4/5 + ...)
template <class T, class Word>
HG_HD T portable_log(T u) {
  using Traits = NormalTraits<T>;
  const Word bits = same_bits<Word>(u);
  const auto exponent =
      static_cast<typename Traits::Signed>(bits - Traits::sqrt_half_bits) >> Traits::fraction_bits;
  const T m = same_bits<T>(bits - (static_cast<Word>(exponent) << Traits::fraction_bits));
  const T s = (m - T(1)) / (m + T(1));
  const T s2 = s * s;
  T series = 0;
  for (int k = Traits::log_terms; k >= 0; --k)
    series = std::fma(series, s2, T(1) / static_cast<T>(2 * k + 1));
  return std::fma(static_cast<T>(exponent), T(0.693147180559945309), T(2) * s * series);
}

/// Computes cos and sin of `angle` / 2^bits(Word) turns. Subtracts the nearest quarter turn in
/// integers, which leaves |x| <= pi/4 for the series
///     sin(x) = x (1 - x^2/(2*3) (1 - x^2/(4*5) (1 - ...)))
template <class T, class Word>
HG_HD void portable_cos_sin(Word angle, T& cosine, T& sine) {
  using Traits = NormalTraits<T>;
  constexpr int quarter_bits = static_cast<int>(sizeof(Word)) * 8 - 2;
  constexpr T radians = T(1.57079632679489661923) / static_cast<T>(Word{1} << quarter_bits);
  const Word quarter = (angle + (Word{1} << (quarter_bits - 1))) >> quarter_bits;
  const auto rest = static_cast<typename Traits::Signed>(angle - (quarter << quarter_bits));
  const T x = static_cast<T>(rest) * radians;
  const T minus_x2 = -x * x;
  T c = 1, s = 1;
  for (int k = Traits::sine_terms; k > 0; --k) {
    c = std::fma(minus_x2 * (T(1) / static_cast<T>((2 * k - 1) * (2 * k))), c, T(1));
    s = std::fma(minus_x2 * (T(1) / static_cast<T>((2 * k) * (2 * k + 1))), s, T(1));
  }
  s *= x;
  const bool swapped = quarter % 2 == 1;
  cosine = swapped ? s : c;
  sine = swapped ? c : s;
  if (quarter == 1 || quarter == 2) cosine = -cosine;
  if (quarter >= 2) sine = -sine;
}

/// Computes two independent normal values by Box and Muller:
///     r cos(t), r sin(t)  with  r = sqrt(-2 ln(u))
/// u is the middle of one of 2^bits(Word) cells of (0, 1), so |normal| <= 6.8 in float, 9.5 in
/// double.
template <class T, class Word>
HG_HD void box_muller(Word radius_word, Word angle_word, T* out) {
  constexpr T cell = T(0.5) / static_cast<T>(Word{1} << (sizeof(Word) * 8 - 1));
  const T u = std::fma(static_cast<T>(radius_word), cell, cell / T(2));
  const T radius = std::sqrt(T(-2) * portable_log<T, Word>(u));
  T cosine, sine;
  portable_cos_sin<T, Word>(angle_word, cosine, sine);
  out[0] = radius * cosine;
  out[1] = radius * sine;
}

}  // namespace detail

/// Uniform values on [0, 1): multiples of 2^-24 (float) or 2^-53 (double), each equally likely.
HG_HD inline void uniform(const PhiloxBlock& block, float (&out)[4]) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<float>(block.word[i] >> 8) * 0x1p-24f;
}
HG_HD inline void uniform(const PhiloxBlock& block, double (&out)[2]) {
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t bits = detail::join(block.word[2 * i], block.word[2 * i + 1]);
    out[i] = static_cast<double>(bits >> 11) * 0x1p-53;
  }
}

/// Standard normal values.
HG_HD inline void normal(const PhiloxBlock& block, float (&out)[4]) {
  detail::box_muller<float, std::uint32_t>(block.word[0], block.word[1], out);
  detail::box_muller<float, std::uint32_t>(block.word[2], block.word[3], out + 2);
}
HG_HD inline void normal(const PhiloxBlock& block, double (&out)[2]) {
  detail::box_muller<double, std::uint64_t>(detail::join(block.word[0], block.word[1]),
                                            detail::join(block.word[2], block.word[3]), out);
}

/// Returns floor(bits * bound / 2^64): an integer on [0, bound) from 64 random bits. It always
/// takes one draw, so element i stays a function of i; the probability of a value is off by at most
/// 2^-64.
HG_HD inline std::uint64_t bounded(std::uint64_t bits, std::uint64_t bound) {
  const std::uint64_t low = (bits & 0xFFFFFFFF) * (bound & 0xFFFFFFFF);
  const std::uint64_t cross0 = (bits >> 32) * (bound & 0xFFFFFFFF) + (low >> 32);
  const std::uint64_t cross1 = (bits & 0xFFFFFFFF) * (bound >> 32) + (cross0 & 0xFFFFFFFF);
  return (bits >> 32) * (bound >> 32) + (cross0 >> 32) + (cross1 >> 32);
}

/// Uniform integers on [0, bound); bound > 0.
HG_HD inline void uniform_integer(const PhiloxBlock& block, std::uint64_t bound,
                                  std::uint64_t (&out)[2]) {
  for (int i = 0; i < 2; ++i)
    out[i] = bounded(detail::join(block.word[2 * i], block.word[2 * i + 1]), bound);
}

namespace detail {

/// The key by which element i of a random permutation is sorted.
HG_HD inline std::uint64_t sort_key(RandomKey key, std::int64_t i) {
  const PhiloxBlock block = random_block(key, static_cast<std::uint64_t>(i) / 2);
  return join(block.word[i % 2 * 2], block.word[i % 2 * 2 + 1]);
}

}  // namespace detail

/// Returns 0 ... n-1 in random order: sorted by a random 64-bit key, equal keys by index. A device
/// can do this in parallel with the same result. Throws std::invalid_argument for n < 0.
inline std::vector<std::int64_t> random_permutation(std::int64_t n, RandomKey key) {
  if (n < 0) detail::fail("random_permutation", "expected n >= 0, got {}", n);
  if (key.base != nullptr) {
    detail::fail("random_permutation",
                 "expected a key drawn outside a graph capture, got one of a "
                 "captured graph");
  }
  std::vector<std::pair<std::uint64_t, std::int64_t>> keyed(n);
  for (std::int64_t i = 0; i < n; ++i) keyed[i] = {detail::sort_key(key, i), i};
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::int64_t> order(n);
  for (std::int64_t i = 0; i < n; ++i) order[i] = keyed[i].second;
  return order;
}

}  // namespace halfgrad
