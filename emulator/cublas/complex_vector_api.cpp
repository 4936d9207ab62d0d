// Level 1 of BLAS: vectors of complex numbers.
#include <cmath>
#include <memory>

#include <halfgrad/emulator/cublas/dense.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

/// A vector's arguments, as BLAS writes them. A negative stride begins at the end.
template <class E>
struct ComplexVector {
  const E* data;
  std::int64_t stride;

  E* at(std::int64_t i, std::int64_t n) const {
    return const_cast<E*>(data) + (stride < 0 ? (i + 1 - n) * stride : i * stride);
  }
};

template <class E>
using Elements = std::vector<Wide<E>>;

template <class E>
Elements<E> read_vector(const LibraryCall& call, ComplexVector<E> vector, std::int64_t n) {
  Elements<E> values;
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(widened(read_one<E>(call, vector.at(i, n))));
  }
  return values;
}

template <class E>
void write_vector(const LibraryCall& call, const Elements<E>& values, ComplexVector<E> vector) {
  const auto n = static_cast<std::int64_t>(values.size());
  for (std::int64_t i = 0; i < n; ++i) {
    write_one(call, narrowed<E>(values[static_cast<std::size_t>(i)]), vector.at(i, n));
  }
}

/// Runs a call with one scalar result. The host waits for a host result.
template <class R, class F>
cublasStatus_t reduce(const BlasCall& call, R* result, F work) {
  if (call.is_valid() && call.context().device_factors()) {
    return call.run([=](const LibraryCall& library) {
      write_one(library, narrowed<R>(work(library)), result);
    });
  }
  const auto value = std::make_shared<R>();
  const cublasStatus_t status =
      call.run([=](const LibraryCall& library) { *value = narrowed<R>(work(library)); });
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (wait_for_stream(call.context().stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  *result = *value;
  return CUBLAS_STATUS_SUCCESS;
}

template <class E>
cublasStatus_t complex_axpy(BlasCall call, std::int64_t n, const E* alpha, ComplexVector<E> x,
                            ComplexVector<E> y) {
  const DenseFactor<E> factor(call, alpha);
  return call.run([=](const LibraryCall& library) {
    const Elements<E> a = read_vector(library, x, n);
    Elements<E> b = read_vector(library, y, n);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] += factor.at(library) * a[i];
    write_vector(library, b, y);
  });
}

/// The factor has the vector's type or is real.
template <class E, class A>
cublasStatus_t complex_scal(BlasCall call, std::int64_t n, const A* alpha, ComplexVector<E> x) {
  const DenseFactor<A> factor(call, alpha);
  if (call.is_valid() && x.stride <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    Elements<E> values = read_vector(library, x, n);
    for (Wide<E>& value : values) value *= factor.at(library);
    write_vector(library, values, x);
  });
}

template <class E>
cublasStatus_t complex_copy(BlasCall call, std::int64_t n, ComplexVector<E> x, ComplexVector<E> y) {
  return call.run(
      [=](const LibraryCall& library) { write_vector(library, read_vector(library, x, n), y); });
}

template <class E>
cublasStatus_t complex_swap(BlasCall call, std::int64_t n, ComplexVector<E> x, ComplexVector<E> y) {
  return call.run([=](const LibraryCall& library) {
    const Elements<E> a = read_vector(library, x, n), b = read_vector(library, y, n);
    write_vector(library, b, x);
    write_vector(library, a, y);
  });
}

template <class E>
cublasStatus_t complex_dot(BlasCall call, std::int64_t n, ComplexVector<E> x, ComplexVector<E> y,
                           E* result, bool conjugates) {
  return reduce(call, result, [=](const LibraryCall& library) {
    Wide<E> sum = 0;
    const Elements<E> a = read_vector(library, x, n), b = read_vector(library, y, n);
    for (std::size_t i = 0; i < a.size(); ++i) sum += (conjugates ? conjugate(a[i]) : a[i]) * b[i];
    return sum;
  });
}

/// The Euclidean norm, or the sum of |re| + |im|.
template <class E, class R>
cublasStatus_t norm(BlasCall call, std::int64_t n, ComplexVector<E> x, R* result, bool euclidean) {
  return reduce(call, result, [=](const LibraryCall& library) {
    double value = 0;
    if (x.stride <= 0) return value;
    for (const Wide<E>& element : read_vector(library, x, n)) {
      value = euclidean ? std::hypot(value, std::abs(element))
                        : value + std::fabs(element.real()) + std::fabs(element.imag());
    }
    return value;
  });
}

}  // namespace

#define HALFGRAD_COMPLEX_LEVEL_1(letter, T, suffix, Int)                                       \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##axpy_v2##suffix(                        \
      cublasHandle_t handle, Int n, const T* alpha, const T* x, Int incx, T* y, Int incy) {    \
    return complex_axpy<T>({handle, "cublas" #letter "axpy"}, n, alpha, {x, incx}, {y, incy}); \
  }                                                                                            \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##scal_v2##suffix(                        \
      cublasHandle_t handle, Int n, const T* alpha, T* x, Int incx) {                          \
    return complex_scal<T>({handle, "cublas" #letter "scal"}, n, alpha, {x, incx});            \
  }                                                                                            \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##copy_v2##suffix(                        \
      cublasHandle_t handle, Int n, const T* x, Int incx, T* y, Int incy) {                    \
    return complex_copy<T>({handle, "cublas" #letter "copy"}, n, {x, incx}, {y, incy});        \
  }                                                                                            \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##swap_v2##suffix(                        \
      cublasHandle_t handle, Int n, T* x, Int incx, T* y, Int incy) {                          \
    return complex_swap<T>({handle, "cublas" #letter "swap"}, n, {x, incx}, {y, incy});        \
  }                                                                                            \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##dotu_v2##suffix(                        \
      cublasHandle_t handle, Int n, const T* x, Int incx, const T* y, Int incy, T* result) {   \
    return complex_dot<T>({handle, "cublas" #letter "dotu"}, n, {x, incx}, {y, incy}, result,  \
                          false);                                                              \
  }                                                                                            \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##dotc_v2##suffix(                        \
      cublasHandle_t handle, Int n, const T* x, Int incx, const T* y, Int incy, T* result) {   \
    return complex_dot<T>({handle, "cublas" #letter "dotc"}, n, {x, incx}, {y, incy}, result,  \
                          true);                                                               \
  }
HALFGRAD_FOR_EACH_COMPLEX(HALFGRAD_COMPLEX_LEVEL_1)

#define HALFGRAD_COMPLEX_REAL(letter, real, T, R, suffix, Int)                            \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##real##scal_v2##suffix(             \
      cublasHandle_t handle, Int n, const R* alpha, T* x, Int incx) {                     \
    return complex_scal<T>({handle, "cublas" #letter #real "scal"}, n, alpha, {x, incx}); \
  }
HALFGRAD_COMPLEX_REAL(C, s, cuComplex, float, , int)
HALFGRAD_COMPLEX_REAL(C, s, cuComplex, float, _64, std::int64_t)
HALFGRAD_COMPLEX_REAL(Z, d, cuDoubleComplex, double, , int)
HALFGRAD_COMPLEX_REAL(Z, d, cuDoubleComplex, double, _64, std::int64_t)

#define HALFGRAD_COMPLEX_NORMS(letters, T, R, suffix, Int)                           \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letters##nrm2_v2##suffix(             \
      cublasHandle_t handle, Int n, const T* x, Int incx, R* result) {               \
    return norm<T>({handle, "cublas" #letters "nrm2"}, n, {x, incx}, result, true);  \
  }                                                                                  \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letters##asum_v2##suffix(             \
      cublasHandle_t handle, Int n, const T* x, Int incx, R* result) {               \
    return norm<T>({handle, "cublas" #letters "asum"}, n, {x, incx}, result, false); \
  }
HALFGRAD_COMPLEX_NORMS(Sc, cuComplex, float, , int)
HALFGRAD_COMPLEX_NORMS(Sc, cuComplex, float, _64, std::int64_t)
HALFGRAD_COMPLEX_NORMS(Dz, cuDoubleComplex, double, , int)
HALFGRAD_COMPLEX_NORMS(Dz, cuDoubleComplex, double, _64, std::int64_t)
