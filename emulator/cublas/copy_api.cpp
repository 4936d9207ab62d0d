// cublasSetVector, cublasGetMatrix and their like: copies between host and device, by the runtime.
#include <cuda_runtime_api.h>

#include <halfgrad/emulator/cublas/context.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

struct Copied {
  const void* from;
  std::int64_t from_leading;
  void* to;
  std::int64_t to_leading;
};

/// Columns of `rows` elements. Without a stream the host waits.
cublasStatus_t copy_columns(std::int64_t rows, std::int64_t columns, std::int64_t bytes,
                            const Copied& copied, cudaMemcpyKind kind, const cudaStream_t* stream) {
  if (rows < 0 || columns < 0 || bytes <= 0 || copied.from_leading <= 0 || copied.to_leading <= 0 ||
      copied.from_leading < rows || copied.to_leading < rows) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const auto size = [&](std::int64_t elements) { return static_cast<size_t>(elements * bytes); };
  const cudaError_t error =
      stream == nullptr
          ? cudaMemcpy2D(copied.to, size(copied.to_leading), copied.from, size(copied.from_leading),
                         size(rows), static_cast<size_t>(columns), kind)
          : cudaMemcpy2DAsync(copied.to, size(copied.to_leading), copied.from,
                              size(copied.from_leading), size(rows), static_cast<size_t>(columns),
                              kind, *stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

/// A vector with strides is a matrix with one row.
cublasStatus_t copy_vector(std::int64_t count, std::int64_t bytes, const Copied& copied,
                           cudaMemcpyKind kind, const cudaStream_t* stream) {
  if (copied.from_leading == 1 && copied.to_leading == 1) {
    return copy_columns(count, 1, bytes, {copied.from, count, copied.to, count}, kind, stream);
  }
  return copy_columns(1, count, bytes, copied, kind, stream);
}

}  // namespace

#define HALFGRAD_COPIES(suffix, Int, Bytes)                                                        \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasSetVector##suffix(Int n, Bytes size, const void* x,   \
                                                               Int incx, void* device, Int incy) { \
    return copy_vector(n, size, {x, incx, device, incy}, cudaMemcpyHostToDevice, nullptr);         \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasGetVector##suffix(                                    \
      Int n, Bytes size, const void* device, Int incx, void* y, Int incy) {                        \
    return copy_vector(n, size, {device, incx, y, incy}, cudaMemcpyDeviceToHost, nullptr);         \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasSetMatrix##suffix(                                    \
      Int rows, Int cols, Bytes size, const void* a, Int lda, void* b, Int ldb) {                  \
    return copy_columns(rows, cols, size, {a, lda, b, ldb}, cudaMemcpyHostToDevice, nullptr);      \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasGetMatrix##suffix(                                    \
      Int rows, Int cols, Bytes size, const void* a, Int lda, void* b, Int ldb) {                  \
    return copy_columns(rows, cols, size, {a, lda, b, ldb}, cudaMemcpyDeviceToHost, nullptr);      \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasSetVectorAsync##suffix(                               \
      Int n, Bytes size, const void* x, Int incx, void* device, Int incy, cudaStream_t stream) {   \
    return copy_vector(n, size, {x, incx, device, incy}, cudaMemcpyHostToDevice, &stream);         \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasGetVectorAsync##suffix(                               \
      Int n, Bytes size, const void* device, Int incx, void* y, Int incy, cudaStream_t stream) {   \
    return copy_vector(n, size, {device, incx, y, incy}, cudaMemcpyDeviceToHost, &stream);         \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasSetMatrixAsync##suffix(                               \
      Int rows, Int cols, Bytes size, const void* a, Int lda, void* b, Int ldb,                    \
      cudaStream_t stream) {                                                                       \
    return copy_columns(rows, cols, size, {a, lda, b, ldb}, cudaMemcpyHostToDevice, &stream);      \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasGetMatrixAsync##suffix(                               \
      Int rows, Int cols, Bytes size, const void* a, Int lda, void* b, Int ldb,                    \
      cudaStream_t stream) {                                                                       \
    return copy_columns(rows, cols, size, {a, lda, b, ldb}, cudaMemcpyDeviceToHost, &stream);      \
  }
HALFGRAD_COPIES(, int, int)
HALFGRAD_COPIES(_64, int64_t, int64_t)
