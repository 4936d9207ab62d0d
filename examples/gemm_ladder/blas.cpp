#include "libraries.h"

#ifdef GEMM_LADDER_BLAS

// The name that every BLAS exports. It is column-major and takes its arguments by address.
extern "C" void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n,
                       const int* k, const float* alpha, const float* a, const int* lda,
                       const float* b, const int* ldb, const float* beta, float* c, const int* ldc);

namespace ladder {

bool has_blas() { return true; }

// A row-major matrix is the transpose of a column-major one, and C = A B is C^T = B^T A^T.
void multiply_by_blas(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                      const float* b, float* c) {
  const int rows = static_cast<int>(m), cols = static_cast<int>(n), depth = static_cast<int>(k);
  const float one = 1, zero = 0;
  sgemm_("N", "N", &cols, &rows, &depth, &one, b, &cols, a, &depth, &zero, c, &cols);
}

}  // namespace ladder

#else

namespace ladder {

bool has_blas() { return false; }
void multiply_by_blas(std::int64_t, std::int64_t, std::int64_t, const float*, const float*,
                      float*) {}

}  // namespace ladder

#endif
