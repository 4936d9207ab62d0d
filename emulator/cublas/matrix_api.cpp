// Level 3 of BLAS beside gemm: geam, dgmm, symm, syrk, trsm.
#include <halfgrad/emulator/cublas/context.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

struct Matrix {
  const void* data;
  std::int64_t leading;
};

/// Rows of column j that a triangle has: [first, last).
struct Rows {
  std::int64_t first, last;
};
Rows rows_of_triangle(cublasFillMode_t fill, std::int64_t n, std::int64_t j) {
  return fill == CUBLAS_FILL_MODE_LOWER ? Rows{j, n} : Rows{0, j + 1};
}

/// A triangle of a matrix, 0 elsewhere. The other triangle is not read: it may hold anything.
template <class T>
Values read_triangle(const LibraryCall& library, Matrix matrix, cublasFillMode_t fill,
                     std::int64_t n) {
  Values values(n, n);
  const DeviceMatrix all = column_major(matrix.data, kTypeOf<T>, n, n, matrix.leading);
  for (std::int64_t j = 0; j < n; ++j) {
    const Rows rows = rows_of_triangle(fill, n, j);
    DeviceMatrix column = all.moved(j * matrix.leading + rows.first);
    column.rows = rows.last - rows.first;
    column.columns = 1;
    const Values part = read(library, column);
    for (std::int64_t i = rows.first; i < rows.last; ++i) {
      values.at(i, j) = part.elements[i - rows.first];
    }
  }
  return values;
}
template <class T>
void write_triangle(const LibraryCall& library, const Values& values, Matrix matrix,
                    cublasFillMode_t fill) {
  const DeviceMatrix all =
      column_major(matrix.data, kTypeOf<T>, values.rows, values.rows, matrix.leading);
  for (std::int64_t j = 0; j < values.columns; ++j) {
    const Rows rows = rows_of_triangle(fill, values.rows, j);
    DeviceMatrix column = all.moved(j * matrix.leading + rows.first);
    column.rows = rows.last - rows.first;
    column.columns = 1;
    Values part(column.rows, 1);
    for (std::int64_t i = rows.first; i < rows.last; ++i) {
      part.elements[i - rows.first] = values.at(i, j);
    }
    write(library, part, column);
  }
}

Values transposed(const Values& values) {
  Values result(values.columns, values.rows);
  for (std::int64_t j = 0; j < values.columns; ++j) {
    for (std::int64_t i = 0; i < values.rows; ++i) result.at(j, i) = values.at(i, j);
  }
  return result;
}

template <class T>
DeviceMatrix view_of(Matrix matrix, cublasOperation_t op, std::int64_t rows, std::int64_t columns) {
  if (op == CUBLAS_OP_N) {
    return column_major(matrix.data, kTypeOf<T>, rows, columns, matrix.leading);
  }
  return column_major(matrix.data, kTypeOf<T>, columns, rows, matrix.leading).transposed();
}

/// values = alpha values + beta C, where beta 0 does not read C.
void add_scaled(Values& values, double alpha, const Values& c, double beta) {
  for (std::size_t i = 0; i < values.elements.size(); ++i) {
    values.elements[i] *= alpha;
    if (beta != 0) values.elements[i] += beta * c.elements[i];
  }
}

/// C = alpha op(A) + beta op(B)
template <class T>
cublasStatus_t geam(BlasCall call, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
                    std::int64_t n, const T* alpha, Matrix a, const T* beta, Matrix b, Matrix c) {
  call.sizes({m, n}).leading(c.leading, m);
  const Factor alpha_at = call.factor_at(alpha, kTypeOf<T>);
  const Factor beta_at = call.factor_at(beta, kTypeOf<T>);
  if (call.is_valid() && (m == 0 || n == 0)) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    const double x = alpha_at.at(library), y = beta_at.at(library);
    Values result(m, n);
    if (x != 0) result = read(library, view_of<T>(a, op_a, m, n));
    const Values second = y != 0 ? read(library, view_of<T>(b, op_b, m, n)) : Values();
    add_scaled(result, x, second, y);
    write(library, result, view_of<T>(c, CUBLAS_OP_N, m, n));
  });
}

/// C = A diag(x), or diag(x) A on the left side.
template <class T>
cublasStatus_t dgmm(BlasCall call, cublasSideMode_t side, std::int64_t m, std::int64_t n, Matrix a,
                    const T* x, std::int64_t stride, Matrix c) {
  call.sizes({m, n}).leading(a.leading, m).leading(c.leading, m);
  if (call.is_valid() && (m == 0 || n == 0)) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    const bool left = side == CUBLAS_SIDE_LEFT;
    const Values diagonal = read(library, device_vector(x, kTypeOf<T>, left ? m : n, stride));
    Values result = read(library, view_of<T>(a, CUBLAS_OP_N, m, n));
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        result.at(i, j) *= diagonal.elements[left ? i : j];
      }
    }
    write(library, result, view_of<T>(c, CUBLAS_OP_N, m, n));
  });
}

/// C = alpha A B + beta C with a symmetric A of which one triangle is stored; B A on the right
/// side.
template <class T>
cublasStatus_t symm(BlasCall call, cublasSideMode_t side, cublasFillMode_t fill, std::int64_t m,
                    std::int64_t n, const T* alpha, Matrix a, Matrix b, const T* beta, Matrix c) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  call.sizes({m, n}).leading(a.leading, left ? m : n).leading(b.leading, m).leading(c.leading, m);
  const Factor alpha_at = call.factor_at(alpha, kTypeOf<T>);
  const Factor beta_at = call.factor_at(beta, kTypeOf<T>);
  if (call.is_valid() && (m == 0 || n == 0)) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    Values symmetric = read_triangle<T>(library, a, fill, left ? m : n);
    for (std::int64_t j = 0; j < symmetric.columns; ++j) {
      const Rows rows = rows_of_triangle(fill, symmetric.rows, j);
      for (std::int64_t i = rows.first; i < rows.last; ++i) symmetric.at(j, i) = symmetric.at(i, j);
    }
    const Values other = read(library, view_of<T>(b, CUBLAS_OP_N, m, n));
    const unsigned threads = process().settings.threads;
    Values result =
        left ? multiply(symmetric, other, threads) : multiply(other, symmetric, threads);
    const double keep = beta_at.at(library);
    const DeviceMatrix out = view_of<T>(c, CUBLAS_OP_N, m, n);
    add_scaled(result, alpha_at.at(library), keep != 0 ? read(library, out) : Values(), keep);
    write(library, result, out);
  });
}

/// One triangle of C = alpha op(A) op(A)' + beta C.
template <class T>
cublasStatus_t syrk(BlasCall call, cublasFillMode_t fill, cublasOperation_t op, std::int64_t n,
                    std::int64_t k, const T* alpha, Matrix a, const T* beta, Matrix c) {
  call.sizes({n, k}).leading(a.leading, op == CUBLAS_OP_N ? n : k).leading(c.leading, n);
  const Factor alpha_at = call.factor_at(alpha, kTypeOf<T>);
  const Factor beta_at = call.factor_at(beta, kTypeOf<T>);
  if (call.is_valid() && n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    Values result(n, n);
    if (k > 0) {
      const Values rows = read(library, view_of<T>(a, op, n, k));
      result = multiply(rows, transposed(rows), process().settings.threads);
    }
    const double keep = beta_at.at(library);
    add_scaled(result, alpha_at.at(library),
               keep != 0 ? read_triangle<T>(library, c, fill, n) : Values(), keep);
    write_triangle<T>(library, result, c, fill);
  });
}

/// Solves t X = x in place, where t is lower or upper triangular, by substitution.
void substitute(const Values& t, bool lower, bool unit, Values& x) {
  const std::int64_t n = t.rows;
  for (std::int64_t column = 0; column < x.columns; ++column) {
    double* values = x.column(column);
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t j = lower ? step : n - 1 - step;
      if (!unit) values[j] /= t.at(j, j);
      const std::int64_t first = lower ? j + 1 : 0, last = lower ? n : j;
      for (std::int64_t i = first; i < last; ++i) values[i] -= t.at(i, j) * values[j];
    }
  }
}

/// Solves op(A) X = alpha B, or X op(A) = alpha B on the right side; X replaces B.
template <class T>
cublasStatus_t trsm(BlasCall call, cublasSideMode_t side, cublasFillMode_t fill,
                    cublasOperation_t op, cublasDiagType_t diagonal, std::int64_t m, std::int64_t n,
                    const T* alpha, Matrix a, Matrix b) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  call.sizes({m, n}).leading(a.leading, left ? m : n).leading(b.leading, m);
  const Factor alpha_at = call.factor_at(alpha, kTypeOf<T>);
  if (call.is_valid() && (m == 0 || n == 0)) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    const Values stored = read_triangle<T>(library, a, fill, left ? m : n);
    const DeviceMatrix out = view_of<T>(b, CUBLAS_OP_N, m, n);
    Values x = read(library, out);
    const double factor = alpha_at.at(library);
    for (double& value : x.elements) value *= factor;
    // X op(A) = B is op(A)' X' = B'.
    const bool transpose = (op != CUBLAS_OP_N) == left;
    const bool lower = (fill == CUBLAS_FILL_MODE_LOWER) != transpose;
    if (!left) x = transposed(x);
    substitute(transpose ? transposed(stored) : stored, lower, diagonal == CUBLAS_DIAG_UNIT, x);
    write(library, left ? x : transposed(x), out);
  });
}

}  // namespace

#define HALFGRAD_LEVEL_3(letter, T, suffix, Int)                                                   \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##geam##suffix(                               \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n,         \
      const T* alpha, const T* a, Int lda, const T* beta, const T* b, Int ldb, T* c, Int ldc) {    \
    return geam<T>({handle, "cublas" #letter "geam"}, op_a, op_b, m, n, alpha, {a, lda}, beta,     \
                   {b, ldb}, {c, ldc});                                                            \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##dgmm##suffix(                               \
      cublasHandle_t handle, cublasSideMode_t side, Int m, Int n, const T* a, Int lda, const T* x, \
      Int incx, T* c, Int ldc) {                                                                   \
    return dgmm<T>({handle, "cublas" #letter "dgmm"}, side, m, n, {a, lda}, x, incx, {c, ldc});    \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##symm_v2##suffix(                            \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, Int m, Int n,           \
      const T* alpha, const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc) {    \
    return symm<T>({handle, "cublas" #letter "symm"}, side, fill, m, n, alpha, {a, lda}, {b, ldb}, \
                   beta, {c, ldc});                                                                \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##syrk_v2##suffix(                            \
      cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, Int n, Int k,            \
      const T* alpha, const T* a, Int lda, const T* beta, T* c, Int ldc) {                         \
    return syrk<T>({handle, "cublas" #letter "syrk"}, fill, op, n, k, alpha, {a, lda}, beta,       \
                   {c, ldc});                                                                      \
  }                                                                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##trsm_v2##suffix(                            \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,   \
      cublasDiagType_t diagonal, Int m, Int n, const T* alpha, const T* a, Int lda, T* b,          \
      Int ldb) {                                                                                   \
    return trsm<T>({handle, "cublas" #letter "trsm"}, side, fill, op, diagonal, m, n, alpha,       \
                   {a, lda}, {b, ldb});                                                            \
  }
HALFGRAD_FOR_EACH_REAL(HALFGRAD_LEVEL_3)
