#include <halfgrad/core/gemm/gemm_library.h>

#ifdef HALFGRAD_GEMM_BLAS

#include <algorithm>
#include <climits>

// Names that every BLAS exports (BLAS Technical Forum standard, section 2: xGEMM, column-major,
// arguments by address).
extern "C" {
void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
}

namespace halfgrad::detail {
namespace {

constexpr auto xgemm(float) { return sgemm_; }
constexpr auto xgemm(double) { return dgemm_; }

// A row-major matrix as BLAS, which is column-major, reads its memory: transposed, with `leading`
// as its leading dimension.
struct BlasOperand {
  char trans;
  int leading;
  bool usable;
};

template <class T>
BlasOperand blas_operand(const Operand<T>& x) {
  const bool by_rows = x.col_stride == 1;
  const std::int64_t length = by_rows ? x.cols : x.rows;
  const std::int64_t leading = by_rows ? x.row_stride : x.col_stride;
  const bool is_vector = (by_rows ? x.rows : x.cols) == 1;
  const bool usable = (is_vector || leading >= length) && std::max(leading, length) <= INT_MAX;
  return {by_rows ? 'N' : 'T',
          static_cast<int>(is_vector ? std::max<std::int64_t>(length, 1) : leading), usable};
}

}  // namespace

template <class T>
bool library_takes(const Operand<T>& a, const Operand<T>& b, std::int64_t row_stride) {
  return blas_operand(a).usable && blas_operand(b).usable && a.rows <= INT_MAX &&
         b.cols <= INT_MAX && a.cols > 0 && a.cols <= INT_MAX && row_stride >= b.cols &&
         row_stride <= INT_MAX;
}

// Row-major C is C^T = alpha B^T A^T + beta C^T.
template <class T>
void multiply_by_library(T alpha, const Operand<T>& a, const Operand<T>& b, T beta, T* c,
                         std::int64_t row_stride) {
  const BlasOperand blas_a = blas_operand(a), blas_b = blas_operand(b);
  const int m = static_cast<int>(a.rows), n = static_cast<int>(b.cols);
  const int k = static_cast<int>(a.cols), leading_c = static_cast<int>(row_stride);
  xgemm(T())(&blas_b.trans, &blas_a.trans, &n, &m, &k, &alpha, b.data, &blas_b.leading, a.data,
             &blas_a.leading, &beta, c, &leading_c);
}

template bool library_takes(const Operand<float>&, const Operand<float>&, std::int64_t);
template bool library_takes(const Operand<double>&, const Operand<double>&, std::int64_t);
template void multiply_by_library(float, const Operand<float>&, const Operand<float>&, float,
                                  float*, std::int64_t);
template void multiply_by_library(double, const Operand<double>&, const Operand<double>&, double,
                                  double*, std::int64_t);

}  // namespace halfgrad::detail

#endif
