#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <stdexcept>

#include <halfgrad/core/cuda/kernels/gemm_cublaslt.h>
#include <halfgrad/core/fail.h>

/// A matrix product as cuBLASLt's descriptors.
namespace halfgrad::detail {

/// Thrown when a call of cuBLASLt fails.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check_lt(cublasStatus_t status, const char* call, const ColumnMajorProduct& p) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail<Refusal>("gemm", "expected {} to succeed for {} on {}, got {}", call, description(p),
                p.device, cublasLtGetStatusName(status));
}

inline cudaDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CUDA_R_64F;
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

inline cublasComputeType_t compute_type_of(DType dtype) {
  if (dtype == DType::f64) return CUBLAS_COMPUTE_64F;
  const bool tf32 = dtype == DType::f32 && backends::cuda::matmul::allow_tf32();
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

inline std::uint32_t reductions_for(DType dtype) {
  const std::uint32_t exact =
      CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  const bool any =
      dtype == DType::f16 && backends::cuda::matmul::allow_fp16_reduced_precision_reduction();
  return any ? exact | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE : exact;
}

inline cublasLtEpilogue_t kind_of(const Epilogue& e) {
  if (e.row_sums_of_a != nullptr) return CUBLASLT_EPILOGUE_BGRADB;
  if (e.relu_mask != nullptr) return CUBLASLT_EPILOGUE_DRELU;
  const bool bias = e.bias.data != nullptr;
  switch (e.activation) {
    case Activation::relu:
      if (e.aux != nullptr) {
        return bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX;
      }
      return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::gelu_tanh:
      if (e.aux != nullptr) {
        return bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
      }
      return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
      return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

// Returns the epilogue's vector, for which cuBLASLt has one pointer.
inline const void* vector_of(const Epilogue& e) {
  return e.row_sums_of_a != nullptr ? e.row_sums_of_a : e.bias.data;
}

// Returns the matrix that the activation stores, or that its derivative reads.
inline const void* aux_of(const Epilogue& e) {
  return e.relu_mask != nullptr ? e.relu_mask : e.aux;
}

// The descriptors: plain structs that cuBLASLt fills, so they need not be destroyed.
class Description {
 public:
  explicit Description(const ColumnMajorProduct& p) : product_(p) {
    const cudaDataType_t scale = p.c.dtype == DType::f64 ? CUDA_R_64F : CUDA_R_32F;
    check_lt(cublasLtMatmulDescInit(&matmul_, compute_type_of(p.a.dtype), scale),
             "cublasLtMatmulDescInit", p);
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, kind_of(p.epilogue));
    if (vector_of(p.epilogue) != nullptr) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector_of(p.epilogue));
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(p.c.dtype));
    }
    if (const void* const aux = aux_of(p.epilogue)) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.epilogue.aux_stride);
    }
    a_ = layout(p.a);
    b_ = layout(p.b);
    c_ = layout(p.c);
  }

  cublasLtMatmulDesc_t matmul() { return &matmul_; }
  cublasLtMatrixLayout_t a() { return &a_; }
  cublasLtMatrixLayout_t b() { return &b_; }
  cublasLtMatrixLayout_t c() { return &c_; }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check_lt(cublasLtMatmulDescSetAttribute(&matmul_, attribute, &value, sizeof value),
             "cublasLtMatmulDescSetAttribute", product_);
  }

  cublasLtMatrixLayoutOpaque_t layout(const ColumnMajor& m) const {
    cublasLtMatrixLayoutOpaque_t made;
    check_lt(cublasLtMatrixLayoutInit(&made, type_of(m.dtype), static_cast<std::uint64_t>(m.rows),
                                      static_cast<std::uint64_t>(m.cols), m.leading),
             "cublasLtMatrixLayoutInit", product_);
    const auto count = static_cast<std::int32_t>(product_.count);
    check_lt(cublasLtMatrixLayoutSetAttribute(&made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                              sizeof count),
             "cublasLtMatrixLayoutSetAttribute", product_);
    check_lt(cublasLtMatrixLayoutSetAttribute(&made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &m.batch_stride, sizeof m.batch_stride),
             "cublasLtMatrixLayoutSetAttribute", product_);
    return made;
  }

  const ColumnMajorProduct& product_;
  cublasLtMatmulDescOpaque_t matmul_;
  cublasLtMatrixLayoutOpaque_t a_, b_, c_;
};

}  // namespace halfgrad::detail
