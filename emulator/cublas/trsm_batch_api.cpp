// Triangular systems: complex, and batches of them.
#include <halfgrad/emulator/cublas/dense.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

struct TrsmShape {
  cublasSideMode_t side;
  cublasFillMode_t fill;
  cublasOperation_t op;
  cublasDiagType_t diagonal;
  std::int64_t m, n, lda, ldb;

  bool left() const { return side == CUBLAS_SIDE_LEFT; }
  std::int64_t order() const { return left() ? m : n; }
};

/// The other triangle is not read: it may hold anything.
template <class E>
Dense<Wide<E>> read_triangle_of(const LibraryCall& call, const TrsmShape& shape, const E* a) {
  const std::int64_t n = shape.order();
  Dense<Wide<E>> result(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    const bool lower = shape.fill == CUBLAS_FILL_MODE_LOWER;
    read_column(call, Stored<E>{a, shape.lda}, j, lower ? RowRange{j, n} : RowRange{0, j + 1},
                result);
  }
  return result;
}

/// Solves op(A) X = alpha B, or X op(A) = alpha B, which is op(A)' X' = alpha B'.
template <class E>
void run_trsm(const LibraryCall& call, const TrsmShape& shape, Wide<E> alpha, const E* a, E* b) {
  auto x = read_dense(call, Stored<E>{b, shape.ldb}, shape.m, shape.n);
  for (Wide<E>& value : x.elements) value *= alpha;
  auto triangle = oriented(shape.op, read_triangle_of(call, shape, a));
  bool lower = (shape.fill == CUBLAS_FILL_MODE_LOWER) == (shape.op == CUBLAS_OP_N);
  if (!shape.left()) {
    triangle = oriented(CUBLAS_OP_T, triangle);
    x = oriented(CUBLAS_OP_T, x);
    lower = !lower;
  }
  substitute(triangle, lower, shape.diagonal == CUBLAS_DIAG_UNIT, x);
  write_dense(call, shape.left() ? x : oriented(CUBLAS_OP_T, x), b, shape.ldb);
}

template <class E>
struct TrsmOperands {
  const E* a;
  E* b;
};

template <class E, class F>
cublasStatus_t general_trsm(BlasCall call, const TrsmShape& shape, const E* alpha,
                            std::int64_t batch, F operands) {
  call.sizes({shape.m, shape.n, batch}).leading(shape.lda, shape.order());
  call.leading(shape.ldb, shape.m);
  const DenseFactor<E> factor(call, alpha);
  if (call.is_valid() && (shape.m == 0 || shape.n == 0)) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto [a, b] = operands(library, i);
      run_trsm<E>(library, shape, factor.at(library), a, b);
    }
  });
}

}  // namespace

#define HALFGRAD_TRSM(letter, T, suffix, Int)                                                    \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##trsm_v2##suffix(                          \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, \
      cublasDiagType_t diagonal, Int m, Int n, const T* alpha, const T* a, Int lda, T* b,        \
      Int ldb) {                                                                                 \
    return general_trsm<T>({handle, "cublas" #letter "trsm"},                                    \
                           {side, fill, op, diagonal, m, n, lda, ldb}, alpha, 1,                 \
                           [=](const LibraryCall&, std::int64_t) {                               \
                             return TrsmOperands<T>{a, b};                                       \
                           });                                                                   \
  }
HALFGRAD_FOR_EACH_COMPLEX(HALFGRAD_TRSM)

#define HALFGRAD_TRSM_BATCH(letter, T, suffix, Int)                                              \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##trsmBatched##suffix(                      \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, \
      cublasDiagType_t diagonal, Int m, Int n, const T* alpha, const T* const a[], Int lda,      \
      T* const b[], Int ldb, Int batch) {                                                        \
    return general_trsm<T>(                                                                      \
        {handle, "cublas" #letter "trsmBatched"}, {side, fill, op, diagonal, m, n, lda, ldb},    \
        alpha, batch, [=](const LibraryCall& library, std::int64_t i) {                          \
          return TrsmOperands<T>{read_one(library, a + i), read_one(library, b + i)};            \
        });                                                                                      \
  }
HALFGRAD_FOR_EACH_REAL(HALFGRAD_TRSM_BATCH)
HALFGRAD_FOR_EACH_COMPLEX(HALFGRAD_TRSM_BATCH)
