#include <halfgrad/core/gemm/gemm_amx_pack.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <halfgrad/core/gemm/gemm_amx_parts.h>
#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_vector.h>

namespace halfgrad::detail {
namespace {

// The elements 0, 2, 4, ... or 1, 3, 5, ... of two vectors.
template <int First, int... I>
UintVector every_second(const UintVector& low, const UintVector& high,
                        std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(low, high, (2 * I + First)...);
}
template <int First>
UintVector every_second(const UintVector& low, const UintVector& high) {
  return every_second<First>(low, high, std::make_integer_sequence<int, kLanes32>());
}

// Transposes 16 x 16 words, a square of lanes at a time.
void transpose_words(const std::uint32_t* from, std::uint32_t* to) {
  for (int row = 0; row < kAmxTile; row += kLanes32) {
    for (int col = 0; col < kAmxTile; col += kLanes32) {
      Vector<float> square[kLanes32];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes32; ++i) {
        square[i] = bits_as<Vector<float>>(load(from + (row + i) * kAmxTile + col));
      }
      transpose<float>(square);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes32; ++i) {
        store<std::uint32_t>(bits_as<UintVector>(square[i]), to + (col + i) * kAmxTile + row);
      }
    }
  }
}

// A square of words of each part, for 16 rows of `matrix` from `row` and one step of the depth from
// k.
template <class S>
class Square {
 public:
  Square(const Operand<S>& matrix, std::int64_t row, std::int64_t k) {
    const S* const from = matrix.data + row * matrix.row_stride + k * matrix.col_stride;
    const std::int64_t rows = std::min<std::int64_t>(kAmxTile, matrix.rows - row);
    const std::int64_t count = std::min<std::int64_t>(kAmxStep, matrix.cols - k);
    const bool whole = rows == kAmxTile && count == kAmxStep;
    if (whole && matrix.col_stride == 1) {
      load_rows(from, matrix.row_stride);
    } else if (whole && matrix.row_stride == 1) {
      load_columns(from, matrix.col_stride);
    } else if (matrix.row_stride == 1 && matrix.col_stride != 1) {
      S copy[kAmxStep][kAmxTile] = {};
      for (std::int64_t j = 0; j < count; ++j) {
        std::copy_n(from + j * matrix.col_stride, rows, copy[j]);
      }
      load_columns(copy[0], kAmxTile);
    } else {
      S copy[kAmxTile][kAmxStep] = {};
      for (std::int64_t i = 0; i < rows; ++i) {
        const S* const in = from + i * matrix.row_stride;
        if (matrix.col_stride == 1) {
          std::copy_n(in, count, copy[i]);
          continue;
        }
        for (std::int64_t j = 0; j < count; ++j) copy[i][j] = in[j * matrix.col_stride];
      }
      load_rows(copy[0], kAmxStep);
    }
  }

  // Stores the square of a part, with a row for each pair if `by_pairs`, or for each row of the
  // matrix.
  void store_to(int part, bool by_pairs, std::uint32_t* to) const {
    if (by_pairs != by_pairs_) return transpose_words(words_[part], to);
    std::memcpy(to, words_[part], sizeof words_[part]);
  }

 private:
  void load_rows(const S* from, std::int64_t stride) {
    for (int row = 0; row < kAmxTile; ++row, from += stride) {
      if constexpr (kAmxParts<S> == 1) {
        std::memcpy(words_[0] + row * kAmxTile, from, kAmxStep * sizeof(S));
        continue;
      }
      for (int i = 0; i < kAmxTile; i += kLanes32) {
        const Parts<S> low = load_parts(from + 2 * i), high = load_parts(from + 2 * i + kLanes32);
        for (int part = 0; part < kAmxParts<S>; ++part) {
          store_pairs(every_second<0>(low.of[part], high.of[part]),
                      every_second<1>(low.of[part], high.of[part]), part, row * kAmxTile + i);
        }
      }
    }
  }

  void load_columns(const S* from, std::int64_t stride) {
    by_pairs_ = true;
    for (int pair = 0; pair < kAmxTile; ++pair, from += 2 * stride) {
      for (int i = 0; i < kAmxTile; i += kLanes32) {
        const Parts<S> first = load_parts(from + i), second = load_parts(from + stride + i);
        for (int part = 0; part < kAmxParts<S>; ++part) {
          store_pairs(first.of[part], second.of[part], part, pair * kAmxTile + i);
        }
      }
    }
  }

  void store_pairs(const UintVector& first, const UintVector& second, int part, int word) {
    store<std::uint32_t>(first >> 16 | second, words_[part] + word);
  }

  alignas(64) std::uint32_t words_[kAmxParts<S>][kAmxTileWords];
  bool by_pairs_ = false;
};

// Packs a strip of `matrix`, of which a row is a row of A or a column of B.
template <class S>
void pack_strip_of_tiles(const Operand<S>& matrix, std::int64_t strip, bool by_pairs,
                         std::uint32_t* to) {
  const std::int64_t first = strip * kAmxStrip;
  for (std::int64_t k = 0; k < matrix.cols; k += kAmxStep, to += kAmxStepWords<S>) {
    for (int tile = 0; tile < 2 && first + tile * kAmxTile < matrix.rows; ++tile) {
      const Square<S> square(matrix, first + tile * kAmxTile, k);
      for (int part = 0; part < kAmxParts<S>; ++part) {
        square.store_to(part, by_pairs, to + (2 * part + tile) * kAmxTileWords);
      }
    }
  }
}

}  // namespace

template <class S>
void pack_amx_a(const Operand<S>& a, std::int64_t strip, std::uint32_t* to) {
  pack_strip_of_tiles(a, strip, false, to);
}

template <class S>
void pack_amx_b(const Operand<S>& b, std::int64_t strip, std::uint32_t* to) {
  pack_strip_of_tiles(b.transposed(), strip, true, to);
}

template void pack_amx_a(const Operand<Half>&, std::int64_t, std::uint32_t*);
template void pack_amx_a(const Operand<BFloat16>&, std::int64_t, std::uint32_t*);
template void pack_amx_b(const Operand<Half>&, std::int64_t, std::uint32_t*);
template void pack_amx_b(const Operand<BFloat16>&, std::int64_t, std::uint32_t*);

}  // namespace halfgrad::detail
