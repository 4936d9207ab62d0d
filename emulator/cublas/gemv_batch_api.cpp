// Matrix times vector: complex, and batches of them.
#include <halfgrad/emulator/cublas/dense.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

struct GemvShape {
  cublasOperation_t op;
  std::int64_t m, n, lda, incx, incy;

  std::int64_t inputs() const { return op == CUBLAS_OP_N ? n : m; }
  std::int64_t results() const { return op == CUBLAS_OP_N ? m : n; }
};

/// Element i of a vector with n elements. A negative stride begins at the end.
std::int64_t place(std::int64_t i, std::int64_t n, std::int64_t stride) {
  return stride < 0 ? (i + 1 - n) * stride : i * stride;
}

template <class E>
void run_gemv(const LibraryCall& call, const GemvShape& shape, Wide<E> alpha, const E* a,
              const E* x, Wide<E> beta, E* y) {
  const auto matrix =
      oriented(shape.op, read_dense(call, Stored<E>{a, shape.lda}, shape.m, shape.n));
  Dense<Wide<E>> in(shape.inputs(), 1);
  for (std::int64_t i = 0; i < in.rows; ++i) {
    in.at(i, 0) = widened(read_one(call, x + place(i, in.rows, shape.incx)));
  }
  const Dense<Wide<E>> product = multiply(matrix, in);
  for (std::int64_t i = 0; i < product.rows; ++i) {
    E* const out = y + place(i, product.rows, shape.incy);
    Wide<E> value = alpha * product.at(i, 0);
    if (beta != 0.0) value += beta * Wide<E>(widened(read_one<E>(call, out)));  // else not read
    write_one(call, narrowed<E>(value), out);
  }
}

/// `operands(library, i)` returns pointers to the matrix and the vectors of one product.
template <class E, class F>
cublasStatus_t general_gemv(BlasCall call, const GemvShape& shape, const E* alpha, const E* beta,
                            std::int64_t batch, F operands) {
  call.sizes({shape.m, shape.n, batch}).leading(shape.lda, shape.m);
  call.strides({shape.incx, shape.incy});
  const DenseFactor<E> alpha_at(call, alpha), beta_at(call, beta);
  if (call.is_valid() && (shape.m == 0 || shape.n == 0)) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto [a, x, y] = operands(library, i);
      run_gemv<E>(library, shape, alpha_at.at(library), a, x, beta_at.at(library), y);
    }
  });
}

template <class E>
struct GemvOperands {
  const E *a, *x;
  E* y;
};

}  // namespace

#define HALFGRAD_GEMV(letter, T, suffix, Int)                                                     \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##gemv_v2##suffix(                           \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, const T* alpha, const T* a,      \
      Int lda, const T* x, Int incx, const T* beta, T* y, Int incy) {                             \
    return general_gemv<T>({handle, "cublas" #letter "gemv"}, {op, m, n, lda, incx, incy}, alpha, \
                           beta, 1, [=](const LibraryCall&, std::int64_t) {                       \
                             return GemvOperands<T>{a, x, y};                                     \
                           });                                                                    \
  }
HALFGRAD_FOR_EACH_COMPLEX(HALFGRAD_GEMV)

#define HALFGRAD_GEMV_BATCHES(letter, T, suffix, Int)                                              \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##gemvBatched##suffix(                        \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, const T* alpha,                   \
      const T* const a[], Int lda, const T* const x[], Int incx, const T* beta, T* const y[],      \
      Int incy, Int batch) {                                                                       \
    return general_gemv<T>({handle, "cublas" #letter "gemvBatched"}, {op, m, n, lda, incx, incy},  \
                           alpha, beta, batch, [=](const LibraryCall& library, std::int64_t i) {   \
                             return GemvOperands<T>{read_one(library, a + i),                      \
                                                    read_one(library, x + i),                      \
                                                    read_one(library, y + i)};                     \
                           });                                                                     \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##gemvStridedBatched##suffix(                 \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, const T* alpha, const T* a,       \
      Int lda, long long int stride_a, const T* x, Int incx, long long int stride_x,               \
      const T* beta, T* y, Int incy, long long int stride_y, Int batch) {                          \
    return general_gemv<T>(                                                                        \
        {handle, "cublas" #letter "gemvStridedBatched"}, {op, m, n, lda, incx, incy}, alpha, beta, \
        batch, [=](const LibraryCall&, std::int64_t i) {                                           \
          return GemvOperands<T>{a + i * stride_a, x + i * stride_x, y + i * stride_y};            \
        });                                                                                        \
  }
HALFGRAD_FOR_EACH_REAL(HALFGRAD_GEMV_BATCHES)
HALFGRAD_FOR_EACH_COMPLEX(HALFGRAD_GEMV_BATCHES)
