#pragma once

#include <halfgrad/core/dtype.h>

#include <cstdint>

namespace halfgrad {

/// out[i] = float(in[i]) for i < n, bit for bit, with vector instructions where there are any. The
/// ranges must not overlap.
void widen(const Half* in, float* out, int64_t n);
void widen(const BFloat16* in, float* out, int64_t n);

/// out[i] = Half(in[i]) or BFloat16(in[i]) for i < n, bit for bit: rounded to nearest, ties to
/// even. The ranges must not overlap.
void narrow(const float* in, Half* out, int64_t n);
void narrow(const float* in, BFloat16* out, int64_t n);

}  // namespace halfgrad
