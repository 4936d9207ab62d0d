#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include <halfgrad/core/gemm/gemm_vector.h>
#include <halfgrad/core/language.h>

// The innermost loops of gemm: packing, and the product of one strip of A with one strip of B,
// whose sums stay in registers.
namespace halfgrad::detail {

// Packs rows [begin, end) of an operand with one contiguous row of `extent` elements for each k.
// Strip s gets the elements s * Width ... of every row, and zeros after the last one.
template <int Width, class T>
void pack_rows(const T* rows, std::int64_t row_stride, std::int64_t extent, std::int64_t begin,
               std::int64_t end, std::int64_t depth, T* packed) {
  constexpr std::int64_t kBlock = 16;
  for (std::int64_t block = begin; block < end; block += kBlock) {
    const std::int64_t block_end = block + kBlock < end ? block + kBlock : end;
    for (std::int64_t first = 0; first < extent; first += Width) {
      T* to = packed + first * depth + block * Width;
      for (std::int64_t k = block; k < block_end; ++k, to += Width) {
        const T* from = rows + k * row_stride + first;
        __builtin_prefetch(from + Width);  // this row's part of the next strip
        if (first + Width <= extent) {
          std::memcpy(to, from, Width * sizeof(T));
        } else {
          for (int i = 0; i < Width; ++i) to[i] = first + i < extent ? from[i] : T(0);
        }
      }
    }
  }
}

// One stage of a butterfly transpose: swaps the off-diagonal blocks of Step lanes of two rows. With
// Step 1:
//
//     a: a0 a1 a2 a3          a: a0 b0 a2 b2
//     b: b0 b1 b2 b3   -->    b: a1 b1 a3 b3
template <class T, int Step, int... I>
void exchange(Vector<T>& a, Vector<T>& b, std::integer_sequence<int, I...>) {
  constexpr int kCount = sizeof...(I);
  const Vector<T> even =
      __builtin_shufflevector(a, b, ((I & Step) == 0 ? I : kCount + I - Step)...);
  b = __builtin_shufflevector(a, b, ((I & Step) == 0 ? I + Step : kCount + I)...);
  a = even;
}

// Transposes a square of lanes, with blocks of 1, 2, 4 ... lanes.
template <class T, int Step = 1>
[[gnu::always_inline]] inline void transpose(Vector<T> (&rows)[kLanes<T>]) {
  if constexpr (Step < kLanes<T>) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes<T>; ++i) {
      if ((i & Step) != 0) continue;
      exchange<T, Step>(rows[i], rows[i + Step], std::make_integer_sequence<int, kLanes<T>>());
    }
    transpose<T, 2 * Step>(rows);
  }
}

// Packs one strip of an operand whose columns are contiguous along k: `width` of them, transposed
// in registers, a square of lanes at a time. If Width is not a multiple of the lanes, the last
// vector store of row k spills into row k + 1, whose own elements are stored after it. A narrow
// strip repeats its last column up to the end of a vector; the rest of it, which is not read, stays
// as it is.
template <int Width, class T>
void pack_strip_transposed(const T* columns, std::int64_t column_stride, std::int64_t width,
                           std::int64_t depth, T* packed) {
  constexpr int kCount = kLanes<T>, kSquares = (Width - 1) / kCount + 1;
  constexpr bool kWhole = Width % kCount == 0;
  const int squares = static_cast<int>((width - 1) / kCount) + 1;
  std::int64_t offset[kSquares * kCount];
  for (int i = 0; i < kSquares * kCount; ++i) {
    offset[i] = std::min<std::int64_t>(i, width - 1) * column_stride;
  }
  std::int64_t k = 0;
  for (; k + kCount + (kWhole ? 0 : 1) <= depth; k += kCount) {
    for (int first = (squares - 1) * kCount; first >= 0; first -= kCount) {
      Vector<T> square[kCount];
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) square[i] = load(columns + offset[first + i] + k);
      transpose<T>(square);
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) store<T>(square[i], packed + (k + i) * Width + first);
    }
  }
  for (; k < depth; ++k) {
    for (int i = 0; i < std::min(squares * kCount, Width); ++i) {
      packed[k * Width + i] = columns[offset[i] + k];
    }
  }
}

// The epilogue's arguments. beta 0 does not read out.
//
//     out = alpha sums + beta out + bias
template <class T>
struct Destination {
  T* out;
  std::int64_t row_stride;
  T alpha, beta;
  const T* bias;  // one for each column, or null

  Destination at(std::int64_t row, std::int64_t col) const {
    return {out + row * row_stride + col, row_stride, alpha, beta,
            bias == nullptr ? nullptr : bias + col};
  }
};

// Returns alpha * sum, rounded. It is not inlined: in some callers it would become part of a fused
// multiply-add, which skips that rounding.
template <class T>
[[gnu::noinline]] Vector<T> scaled(T alpha, const Vector<T>& sum) {
  return alpha * sum;
}

// The epilogue of one vector, whose sums have been multiplied by alpha. `Lanes` are those that are
// loaded and stored: AllLanes or FirstLanes.
template <class T, class Lanes>
void store_vector(const Lanes& lanes, const Vector<T>& scaled_sum, const Destination<T>& to) {
  Vector<T> value = scaled_sum;
  if (to.beta != T(0)) value = multiply_add<T>(to.beta, lanes.load(to.out), value);
  if (to.bias != nullptr) value += lanes.load(to.bias);
  lanes.store(value, to.out);
}

// The epilogue of the first `count` lanes of a vector. Without masked instructions it computes in a
// copy of a whole vector.
template <class T>
void store_part(std::int64_t count, const Vector<T>& scaled_sum, const Destination<T>& to) {
  if constexpr (kMasksLanes) {
    store_vector<T>(FirstLanes<T>{count}, scaled_sum, to);
  } else {
    const size_t bytes = static_cast<size_t>(count) * sizeof(T);
    T out[kLanes<T>] = {}, bias[kLanes<T>] = {};
    Destination<T> padded = to;
    padded.out = out;
    if (to.beta != T(0)) std::memcpy(out, to.out, bytes);
    if (to.bias != nullptr) padded.bias = static_cast<T*>(std::memcpy(bias, to.bias, bytes));
    store_vector<T>(AllLanes<T>(), scaled_sum, padded);
    std::memcpy(to.out, out, bytes);
  }
}

// The epilogue of several rows, whose last vector may have fewer columns.
template <int Rows, int Vectors, class T>
[[gnu::always_inline]] inline void store_rows(const Vector<T> (&sums)[Rows][Vectors],
                                              const Destination<T>& to, std::int64_t columns) {
  constexpr int kLast = (Vectors - 1) * kLanes<T>;
  if (columns == Vectors * kLanes<T>) {
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
      for (int i = 0; i < Vectors; ++i) {
        store_vector<T>(AllLanes<T>(), sums[row][i], to.at(row, i * kLanes<T>));
      }
    }
    return;
  }
#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row) {
    for (int i = 0; i + 1 < Vectors; ++i) {
      store_vector<T>(AllLanes<T>(), sums[row][i], to.at(row, i * kLanes<T>));
    }
    store_part<T>(columns - kLast, sums[row][Vectors - 1], to.at(row, kLast));
  }
}

// The slow path for alpha != 1, kept out of line.
template <int Vectors, class T>
[[gnu::noinline]] void store_scaled(int rows, const Vector<T> (*sums)[Vectors],
                                    const Destination<T>& to, std::int64_t columns) {
  for (int row = 0; row < rows; ++row) {
    Vector<T> value[1][Vectors];
    for (int i = 0; i < Vectors; ++i) value[0][i] = scaled<T>(to.alpha, sums[row][i]);
    store_rows<1, Vectors, T>(value, to.at(row, 0), columns);
  }
}

template <int Rows, int Vectors, class T>
[[gnu::always_inline]] inline void store_sums(const Vector<T> (&sums)[Rows][Vectors],
                                              const Destination<T>& to, std::int64_t columns) {
  if (to.alpha == T(1)) return store_rows<Rows, Vectors, T>(sums, to, columns);
  Vector<T> copy[Rows][Vectors];  // in memory, so that `sums` stay in registers
  std::memcpy(copy, sums, sizeof copy);
  store_scaled<Vectors, T>(Rows, copy, to, columns);
}

// Computes Rows x columns of C from a strip of A, packed or in contiguous rows, and the first
// Vectors vectors of a packed strip of B. The loop is unrolled by 4: a core that runs two hardware
// threads fetches too few instructions to keep up with a shorter loop.
template <int Rows, int Vectors, bool Packed, class T>
void multiply_strips(std::int64_t depth, const T* a, std::int64_t a_row_stride, const T* b,
                     const Destination<T>& to, std::int64_t columns) {
  constexpr int kStep = Packed ? kStripRows : 1;
  Vector<T> sum[Rows][Vectors] = {};
#pragma GCC unroll 4
  for (std::int64_t k = 0; k < depth; ++k, a += kStep, b += kStripColumns<T>) {
    Vector<T> b_row[Vectors];
#pragma GCC unroll 2
    for (int i = 0; i < Vectors; ++i) b_row[i] = load(b + i * kLanes<T>);
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
      const T factor = a[Packed ? row : row * a_row_stride];
#pragma GCC unroll 2
      for (int i = 0; i < Vectors; ++i) {
        sum[row][i] = multiply_add<T>(factor, b_row[i], sum[row][i]);
      }
    }
  }
  store_sums<Rows, Vectors, T>(sum, to, columns);
}

template <class T>
using MultiplyStrips = void (*)(std::int64_t depth, const T* a, std::int64_t a_row_stride,
                                const T* b, const Destination<T>& to, std::int64_t columns);

// Returns multiply_strips for 1 <= rows <= kStripRows and 1 <= columns <= kStripColumns.
template <bool Packed, class T>
MultiplyStrips<T> multiply_strips_of(std::int64_t rows, std::int64_t columns) {
  static constexpr auto table = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array<std::array<MultiplyStrips<T>, 2>, sizeof...(I)>{
        {{&multiply_strips<I + 1, 1, Packed, T>, &multiply_strips<I + 1, 2, Packed, T>}...}};
  }
  (std::make_integer_sequence<int, kStripRows>());
  return table[static_cast<size_t>(rows - 1)][columns > kLanes<T> ? 1 : 0];
}

}  // namespace halfgrad::detail
