#include <halfgrad/core/numbers/convert.h>

#if defined(__F16C__) && defined(__AVX__)
#include <immintrin.h>
#define HG_HAS_F16C 1
#else
#define HG_HAS_F16C 0
#endif
#if defined(__AVX512BF16__) && defined(__AVX512DQ__)
#define HG_HAS_AVX512_BF16 1
#else
#define HG_HAS_AVX512_BF16 0
#endif

namespace halfgrad {

void widen(const Half* in, float* out, std::int64_t n) {
  std::int64_t i = 0;
#if HG_HAS_F16C
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
  }
#endif
  for (; i < n; ++i) out[i] = static_cast<float>(in[i]);
}

void narrow(const float* in, Half* out, std::int64_t n) {
  std::int64_t i = 0;
#if HG_HAS_F16C
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), halves);
  }
#endif
  for (; i < n; ++i) out[i] = static_cast<Half>(in[i]);
}

void widen(const BFloat16* __restrict in, float* __restrict out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(in[i]);
}

namespace {

void narrow_elements(const float* __restrict in, BFloat16* __restrict out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<BFloat16>(in[i]);
}

}  // namespace

// VCVTNE2PS2BF16 differs from the scalar conversion for subnormal numbers, which count as 0, and
// for the bits of NaN, so vectors with either of them take the slow path.
void narrow(const float* in, BFloat16* out, std::int64_t n) {
  std::int64_t i = 0;
#if HG_HAS_AVX512_BF16
  constexpr int kNanOrSubnormal = 0xa1;  // quiet NaN, subnormal, signaling NaN
  for (; i + 32 <= n; i += 32) {
    const __m512 low = _mm512_loadu_ps(in + i), high = _mm512_loadu_ps(in + i + 16);
    if ((_mm512_fpclass_ps_mask(low, kNanOrSubnormal) |
         _mm512_fpclass_ps_mask(high, kNanOrSubnormal)) != 0) {
      narrow_elements(in + i, out + i, 32);
      continue;
    }
    _mm512_storeu_si512(out + i, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
#endif
  narrow_elements(in + i, out + i, n - i);
}

}  // namespace halfgrad
