// Factorisations of BLAS-like extensions: getrfBatched, getriBatched.
#include <cmath>
#include <cstring>
#include <utility>

#include <halfgrad/emulator/cublas/context.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

/// A batch of square matrices: an array of pointers in device memory.
struct Batch {
  const void* pointers;
  std::int64_t n, leading, count;
};

template <class T>
DeviceMatrix matrix_of(const LibraryCall& library, const Batch& batch, std::int64_t i) {
  const void* data = nullptr;
  const auto* entry = static_cast<const std::byte*>(batch.pointers) + i * std::int64_t{sizeof data};
  std::memcpy(&data, library.view(entry, sizeof data, AccessKind::load), sizeof data);
  return column_major(data, kTypeOf<T>, batch.n, batch.n, batch.leading);
}

DeviceMatrix integers(const int* data, std::int64_t first, std::int64_t count) {
  return device_vector(data + first, CUDA_R_32I, count, 1);
}

void swap_rows(Values& a, std::int64_t i, std::int64_t j) {
  for (std::int64_t k = 0; i != j && k < a.columns; ++k) std::swap(a.at(i, k), a.at(j, k));
}

/// PA = LU in place, L with a unit diagonal. `pivots` gets the row that changes places with row i,
/// from 1; nullptr: no rows change places. Returns the first i with U(i, i) = 0, from 1, or 0.
int factorise(Values& a, Values* pivots) {
  int singular = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::int64_t largest = i;
    for (std::int64_t j = i + 1; pivots != nullptr && j < a.rows; ++j) {
      if (std::fabs(a.at(j, i)) > std::fabs(a.at(largest, i))) largest = j;
    }
    if (pivots != nullptr) pivots->elements[i] = static_cast<double>(largest + 1);
    swap_rows(a, i, largest);
    if (a.at(i, i) == 0) {
      if (singular == 0) singular = static_cast<int>(i + 1);
      continue;
    }
    for (std::int64_t j = i + 1; j < a.rows; ++j) {
      const double factor = a.at(j, i) /= a.at(i, i);
      for (std::int64_t k = i + 1; k < a.columns; ++k) a.at(j, k) -= factor * a.at(i, k);
    }
  }
  return singular;
}

/// The inverse of the matrix whose factors `lu` holds. U has no 0 on its diagonal.
Values inverse(const Values& lu, const Values* pivots) {
  const std::int64_t n = lu.rows;
  Values x(n, n);
  for (std::int64_t i = 0; i < n; ++i) x.at(i, i) = 1;
  for (std::int64_t i = 0; pivots != nullptr && i < n; ++i) {
    swap_rows(x, i, static_cast<std::int64_t>(pivots->elements[i]) - 1);
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t k = 0; k < i; ++k) x.at(i, j) -= lu.at(i, k) * x.at(k, j);
    }
    for (std::int64_t i = n - 1; i >= 0; --i) {
      for (std::int64_t k = i + 1; k < n; ++k) x.at(i, j) -= lu.at(i, k) * x.at(k, j);
      x.at(i, j) /= lu.at(i, i);
    }
  }
  return x;
}

void write_info(const LibraryCall& library, const int* info, std::int64_t i, int value) {
  Values one(1, 1);
  one.elements[0] = value;
  write(library, one, integers(info, i, 1));
}

template <class T>
cublasStatus_t getrf(BlasCall call, Batch a, int* pivots, int* info) {
  call.sizes({a.n, a.count}).leading(a.leading, a.n);
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < a.count; ++i) {
      const DeviceMatrix matrix = matrix_of<T>(library, a, i);
      Values values = read(library, matrix), rows(a.n, 1);
      const int singular = factorise(values, pivots == nullptr ? nullptr : &rows);
      write(library, values, matrix);
      if (pivots != nullptr) write(library, rows, integers(pivots, i * a.n, a.n));
      write_info(library, info, i, singular);
    }
  });
}

template <class T>
cublasStatus_t getri(BlasCall call, Batch a, const int* pivots, Batch c, int* info) {
  call.sizes({a.n, a.count}).leading(a.leading, a.n).leading(c.leading, c.n);
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < a.count; ++i) {
      const Values lu = read(library, matrix_of<T>(library, a, i));
      int singular = 0;
      for (std::int64_t j = a.n; j-- > 0;) {
        if (lu.at(j, j) == 0) singular = static_cast<int>(j + 1);
      }
      write_info(library, info, i, singular);
      if (singular != 0) continue;
      Values rows;
      if (pivots != nullptr) rows = read(library, integers(pivots, i * a.n, a.n));
      write(library, inverse(lu, pivots == nullptr ? nullptr : &rows), matrix_of<T>(library, c, i));
    }
  });
}

}  // namespace

#define HALFGRAD_FACTORISATIONS(letter, T)                                                        \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##getrfBatched(                              \
      cublasHandle_t handle, int n, T* const a[], int lda, int* pivots, int* info, int count) {   \
    return getrf<T>({handle, "cublas" #letter "getrfBatched"}, {a, n, lda, count}, pivots, info); \
  }                                                                                               \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##getriBatched(                              \
      cublasHandle_t handle, int n, const T* const a[], int lda, const int* pivots, T* const c[], \
      int ldc, int* info, int count) {                                                            \
    return getri<T>({handle, "cublas" #letter "getriBatched"}, {a, n, lda, count}, pivots,        \
                    {c, n, ldc, count}, info);                                                    \
  }

HALFGRAD_FACTORISATIONS(S, float)
HALFGRAD_FACTORISATIONS(D, double)
