// cublasSgemm, cublasGemmEx, batches of products.
#include <cuda_fp16.h>

#include <halfgrad/emulator/cublas/gemm.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

/// Type and compute type of the functions that are named by a letter.
template <class T>
struct Kind {
  static constexpr cudaDataType type = CUDA_R_32F;
  static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};
template <>
struct Kind<double> {
  static constexpr cudaDataType type = CUDA_R_64F;
  static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_64F;
};
template <>
struct Kind<__half> {
  static constexpr cudaDataType type = CUDA_R_16F;
  static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_16F;
};

template <class T>
Gemm gemm_of(cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m, std::int64_t n,
             std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc) {
  return {op_a, op_b, m,  n, k, Kind<T>::type, Kind<T>::type, Kind<T>::type, Kind<T>::compute,
          lda,  ldb,  ldc};
}
Gemm in_batch(Gemm product, std::int64_t batch, std::int64_t stride_a, std::int64_t stride_b,
              std::int64_t stride_c) {
  product.batch = batch;
  product.stride_a = stride_a, product.stride_b = stride_b, product.stride_c = stride_c;
  return product;
}
Gemm in_arrays(Gemm product, std::int64_t batch) {
  product.batch = batch;
  product.pointer_arrays = true;
  return product;
}

}  // namespace

#define HALFGRAD_GEMMS(letter, T, plain, suffix, Int)                                             \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##gemm##plain##suffix(                       \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
      const T* alpha, const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc) {   \
    return gemm(handle, "cublas" #letter "gemm", gemm_of<T>(op_a, op_b, m, n, k, lda, ldb, ldc),  \
                alpha, a, b, beta, c);                                                            \
  }                                                                                               \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##gemmStridedBatched##suffix(                \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
      const T* alpha, const T* a, Int lda, long long int stride_a, const T* b, Int ldb,           \
      long long int stride_b, const T* beta, T* c, Int ldc, long long int stride_c, Int batch) {  \
    return gemm(handle, "cublas" #letter "gemmStridedBatched",                                    \
                in_batch(gemm_of<T>(op_a, op_b, m, n, k, lda, ldb, ldc), batch, stride_a,         \
                         stride_b, stride_c),                                                     \
                alpha, a, b, beta, c);                                                            \
  }                                                                                               \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##gemmBatched##suffix(                       \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
      const T* alpha, const T* const a[], Int lda, const T* const b[], Int ldb, const T* beta,    \
      T* const c[], Int ldc, Int batch) {                                                         \
    return gemm(handle, "cublas" #letter "gemmBatched",                                           \
                in_arrays(gemm_of<T>(op_a, op_b, m, n, k, lda, ldb, ldc), batch), alpha, a, b,    \
                beta, const_cast<T**>(c));                                                        \
  }
HALFGRAD_GEMMS(S, float, _v2, , int)
HALFGRAD_GEMMS(S, float, _v2, _64, int64_t)
HALFGRAD_GEMMS(D, double, _v2, , int)
HALFGRAD_GEMMS(D, double, _v2, _64, int64_t)
HALFGRAD_GEMMS(H, __half, , , int)
HALFGRAD_GEMMS(H, __half, , _64, int64_t)

// Every algorithm is the same one here.
#define HALFGRAD_GEMMS_EX(suffix, Int)                                                            \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasGemmEx##suffix(                                      \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
      const void* alpha, const void* a, cudaDataType type_a, Int lda, const void* b,              \
      cudaDataType type_b, Int ldb, const void* beta, void* c, cudaDataType type_c, Int ldc,      \
      cublasComputeType_t compute, cublasGemmAlgo_t) {                                            \
    return gemm(handle, "cublasGemmEx",                                                           \
                {op_a, op_b, m, n, k, type_a, type_b, type_c, compute, lda, ldb, ldc}, alpha, a,  \
                b, beta, c);                                                                      \
  }                                                                                               \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasGemmStridedBatchedEx##suffix(                        \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
      const void* alpha, const void* a, cudaDataType type_a, Int lda, long long int stride_a,     \
      const void* b, cudaDataType type_b, Int ldb, long long int stride_b, const void* beta,      \
      void* c, cudaDataType type_c, Int ldc, long long int stride_c, Int batch,                   \
      cublasComputeType_t compute, cublasGemmAlgo_t) {                                            \
    return gemm(handle, "cublasGemmStridedBatchedEx",                                             \
                in_batch({op_a, op_b, m, n, k, type_a, type_b, type_c, compute, lda, ldb, ldc},   \
                         batch, stride_a, stride_b, stride_c),                                    \
                alpha, a, b, beta, c);                                                            \
  }                                                                                               \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasGemmBatchedEx##suffix(                               \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
      const void* alpha, const void* const a[], cudaDataType type_a, Int lda,                     \
      const void* const b[], cudaDataType type_b, Int ldb, const void* beta, void* const c[],     \
      cudaDataType type_c, Int ldc, Int batch, cublasComputeType_t compute, cublasGemmAlgo_t) {   \
    return gemm(                                                                                  \
        handle, "cublasGemmBatchedEx",                                                            \
        in_arrays({op_a, op_b, m, n, k, type_a, type_b, type_c, compute, lda, ldb, ldc}, batch),  \
        alpha, a, b, beta, const_cast<void**>(c));                                                \
  }                                                                                               \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasSgemmEx##suffix(                                     \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
      const float* alpha, const void* a, cudaDataType type_a, Int lda, const void* b,             \
      cudaDataType type_b, Int ldb, const float* beta, void* c, cudaDataType type_c, Int ldc) {   \
    return gemm(handle, "cublasSgemmEx",                                                          \
                {op_a, op_b, m, n, k, type_a, type_b, type_c, CUBLAS_COMPUTE_32F, lda, ldb, ldc}, \
                alpha, a, b, beta, c);                                                            \
  }
HALFGRAD_GEMMS_EX(, int)
HALFGRAD_GEMMS_EX(_64, int64_t)
