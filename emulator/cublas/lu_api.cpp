// Batches of LU factorizations, and what they serve: solutions and inverses.
#include <cmath>
#include <optional>
#include <utility>

#include <halfgrad/emulator/cublas/dense.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

/// BLAS's magnitude for pivots: |re| + |im|.
double magnitude(double value) { return std::fabs(value); }
double magnitude(std::complex<double> value) {
  return std::fabs(value.real()) + std::fabs(value.imag());
}

template <class W>
void swap_rows(Dense<W>& matrix, std::int64_t i, std::int64_t k) {
  if (i == k) return;
  for (std::int64_t j = 0; j < matrix.columns; ++j) std::swap(matrix.at(i, j), matrix.at(k, j));
}

/// Replaces A by L and U of P A = L U. Row j was swapped with row pivots[j], counted from 1;
/// without `pivots` rows stay. Returns the first column, from 1, whose pivot is 0, else 0.
template <class W>
int factorize_lu(Dense<W>& a, std::vector<int>* pivots) {
  int zero_pivot = 0;
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t best = j;
    if (pivots != nullptr) {
      for (std::int64_t i = j + 1; i < n; ++i) {
        if (magnitude(a.at(i, j)) > magnitude(a.at(best, j))) best = i;
      }
      pivots->push_back(static_cast<int>(best) + 1);
      swap_rows(a, j, best);
    }
    if (a.at(j, j) == 0.0) {
      if (zero_pivot == 0) zero_pivot = static_cast<int>(j) + 1;
      continue;
    }
    for (std::int64_t i = j + 1; i < n; ++i) {
      const W factor = a.at(i, j) /= a.at(j, j);
      for (std::int64_t l = j + 1; l < n; ++l) a.at(i, l) -= factor * a.at(j, l);
    }
  }
  return zero_pivot;
}

/// Solves op(A) X = x in place. `pivots` may be empty.
template <class W>
void solve(const Dense<W>& lu, const std::vector<int>& pivots, cublasOperation_t op, Dense<W>& x) {
  const auto count = static_cast<std::int64_t>(pivots.size());
  const auto swap = [&](std::int64_t j) {
    swap_rows(x, j, pivots[static_cast<std::size_t>(j)] - 1);
  };
  if (op == CUBLAS_OP_N) {
    for (std::int64_t j = 0; j < count; ++j) swap(j);
    substitute(lu, true, true, x);
    substitute(lu, false, false, x);
    return;
  }
  const Dense<W> transposed = oriented(op, lu);
  substitute(transposed, true, false, x);
  substitute(transposed, false, true, x);
  for (std::int64_t j = count - 1; j >= 0; --j) swap(j);
}

template <class W>
Dense<W> identity(std::int64_t n) {
  Dense<W> result(n, n);
  for (std::int64_t i = 0; i < n; ++i) result.at(i, i) = 1;
  return result;
}

std::vector<int> read_pivots(const LibraryCall& call, const int* pivots, std::int64_t n) {
  std::vector<int> result;
  for (std::int64_t i = 0; pivots != nullptr && i < n; ++i) {
    result.push_back(read_one(call, pivots + i));
  }
  return result;
}
const int* pivots_of(const int* pivots, std::int64_t i, std::int64_t n) {
  return pivots == nullptr ? nullptr : pivots + i * n;
}

template <class E>
cublasStatus_t getrf(BlasCall call, int n, E* const a[], int lda, int* pivots, int* info,
                     int batch) {
  call.sizes({n, batch}).leading(lda, n);
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < batch; ++i) {
      E* const matrix = read_one(library, a + i);
      auto lu = read_dense(library, Stored<E>{matrix, lda}, n, n);
      std::vector<int> rows;
      const int zero_pivot = factorize_lu(lu, pivots == nullptr ? nullptr : &rows);
      write_dense(library, lu, matrix, lda);
      for (std::size_t j = 0; j < rows.size(); ++j) {
        write_one(library, rows[j], pivots + i * n + static_cast<std::int64_t>(j));
      }
      write_one(library, zero_pivot, info + i);
    }
  });
}

template <class E>
cublasStatus_t getri(BlasCall call, int n, const E* const a[], int lda, const int* pivots,
                     E* const c[], int ldc, int* info, int batch) {
  call.sizes({n, batch}).leading(lda, n).leading(ldc, n);
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto lu = read_dense(library, Stored<E>{read_one(library, a + i), lda}, n, n);
      int zero_pivot = 0;
      for (int j = n; j > 0; --j) zero_pivot = lu.at(j - 1, j - 1) == 0.0 ? j : zero_pivot;
      write_one(library, zero_pivot, info + i);
      if (zero_pivot != 0) continue;
      auto inverse = identity<Wide<E>>(n);
      solve(lu, read_pivots(library, pivots_of(pivots, i, n), n), CUBLAS_OP_N, inverse);
      write_dense(library, inverse, read_one(library, c + i), ldc);
    }
  });
}

/// `info` is a host pointer: the position of an argument that is not valid.
template <class E>
cublasStatus_t getrs(BlasCall call, cublasOperation_t op, int n, int columns, const E* const a[],
                     int lda, const int* pivots, E* const b[], int ldb, int* info, int batch) {
  call.sizes({n, columns, batch}).leading(lda, n).leading(ldb, n);
  call.demand(info != nullptr, "info is a null pointer");
  if (info != nullptr) {
    const int smallest = n > 1 ? n : 1;
    *info = n < 0            ? -2
            : columns < 0    ? -3
            : lda < smallest ? -5
            : ldb < smallest ? -8
            : batch < 0      ? -10
                             : 0;
  }
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto lu = read_dense(library, Stored<E>{read_one(library, a + i), lda}, n, n);
      E* const matrix = read_one(library, b + i);
      auto x = read_dense(library, Stored<E>{matrix, ldb}, n, columns);
      solve(lu, read_pivots(library, pivots_of(pivots, i, n), n), op, x);
      write_dense(library, x, matrix, ldb);
    }
  });
}

template <class E>
cublasStatus_t matinv(BlasCall call, int n, const E* const a[], int lda, E* const c[], int ldc,
                      int* info, int batch) {
  call.sizes({n, batch}).leading(lda, n).leading(ldc, n);
  call.demand(n <= 32, "the matrices are larger than 32 x 32");
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < batch; ++i) {
      auto lu = read_dense(library, Stored<E>{read_one(library, a + i), lda}, n, n);
      std::vector<int> pivots;
      const int zero_pivot = factorize_lu(lu, &pivots);
      write_one(library, zero_pivot, info + i);
      if (zero_pivot != 0) continue;
      auto inverse = identity<Wide<E>>(n);
      solve(lu, pivots, CUBLAS_OP_N, inverse);
      write_dense(library, inverse, read_one(library, c + i), ldc);
    }
  });
}

}  // namespace

#define HALFGRAD_LU(letter, T)                                                                     \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##getrfBatched(                               \
      cublasHandle_t handle, int n, T* const a[], int lda, int* pivots, int* info, int batch) {    \
    return getrf<T>({handle, "cublas" #letter "getrfBatched"}, n, a, lda, pivots, info, batch);    \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##getriBatched(                               \
      cublasHandle_t handle, int n, const T* const a[], int lda, const int* pivots, T* const c[],  \
      int ldc, int* info, int batch) {                                                             \
    return getri<T>({handle, "cublas" #letter "getriBatched"}, n, a, lda, pivots, c, ldc, info,    \
                    batch);                                                                        \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##getrsBatched(                               \
      cublasHandle_t handle, cublasOperation_t op, int n, int columns, const T* const a[],         \
      int lda, const int* pivots, T* const b[], int ldb, int* info, int batch) {                   \
    return getrs<T>({handle, "cublas" #letter "getrsBatched"}, op, n, columns, a, lda, pivots, b,  \
                    ldb, info, batch);                                                             \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##matinvBatched(                              \
      cublasHandle_t handle, int n, const T* const a[], int lda, T* const c[], int ldc, int* info, \
      int batch) {                                                                                 \
    return matinv<T>({handle, "cublas" #letter "matinvBatched"}, n, a, lda, c, ldc, info, batch);  \
  }
HALFGRAD_FOR_EACH_LETTER(HALFGRAD_LU)
