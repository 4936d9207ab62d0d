// Level 2 of BLAS: gemv and ger.
#include <halfgrad/emulator/cublas/context.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

struct StridedVector {
  const void* data;
  std::int64_t stride;
};

/// y = alpha op(A) x + beta y. beta 0 does not read y.
template <class T>
cublasStatus_t gemv(BlasCall call, cublasOperation_t op, std::int64_t m, std::int64_t n,
                    const T* alpha, const T* a, std::int64_t lda, StridedVector x, const T* beta,
                    StridedVector y) {
  call.sizes({m, n}).leading(lda, m).strides({x.stride, y.stride});
  const Factor alpha_at = call.factor_at(alpha, kTypeOf<T>);
  const Factor beta_at = call.factor_at(beta, kTypeOf<T>);
  if (call.is_valid() && (m == 0 || n == 0)) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    const DeviceMatrix stored = column_major(a, kTypeOf<T>, m, n, lda);
    const DeviceMatrix matrix = op == CUBLAS_OP_N ? stored : stored.transposed();
    const Values values = read(library, matrix);
    const Values in = read(library, device_vector(x.data, kTypeOf<T>, values.columns, x.stride));
    const DeviceMatrix out = device_vector(y.data, kTypeOf<T>, values.rows, y.stride);
    const double factor = alpha_at.at(library), keep = beta_at.at(library);
    Values result = keep == 0 ? Values(values.rows, 1) : read(library, out);
    for (double& value : result.elements) value *= keep;
    const Values product = multiply(values, in, 1);
    for (std::int64_t i = 0; i < values.rows; ++i) {
      result.elements[i] += factor * product.elements[i];
    }
    write(library, result, out);
  });
}

/// A = alpha x y' + A
template <class T>
cublasStatus_t ger(BlasCall call, std::int64_t m, std::int64_t n, const T* alpha, StridedVector x,
                   StridedVector y, T* a, std::int64_t lda) {
  call.sizes({m, n}).leading(lda, m).strides({x.stride, y.stride});
  const Factor alpha_at = call.factor_at(alpha, kTypeOf<T>);
  if (call.is_valid() && (m == 0 || n == 0)) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    const DeviceMatrix matrix = column_major(a, kTypeOf<T>, m, n, lda);
    const Values rows = read(library, device_vector(x.data, kTypeOf<T>, m, x.stride));
    const Values columns = read(library, device_vector(y.data, kTypeOf<T>, n, y.stride));
    const double factor = alpha_at.at(library);
    Values result = read(library, matrix);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        result.at(i, j) += factor * rows.elements[i] * columns.elements[j];
      }
    }
    write(library, result, matrix);
  });
}

}  // namespace

#define HALFGRAD_LEVEL_2(letter, T, suffix, Int)                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##gemv_v2##suffix(                         \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, const T* alpha, const T* a,    \
      Int lda, const T* x, Int incx, const T* beta, T* y, Int incy) {                           \
    return gemv<T>({handle, "cublas" #letter "gemv"}, op, m, n, alpha, a, lda, {x, incx}, beta, \
                   {y, incy});                                                                  \
  }                                                                                             \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##ger_v2##suffix(                          \
      cublasHandle_t handle, Int m, Int n, const T* alpha, const T* x, Int incx, const T* y,    \
      Int incy, T* a, Int lda) {                                                                \
    return ger<T>({handle, "cublas" #letter "ger"}, m, n, alpha, {x, incx}, {y, incy}, a, lda); \
  }
HALFGRAD_FOR_EACH_REAL(HALFGRAD_LEVEL_2)
