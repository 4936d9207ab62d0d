#pragma once

#include <cstdint>
#include <cstring>

#if defined(__FMA__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include <halfgrad/core/language.h>
#include <halfgrad/core/numbers/scalar.h>

// gemm's vectors: the compiler's vector extensions, and intrinsics for the fused multiply-add.
namespace halfgrad::detail {

// The sums, kStripRows x 2 vectors, leave registers for two vectors of B and one of A.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64, kStripRows = 12;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32, kStripRows = 6;
#else
inline constexpr int kVectorBytes = 16, kStripRows = 6;
#endif

// A vector of T in one register.
template <class T>
struct Simd {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename Simd<T>::Vector;

template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int kStripColumns = 2 * kLanes<T>;

template <class T>
Vector<T> load(const T* from) {
  Vector<T> vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

// Loads a vector of elements of S as the type that accumulates them.
template <class S>
Vector<compute_t<S>> load_wide(const S* from) {
  return load(from);
}
typedef std::uint16_t Words __attribute__((vector_size(kVectorBytes / 2)));
// g++ takes four instructions for __builtin_convertvector of words.
inline Simd<std::uint32_t>::Vector widened(const Words& words) {
#if defined(__AVX512F__)
  return (Simd<std::uint32_t>::Vector)_mm512_maskz_cvtepu16_epi32(0xffff, (__m256i)words);
#elif defined(__AVX2__)
  return (Simd<std::uint32_t>::Vector)_mm256_cvtepu16_epi32((__m128i)words);
#else
  return __builtin_convertvector(words, Simd<std::uint32_t>::Vector);
#endif
}
inline Vector<float> widened_bf16(const Words& words) {
  const auto bits = widened(words) << 16;
  Vector<float> values;
  std::memcpy(&values, &bits, sizeof values);
  return values;
}
inline Vector<float> load_wide(const BFloat16* from) {
  Words words;
  std::memcpy(&words, from, sizeof words);
  return widened_bf16(words);
}
inline Vector<float> load_wide(const Half* from) {
#if defined(__AVX512F__)
  // _mm512_cvtph_ps is the same, but g++ 12 warns of an uninitialised operand in it.
  return _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(__F16C__) && defined(__AVX__)
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
  Vector<float> values;
  for (int i = 0; i < kLanes<float>; ++i) values[i] = static_cast<float>(from[i]);
  return values;
#endif
}

template <class T>
void store(const Vector<T>& vector, T* to) {
  std::memcpy(to, &vector, sizeof vector);
}

// Copies the first `count` of Most elements. A loop of fixed length becomes a masked load and
// store.
template <class T, int Most>
void copy_first(std::int64_t count, const T* from, T (&to)[Most]) {
  for (int i = 0; i < Most; ++i) {
    if (i < count) to[i] = from[i];
  }
}

// Loads the first `count` elements of a vector as the type that accumulates them. The other lanes
// are 0, and their memory is not touched.
template <class S>
Vector<compute_t<S>> load_wide_first(std::int64_t count, const S* from) {
  S some[kLanes<compute_t<S>>] = {};
  copy_first(count, from, some);
  return load_wide(some);
}
template <class T>
void store_first(std::int64_t count, const Vector<T>& vector, T* to) {
  std::memcpy(to, &vector, static_cast<size_t>(count) * sizeof(T));
}

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
// Masked instructions need no copy in memory. A copy would be slow: a vector load waits for the
// shorter stores that wrote its bytes.
inline constexpr bool kMasksLanes = true;
inline __mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>((1U << count) - 1U);
}
inline Vector<float> load_wide_first(std::int64_t count, const float* from) {
  return _mm512_maskz_loadu_ps(first_lanes(count), from);
}
inline Vector<double> load_wide_first(std::int64_t count, const double* from) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>(first_lanes(count)), from);
}
inline Vector<float> load_wide_first(std::int64_t count, const Half* from) {
  return _mm512_maskz_cvtph_ps(0xffff, _mm256_maskz_loadu_epi16(first_lanes(count), from));
}
inline Vector<float> load_wide_first(std::int64_t count, const BFloat16* from) {
  const __m256i loaded = _mm256_maskz_loadu_epi16(first_lanes(count), from);
  Words words;
  std::memcpy(&words, &loaded, sizeof words);
  return widened_bf16(words);
}
inline void store_first(std::int64_t count, const Vector<float>& vector, float* to) {
  _mm512_mask_storeu_ps(to, first_lanes(count), vector);
}
inline void store_first(std::int64_t count, const Vector<double>& vector, double* to) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>(first_lanes(count)), vector);
}
#else
inline constexpr bool kMasksLanes = false;
#endif

// The lanes of a vector that stand for elements in memory: all, or the first ones.
template <class T>
struct AllLanes {
  Vector<T> load(const T* from) const { return detail::load(from); }
  void store(const Vector<T>& vector, T* to) const { detail::store<T>(vector, to); }
};
template <class T>
struct FirstLanes {
  std::int64_t count;

  Vector<T> load(const T* from) const { return load_wide_first(count, from); }
  void store(const Vector<T>& vector, T* to) const { store_first(count, vector, to); }
};

#if defined(__AVX512F__)
inline __m512 fused(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
inline __m512d fused(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
#elif defined(__FMA__)
inline __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
inline __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
#else
template <class V>
V fused(const V& a, const V& b, const V& c) {
  return a * b + c;
}
#endif

// Returns factor * values + sum, rounded once if the processor has fused multiply-adds. The
// compiler does not choose: it would fuse in some loops and not in others. g++, for one, does not
// fuse a single chain of sums for some AMD processors (its parameter avoid-fma-max-bits).
template <class T>
Vector<T> multiply_add(T factor, const Vector<T>& values, const Vector<T>& sum) {
  return fused(factor - Vector<T>{}, values, sum);  // -0 - 0 is -0
}

}  // namespace halfgrad::detail
