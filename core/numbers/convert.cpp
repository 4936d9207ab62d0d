#include <halfgrad/core/numbers/convert.h>

#if defined(__F16C__) && defined(__AVX__)
#include <immintrin.h>
#define HG_HAS_F16C 1
#else
#define HG_HAS_F16C 0
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

void narrow(const float* __restrict in, BFloat16* __restrict out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<BFloat16>(in[i]);
}

}  // namespace halfgrad
