#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include <halfgrad/core/language.h>

// The innermost part of gemm: packing, and the product of one strip of A with one strip of B, kept
// in registers. Vector extensions of the compiler, no instruction sets.
namespace halfgrad::detail {

// The accumulators, kStripRows x 2 vectors, must leave registers for two vectors of B and one of A.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64, kStripRows = 12;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32, kStripRows = 6;
#else
inline constexpr int kVectorBytes = 16, kStripRows = 6;
#endif

template <class T>
struct Simd {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename Simd<T>::Vector;

template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int kStripColumns = 2 * kLanes<T>;

template <class T>
Vector<T> load(const T* from) {
  Vector<T> vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class T>
void store(const Vector<T>& vector, T* to) {
  std::memcpy(to, &vector, sizeof vector);
}

// Packs depth [begin, end) of an operand whose lines of `extent` numbers, one per depth, are
// contiguous: strip s holds for each depth the numbers s * Width ... of its line, then zeros.
template <int Width, class T>
void pack_lines(const T* lines, int64_t line_stride, int64_t extent, int64_t begin, int64_t end,
                int64_t depth, T* packed) {
  constexpr int64_t kBlock = 16;
  for (int64_t block = begin; block < end; block += kBlock) {
    const int64_t block_end = block + kBlock < end ? block + kBlock : end;
    for (int64_t first = 0; first < extent; first += Width) {
      T* to = packed + first * depth + block * Width;
      for (int64_t k = block; k < block_end; ++k, to += Width) {
        const T* from = lines + k * line_stride + first;
        __builtin_prefetch(from +
                           Width);  // of the next strip, which lies far from this line's next
        if (first + Width <= extent) {
          std::memcpy(to, from, Width * sizeof(T));
        } else {
          for (int i = 0; i < Width; ++i) to[i] = first + i < extent ? from[i] : T(0);
        }
      }
    }
  }
}

// Of two rows of blocks of Step lanes, the odd blocks of a and the even ones of b change places.
template <class T, int Step, int... I>
void exchange(Vector<T>& a, Vector<T>& b, std::integer_sequence<int, I...>) {
  constexpr int kCount = sizeof...(I);
  const Vector<T> even =
      __builtin_shufflevector(a, b, ((I & Step) == 0 ? I : kCount + I - Step)...);
  b = __builtin_shufflevector(a, b, ((I & Step) == 0 ? I + Step : kCount + I)...);
  a = even;
}

// Transposes a square of lanes: the blocks off the diagonal change places, at every size.
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

// Packs one strip of an operand whose numbers are contiguous along the depth: `width` such lines,
// a square of lanes at a time. Where Width is not whole squares, the last one reaches into the next
// depth, of which the first square is stored after it.
template <int Width, class T>
void pack_strip_transposed(const T* lines, int64_t line_stride, int64_t width, int64_t depth,
                           T* packed) {
  constexpr int kCount = kLanes<T>, kLast = (Width - 1) / kCount * kCount;
  constexpr bool kWhole = Width % kCount == 0;
  int64_t k = 0;
  for (; width == Width && k + kCount + (kWhole ? 0 : 1) <= depth; k += kCount) {
    for (int first = kLast; first >= 0; first -= kCount) {
      Vector<T> square[kCount];
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) {
        const int line = kWhole ? first + i : std::min(first + i, Width - 1);
        square[i] = load(lines + line * line_stride + k);
      }
      transpose<T>(square);
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) store<T>(square[i], packed + (k + i) * Width + first);
    }
  }
  for (; k < depth; ++k) {
    for (int i = 0; i < Width; ++i) {
      packed[k * Width + i] = i < width ? lines[i * line_stride + k] : T(0);
    }
  }
}

// Where a product goes: out = alpha * product + beta * out + bias; beta 0 does not read out.
template <class T>
struct Destination {
  T* out;
  int64_t row_stride;
  T alpha, beta;
  const T* bias;  // of the columns, or null

  Destination at(int64_t row, int64_t col) const {
    return {out + row * row_stride + col, row_stride, alpha, beta,
            bias == nullptr ? nullptr : bias + col};
  }
};

// alpha * product, rounded. Where it is inlined, the compiler may leave that rounding out in front
// of a sum, or not, in one place so and in another otherwise.
template <class T>
[[gnu::noinline]] Vector<T> scaled(T alpha, const Vector<T>& product) {
  return alpha * product;
}

// C from `product`, a vector of A B that alpha has met already.
template <class T>
void store_whole(const Vector<T>& product, const Destination<T>& to) {
  Vector<T> value = product;
  if (to.beta != T(0)) value += to.beta * load(to.out);
  if (to.bias != nullptr) value += load(to.bias);
  store<T>(value, to.out);
}

// The same for the first numbers of a vector.
template <class T>
void store_first(int64_t count, const Vector<T>& product, const Destination<T>& to) {
  const size_t bytes = static_cast<size_t>(count) * sizeof(T);
  T out[kLanes<T>] = {}, bias[kLanes<T>] = {};
  Destination<T> padded = to;
  padded.out = out;
  if (to.beta != T(0)) std::memcpy(out, to.out, bytes);
  if (to.bias != nullptr) padded.bias = static_cast<T*>(std::memcpy(bias, to.bias, bytes));
  store_whole<T>(product, padded);
  std::memcpy(to.out, out, bytes);
}

// C from some rows of it, whose last vector may be one of fewer columns.
template <int Rows, int Vectors, class T>
[[gnu::always_inline]] inline void store_rows(const Vector<T> (&product)[Rows][Vectors],
                                              const Destination<T>& to, int64_t columns) {
  constexpr int kLast = (Vectors - 1) * kLanes<T>;
  if (columns == Vectors * kLanes<T>) {
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
      for (int i = 0; i < Vectors; ++i) store_whole<T>(product[row][i], to.at(row, i * kLanes<T>));
    }
    return;
  }
#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row) {
    for (int i = 0; i + 1 < Vectors; ++i) {
      store_whole<T>(product[row][i], to.at(row, i * kLanes<T>));
    }
    store_first<T>(columns - kLast, product[row][Vectors - 1], to.at(row, kLast));
  }
}

// The same from a product that alpha is still to meet: rare, and apart for that.
template <int Vectors, class T>
[[gnu::noinline]] void store_scaled(int rows, const Vector<T> (*product)[Vectors],
                                    const Destination<T>& to, int64_t columns) {
  for (int row = 0; row < rows; ++row) {
    Vector<T> value[1][Vectors];
    for (int i = 0; i < Vectors; ++i) value[0][i] = scaled<T>(to.alpha, product[row][i]);
    store_rows<1, Vectors, T>(value, to.at(row, 0), columns);
  }
}

template <int Rows, int Vectors, class T>
[[gnu::always_inline]] inline void store_product(const Vector<T> (&product)[Rows][Vectors],
                                                 const Destination<T>& to, int64_t columns) {
  if (to.alpha == T(1)) return store_rows<Rows, Vectors, T>(product, to, columns);
  Vector<T> copy[Rows][Vectors];  // in memory, so that `product` can stay in registers
  std::memcpy(copy, product, sizeof copy);
  store_scaled<Vectors, T>(Rows, copy, to, columns);
}

// out (Rows x columns) from a strip of A, packed or rows of consecutive numbers, and a packed strip
// of B, of which the first Vectors vectors are wanted. The unrolling is for cores that run a second
// thread: they fetch too few instructions then for a short loop to keep up.
template <int Rows, int Vectors, bool Packed, class T>
void multiply_strips(int64_t depth, const T* a, int64_t a_row_stride, const T* b,
                     const Destination<T>& to, int64_t columns) {
  constexpr int kStep = Packed ? kStripRows : 1;
  Vector<T> sum[Rows][Vectors] = {};
#pragma GCC unroll 4
  for (int64_t k = 0; k < depth; ++k, a += kStep, b += kStripColumns<T>) {
    Vector<T> line[Vectors];
#pragma GCC unroll 2
    for (int i = 0; i < Vectors; ++i) line[i] = load(b + i * kLanes<T>);
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
      const T factor = a[Packed ? row : row * a_row_stride];
#pragma GCC unroll 2
      for (int i = 0; i < Vectors; ++i) sum[row][i] += factor * line[i];
    }
  }
  store_product<Rows, Vectors, T>(sum, to, columns);
}

template <class T>
using MultiplyStrips = void (*)(int64_t depth, const T* a, int64_t a_row_stride, const T* b,
                                const Destination<T>& to, int64_t columns);

// multiply_strips for 1 <= rows <= kStripRows and 1 <= columns <= kStripColumns.
template <bool Packed, class T>
MultiplyStrips<T> multiply_strips_of(int64_t rows, int64_t columns) {
  static constexpr auto table = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array<std::array<MultiplyStrips<T>, 2>, sizeof...(I)>{
        {{&multiply_strips<I + 1, 1, Packed, T>, &multiply_strips<I + 1, 2, Packed, T>}...}};
  }
  (std::make_integer_sequence<int, kStripRows>());
  return table[static_cast<size_t>(rows - 1)][columns > kLanes<T> ? 1 : 0];
}

}  // namespace halfgrad::detail
