// Batches of QR factorizations and of least-squares problems.
#include <algorithm>
#include <cmath>

#include <halfgrad/emulator/cublas/dense.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

double real_part(double value) { return value; }
double real_part(std::complex<double> value) { return value.real(); }

/// A Householder reflection H = I - tau v v' with v(0) = 1. v lies below the diagonal of column j.
template <class W>
void reflect(const Dense<W>& qr, std::int64_t j, W tau, Dense<W>& x, std::int64_t column) {
  W sum = x.at(j, column);
  for (std::int64_t i = j + 1; i < qr.rows; ++i) sum += conjugate(qr.at(i, j)) * x.at(i, column);
  sum *= tau;
  x.at(j, column) -= sum;
  for (std::int64_t i = j + 1; i < qr.rows; ++i) x.at(i, column) -= qr.at(i, j) * sum;
}

/// Replaces A by R and the vectors v as LAPACK's geqrf does, and returns the factors tau.
template <class W>
std::vector<W> factorize_qr(Dense<W>& a) {
  std::vector<W> taus;
  for (std::int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    double norm = std::abs(a.at(j, j)), below = 0;
    for (std::int64_t i = j + 1; i < a.rows; ++i) below = std::hypot(below, std::abs(a.at(i, j)));
    norm = std::hypot(norm, below);
    const W alpha = a.at(j, j);
    if (below == 0 && alpha == W(real_part(alpha))) {
      taus.push_back(0);
      continue;
    }
    const double beta = real_part(alpha) > 0 ? -norm : norm;
    const W tau = (beta - alpha) / beta;
    for (std::int64_t i = j + 1; i < a.rows; ++i) a.at(i, j) /= alpha - beta;
    for (std::int64_t l = j + 1; l < a.columns; ++l) reflect(a, j, conjugate(tau), a, l);
    a.at(j, j) = beta;
    taus.push_back(tau);
  }
  return taus;
}

template <class E>
cublasStatus_t geqrf(BlasCall call, int m, int n, E* const a[], int lda, E* const tau[], int* info,
                     int batch) {
  call.sizes({m, n, batch}).leading(lda, m);
  if (info != nullptr) *info = m < 0 ? -1 : n < 0 ? -2 : lda < (m > 1 ? m : 1) ? -4 : 0;
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < batch; ++i) {
      E* const matrix = read_one(library, a + i);
      auto qr = read_dense(library, Stored<E>{matrix, lda}, m, n);
      Dense<Wide<E>> taus;
      taus.elements = factorize_qr(qr);
      taus.rows = static_cast<std::int64_t>(taus.elements.size());
      taus.columns = 1;
      write_dense(library, qr, matrix, lda);
      write_dense(library, taus, read_one(library, tau + i), taus.rows);
    }
  });
}

/// Replaces C by Q' C, and its first rows by the solution of R X = Q' C. Returns the first row,
/// from 1, where R's diagonal is 0, else 0.
template <class W>
int least_squares(Dense<W>& a, Dense<W>& c) {
  const std::vector<W> taus = factorize_qr(a);
  const std::int64_t n = a.columns;
  for (std::int64_t column = 0; column < c.columns; ++column) {
    for (std::int64_t j = 0; j < n; ++j) {
      reflect(a, j, conjugate(taus[static_cast<std::size_t>(j)]), c, column);
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    if (a.at(j, j) == 0.0) return static_cast<int>(j) + 1;
  }
  for (std::int64_t column = 0; column < c.columns; ++column) {
    for (std::int64_t j = n - 1; j >= 0; --j) {
      c.at(j, column) /= a.at(j, j);
      for (std::int64_t i = 0; i < j; ++i) c.at(i, column) -= a.at(i, j) * c.at(j, column);
    }
  }
  return 0;
}

/// `info` is a host pointer; `zero_rows`, which may be null, lies on the device.
template <class E>
cublasStatus_t gels(cublasHandle_t handle, const char* function, cublasOperation_t op, int m, int n,
                    int columns, E* const a[], int lda, E* const c[], int ldc, int* info,
                    int* zero_rows, int batch) {
  BlasCall call(handle, function);
  call.sizes({m, n, columns, batch}).leading(lda, m).leading(ldc, m);
  if (info != nullptr) *info = call.is_valid() ? 0 : -1;
  if (call.is_valid() && (op != CUBLAS_OP_N || m < n)) {
    return refuse_call(function, CUBLAS_STATUS_NOT_SUPPORTED,
                       "only CUBLAS_OP_N with at least as many rows as columns is supported");
  }
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < batch; ++i) {
      E *const left = read_one(library, a + i), *const right = read_one(library, c + i);
      auto matrix = read_dense(library, Stored<E>{left, lda}, m, n);
      auto values = read_dense(library, Stored<E>{right, ldc}, m, columns);
      const int zero_row = least_squares(matrix, values);
      write_dense(library, matrix, left, lda);
      write_dense(library, values, right, ldc);
      if (zero_rows != nullptr) write_one(library, zero_row, zero_rows + i);
    }
  });
}

}  // namespace

#define HALFGRAD_LEAST_SQUARES(letter, T)                                                       \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##geqrfBatched(                            \
      cublasHandle_t handle, int m, int n, T* const a[], int lda, T* const tau[], int* info,    \
      int batch) {                                                                              \
    return geqrf<T>({handle, "cublas" #letter "geqrfBatched"}, m, n, a, lda, tau, info, batch); \
  }                                                                                             \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##gelsBatched(                             \
      cublasHandle_t handle, cublasOperation_t op, int m, int n, int columns, T* const a[],     \
      int lda, T* const c[], int ldc, int* info, int* zero_rows, int batch) {                   \
    return gels<T>(handle, "cublas" #letter "gelsBatched", op, m, n, columns, a, lda, c, ldc,   \
                   info, zero_rows, batch);                                                     \
  }
HALFGRAD_FOR_EACH_LETTER(HALFGRAD_LEAST_SQUARES)
