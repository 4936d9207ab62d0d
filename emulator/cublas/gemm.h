#pragma once

#include <halfgrad/emulator/cublas/context.h>

namespace halfgrad::emulator {

/// C = alpha op(A) op(B) + beta C, column-major; a batch of them if `batch` is not 1.
struct Gemm {
  cublasOperation_t op_a, op_b;
  std::int64_t m, n, k;
  cudaDataType type_a, type_b, type_c;
  cublasComputeType_t compute;
  std::int64_t lda, ldb, ldc;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  std::int64_t batch = 1;
  bool pointer_arrays = false;  ///< A, B and C are arrays of `batch` pointers in device memory

  /// The type of alpha and beta.
  cudaDataType scale_type() const;
};

/// Runs the product, or returns the error that cuBLAS's documentation demands.
cublasStatus_t gemm(cublasHandle_t handle, const char* function, Gemm product, const void* alpha,
                    const void* a, const void* b, const void* beta, void* c);

/// Computes the product of one matrix of a batch.
void run_gemm(const LibraryCall& call, const Gemm& product, double alpha, const void* a,
              const void* b, double beta, void* c);

}  // namespace halfgrad::emulator
