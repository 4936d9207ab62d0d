#pragma once

#include <cstdint>

/// Matrix products by libraries, if the build has found them: c = a b for contiguous a [m, k],
/// b [k, n] and c [m, n].
namespace ladder {

bool has_eigen();
void multiply_by_eigen(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                       const float* b, float* c);

bool has_blas();
void multiply_by_blas(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                      const float* b, float* c);

}  // namespace ladder
