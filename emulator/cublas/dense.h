#pragma once

#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include <cuComplex.h>

#include <halfgrad/emulator/cublas/context.h>

namespace halfgrad::emulator {

/// The type that results of elements of type E are computed in: double or std::complex<double>.
template <class E>
using Wide = std::conditional_t<std::is_floating_point_v<E>, double, std::complex<double>>;

inline double widened(float value) { return value; }
inline double widened(double value) { return value; }
inline std::complex<double> widened(cuComplex value) { return {value.x, value.y}; }
inline std::complex<double> widened(cuDoubleComplex value) { return {value.x, value.y}; }

template <class E>
E narrowed(Wide<E> value) {
  if constexpr (std::is_floating_point_v<E>) {
    return static_cast<E>(value);
  } else {
    using Real = decltype(E::x);
    return {static_cast<Real>(value.real()), static_cast<Real>(value.imag())};
  }
}

inline double conjugate(double value) { return value; }
inline std::complex<double> conjugate(std::complex<double> value) { return std::conj(value); }

/// A matrix on the host, column-major, of double or std::complex<double>. Real matrices that need
/// speed are Values.
template <class W>
struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<W> elements;

  Dense() = default;
  Dense(std::int64_t rows, std::int64_t columns)
      : rows(rows), columns(columns), elements(static_cast<std::size_t>(rows * columns)) {}
  W& at(std::int64_t i, std::int64_t j) { return elements[static_cast<std::size_t>(j * rows + i)]; }
  const W& at(std::int64_t i, std::int64_t j) const {
    return elements[static_cast<std::size_t>(j * rows + i)];
  }
};

/// op(matrix)
template <class W>
Dense<W> oriented(cublasOperation_t op, const Dense<W>& matrix) {
  if (op == CUBLAS_OP_N) return matrix;
  Dense<W> result(matrix.columns, matrix.rows);
  for (std::int64_t j = 0; j < matrix.columns; ++j) {
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
      result.at(j, i) = op == CUBLAS_OP_C ? conjugate(matrix.at(i, j)) : matrix.at(i, j);
    }
  }
  return result;
}

template <class W>
Dense<W> multiply(const Dense<W>& a, const Dense<W>& b) {
  Dense<W> result(a.rows, b.columns);
  for (std::int64_t j = 0; j < b.columns; ++j) {
    for (std::int64_t l = 0; l < a.columns; ++l) {
      const W factor = b.at(l, j);
      for (std::int64_t i = 0; i < a.rows; ++i) result.at(i, j) += a.at(i, l) * factor;
    }
  }
  return result;
}

/// Solves t X = x in place, where t is triangular.
template <class W>
void substitute(const Dense<W>& t, bool lower, bool unit, Dense<W>& x) {
  const std::int64_t n = t.rows;
  for (std::int64_t column = 0; column < x.columns; ++column) {
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t j = lower ? step : n - 1 - step;
      if (!unit) x.at(j, column) /= t.at(j, j);
      for (std::int64_t i = lower ? j + 1 : 0; i < (lower ? n : j); ++i) {
        x.at(i, column) -= t.at(i, j) * x.at(j, column);
      }
    }
  }
}

/// A matrix in device memory as BLAS names it.
template <class E>
struct Stored {
  const E* data;
  std::int64_t leading;
};

/// Rows [first, last) of a column. An empty range touches no memory.
struct RowRange {
  std::int64_t first, last;
};

template <class E>
void read_column(const LibraryCall& call, Stored<E> from, std::int64_t j, RowRange rows,
                 Dense<Wide<E>>& to) {
  const std::int64_t count = rows.last - rows.first;
  if (count <= 0) return;
  const E* begin = from.data + j * from.leading + rows.first;
  std::vector<E> column(static_cast<std::size_t>(count));
  const std::size_t bytes = column.size() * sizeof(E);
  std::memcpy(column.data(), call.view(begin, bytes, AccessKind::load), bytes);
  for (std::int64_t i = 0; i < count; ++i) {
    to.at(rows.first + i, j) = widened(column[static_cast<std::size_t>(i)]);
  }
}

template <class E>
Dense<Wide<E>> read_dense(const LibraryCall& call, Stored<E> from, std::int64_t rows,
                          std::int64_t columns) {
  Dense<Wide<E>> result(rows, columns);
  for (std::int64_t j = 0; j < columns; ++j) read_column(call, from, j, {0, rows}, result);
  return result;
}

template <class E>
void write_dense(const LibraryCall& call, const Dense<Wide<E>>& from, E* to, std::int64_t leading) {
  if (from.rows == 0) return;
  std::vector<E> column(static_cast<std::size_t>(from.rows));
  const std::size_t bytes = column.size() * sizeof(E);
  for (std::int64_t j = 0; j < from.columns; ++j) {
    for (std::int64_t i = 0; i < from.rows; ++i) {
      column[static_cast<std::size_t>(i)] = narrowed<E>(from.at(i, j));
    }
    std::memcpy(call.view(to + j * leading, bytes, AccessKind::store), column.data(), bytes);
  }
}

/// A value in device memory.
template <class T>
T read_one(const LibraryCall& call, const T* from) {
  T value;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): T is a pointer in batches of matrices
  std::memcpy(&value, call.view(from, sizeof value, AccessKind::load), sizeof value);
  return value;
}
template <class T>
void write_one(const LibraryCall& call, const T& value, T* to) {
  std::memcpy(call.view(to, sizeof value, AccessKind::store), &value, sizeof value);
}

/// alpha or beta: known now, or read from device memory when the call runs.
template <class E>
class DenseFactor {
 public:
  DenseFactor(const BlasCall& call, const E* pointer) {
    if (!call.is_valid() || pointer == nullptr) return;
    if (call.context().device_factors()) {
      device_ = pointer;
    } else {
      value_ = widened(*pointer);
    }
  }
  Wide<E> at(const LibraryCall& call) const {
    return device_ == nullptr ? value_ : Wide<E>(widened(read_one(call, device_)));
  }

 private:
  Wide<E> value_{};
  const E* device_ = nullptr;
};

}  // namespace halfgrad::emulator

#define HALFGRAD_FOR_EACH_LETTER(define) \
  define(S, float) define(D, double) define(C, cuComplex) define(Z, cuDoubleComplex)
#define HALFGRAD_FOR_EACH_COMPLEX(define)      \
  HALFGRAD_FOR_EACH_SIZE(define, C, cuComplex) \
  HALFGRAD_FOR_EACH_SIZE(define, Z, cuDoubleComplex)
