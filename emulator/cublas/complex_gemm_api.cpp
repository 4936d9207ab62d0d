// Products of complex matrices.
#include <halfgrad/emulator/cublas/dense.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

struct GemmShape {
  cublasOperation_t op_a, op_b;
  std::int64_t m, n, k, lda, ldb, ldc;
};

template <class E>
void run_product(const LibraryCall& call, const GemmShape& shape, Wide<E> alpha, const E* a,
                 const E* b, Wide<E> beta, E* c) {
  const auto operand = [&](Stored<E> stored, cublasOperation_t op, std::int64_t rows,
                           std::int64_t columns) {
    const bool plain = op == CUBLAS_OP_N;
    return oriented(op, read_dense(call, stored, plain ? rows : columns, plain ? columns : rows));
  };
  Dense<Wide<E>> result(shape.m, shape.n);
  if (alpha != 0.0 && shape.k > 0) {
    result = multiply(operand({a, shape.lda}, shape.op_a, shape.m, shape.k),
                      operand({b, shape.ldb}, shape.op_b, shape.k, shape.n));
    for (Wide<E>& value : result.elements) value *= alpha;
  }
  if (beta != 0.0) {  // C is not read otherwise
    const auto old = read_dense(call, Stored<E>{c, shape.ldc}, shape.m, shape.n);
    for (std::size_t i = 0; i < result.elements.size(); ++i) {
      result.elements[i] += beta * old.elements[i];
    }
  }
  write_dense(call, result, c, shape.ldc);
}

/// Runs `batch` products. `matrices(library, i)` returns pointers to the three matrices of one.
template <class E, class F>
cublasStatus_t products(BlasCall call, const GemmShape& shape, const E* alpha, const E* beta,
                        std::int64_t batch, F matrices) {
  call.sizes({shape.m, shape.n, shape.k, batch});
  call.leading(shape.lda, shape.op_a == CUBLAS_OP_N ? shape.m : shape.k);
  call.leading(shape.ldb, shape.op_b == CUBLAS_OP_N ? shape.k : shape.n);
  call.leading(shape.ldc, shape.m);
  call.demand(alpha != nullptr && beta != nullptr, "alpha or beta is a null pointer");
  const DenseFactor<E> alpha_at(call, alpha), beta_at(call, beta);
  if (call.is_valid() && (shape.m == 0 || shape.n == 0)) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto [a, b, c] = matrices(library, i);
      run_product<E>(library, shape, alpha_at.at(library), a, b, beta_at.at(library), c);
    }
  });
}

template <class E>
struct Matrices {
  const E *a, *b;
  E* c;
};

}  // namespace

#define HALFGRAD_COMPLEX_GEMM(name, T, Int)                                                       \
  HALFGRAD_EMULATOR_API cublasStatus_t name(                                                      \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
      const T* alpha, const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc) {   \
    return products<T>({handle, #name}, {op_a, op_b, m, n, k, lda, ldb, ldc}, alpha, beta, 1,     \
                       [=](const LibraryCall&, std::int64_t) {                                    \
                         return Matrices<T>{a, b, c};                                             \
                       });                                                                        \
  }
#define HALFGRAD_COMPLEX_GEMMS(letter, T, suffix, Int)                                             \
  HALFGRAD_COMPLEX_GEMM(cublas##letter##gemm_v2##suffix, T, Int)                                   \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##gemmStridedBatched##suffix(                 \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const T* alpha, const T* a, Int lda, long long int stride_a, const T* b, Int ldb,            \
      long long int stride_b, const T* beta, T* c, Int ldc, long long int stride_c, Int batch) {   \
    return products<T>({handle, "cublas" #letter "gemmStridedBatched"},                            \
                       {op_a, op_b, m, n, k, lda, ldb, ldc}, alpha, beta, batch,                   \
                       [=](const LibraryCall&, std::int64_t i) {                                   \
                         return Matrices<T>{a + i * stride_a, b + i * stride_b, c + i * stride_c}; \
                       });                                                                         \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##gemmBatched##suffix(                        \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const T* alpha, const T* const a[], Int lda, const T* const b[], Int ldb, const T* beta,     \
      T* const c[], Int ldc, Int batch) {                                                          \
    return products<T>({handle, "cublas" #letter "gemmBatched"},                                   \
                       {op_a, op_b, m, n, k, lda, ldb, ldc}, alpha, beta, batch,                   \
                       [=](const LibraryCall& library, std::int64_t i) {                           \
                         return Matrices<T>{read_one(library, a + i), read_one(library, b + i),    \
                                            read_one(library, c + i)};                             \
                       });                                                                         \
  }
HALFGRAD_FOR_EACH_COMPLEX(HALFGRAD_COMPLEX_GEMMS)

// Gauss's three real products are an algorithm, not another result.
HALFGRAD_COMPLEX_GEMM(cublasCgemm3m, cuComplex, int)
HALFGRAD_COMPLEX_GEMM(cublasCgemm3m_64, cuComplex, std::int64_t)
HALFGRAD_COMPLEX_GEMM(cublasZgemm3m, cuDoubleComplex, int)
HALFGRAD_COMPLEX_GEMM(cublasZgemm3m_64, cuDoubleComplex, std::int64_t)
