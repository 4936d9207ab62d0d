#include <halfgrad/core/gemm/gemm_amx_row.h>

#include <algorithm>
#include <cstring>

#include <halfgrad/core/gemm/gemm_amx_pack.h>
#include <halfgrad/core/gemm/gemm_amx_parts.h>
#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_row.h>
#include <halfgrad/core/gemm/gemm_vector.h>
#include <halfgrad/core/thread_pool.h>

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace halfgrad::detail {
namespace {

#if defined(__FMA__)
// Rounds as AMX does while it lives: to nearest, with subnormal operands and results as 0, and
// without traps.
class AmxRounding {
 public:
  AmxRounding() : before_(_mm_getcsr()) { set(kNearest | kFlushToZero | kSubnormalsAreZero); }
  ~AmxRounding() { set(before_); }
  AmxRounding(const AmxRounding&) = delete;
  AmxRounding& operator=(const AmxRounding&) = delete;

 private:
  static constexpr unsigned kNearest = 0x1f80, kFlushToZero = 0x8000, kSubnormalsAreZero = 0x40;

  // Keeps the compiler from moving arithmetic on values in memory across this call.
  static void set(unsigned control) {
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(control);
    __asm__ volatile("" ::: "memory");
  }

  unsigned before_;
};

// The columns that are summed at once. In each sum an addition waits for the one before, so it
// takes this many independent sums to keep a processor busy.
template <class S>
inline constexpr int kVectors = kAmxParts<S> == 2 ? 2 : 4;
template <class S>
inline constexpr int kColumns = kVectors<S>* kLanes32;

// The elements of B for one step of the depth and kColumns columns, two rows at a time.
template <class S>
struct PairOfRows {
  Parts<S> first, second;
};

// Rows of B in memory.
template <class S>
struct Rows {
  const S* data;
  std::int64_t stride;

  PairOfRows<S> operator()(int pair, int vector) const {
    const S* const row = data + 2 * pair * stride + vector * kLanes32;
    return {load_parts(row), load_parts(row + stride)};
  }
};

// Columns of B that are contiguous along the depth, transposed: a word holds the pair of a column.
template <class S>
class TransposedColumns {
 public:
  TransposedColumns(const S* columns, std::int64_t stride) {
    for (int pair = 0; pair < kAmxTile; pair += kLanes32) {
      for (int col = 0; col < kColumns<S>; col += kLanes32) {
        Vector<float> square[kLanes32];
#pragma GCC unroll 16
        for (int i = 0; i < kLanes32; ++i) {
          std::memcpy(&square[i], columns + (col + i) * stride + 2 * pair, sizeof square[i]);
        }
        transpose<float>(square);
#pragma GCC unroll 16
        for (int i = 0; i < kLanes32; ++i) {
          store<std::uint32_t>(bits_as<UintVector>(square[i]), words_[pair + i] + col);
        }
      }
    }
  }

  PairOfRows<S> operator()(int pair, int vector) const {
    const UintVector words = load(words_[pair] + vector * kLanes32);
    if constexpr (kAmxParts<S> == 1) {
      return {{{words << 16}}, {{words & 0xffff0000U}}};
    } else {
      return {parts_of(words), parts_of(words >> 16)};
    }
  }

 private:
  static Parts<S> parts_of(const UintVector& words) {
    const auto halves = __builtin_convertvector(words, Words);
    S elements[kLanes32];
    std::memcpy(elements, &halves, sizeof halves);
    return load_parts(elements);
  }

  alignas(64) std::uint32_t words_[kAmxTile][kColumns<S>];
};

// The row of A, each part as floats, with zeros up to the end of a step.
template <class S>
class RowParts {
 public:
  explicit RowParts(const Operand<S>& a)
      : padded_(round_up(a.cols, kAmxStep)),
        memory_(kAmxParts<S> * padded_),
        floats_(memory_.take(kAmxParts<S> * padded_)) {
    for (std::int64_t k = 0; k < padded_; k += kLanes32) {
      S elements[kLanes32] = {};
      const std::int64_t count = std::min<std::int64_t>(kLanes32, a.cols - k);
      for (std::int64_t i = 0; i < count; ++i) elements[i] = a.data[(k + i) * a.col_stride];
      const Parts<S> parts = load_parts(elements);
      for (int part = 0; part < kAmxParts<S>; ++part) {
        std::memcpy(floats_ + part * padded_ + k, &parts.of[part], sizeof parts.of[part]);
      }
    }
  }

  const float* at(int part, std::int64_t k) const { return floats_ + part * padded_ + k; }

 private:
  std::int64_t padded_;
  Scratch<float> memory_;
  float* floats_;
};

// Adds one step of the depth, from k, to the sums of kColumns columns.
template <class S, class Pairs>
void add_step(const RowParts<S>& a, std::int64_t k, const Pairs& pairs, bool is_transposed,
              float* sums) {
  constexpr int kParts = kAmxParts<S>;
  Vector<float> sum[kVectors<S>][kParts][kParts][2] = {};  // by vector, part of A and of B
  for (int pair = 0; pair < kAmxTile; ++pair) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors<S>; ++v) {
      const PairOfRows<S> b = pairs(pair, v);
#pragma GCC unroll 2
      for (int i = 0; i < kParts; ++i) {
        const float* const factors = a.at(i, k) + 2 * pair;
#pragma GCC unroll 2
        for (int j = 0; j < kParts; ++j) {
          auto& chains = sum[v][i][j];
          chains[0] =
              multiply_add<float>(factors[0], bits_as<Vector<float>>(b.first.of[j]), chains[0]);
          chains[1] =
              multiply_add<float>(factors[1], bits_as<Vector<float>>(b.second.of[j]), chains[1]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors<S>; ++v) {
    const auto product = [&](int i, int j) { return sum[v][i][j][0] + sum[v][i][j][1]; };
    Vector<float> total = load(sums + v * kLanes32) + product(0, 0);
    if constexpr (kParts == 2) {
      total += is_transposed ? product(1, 0) : product(0, 1);
      total += product(1, 1);
      total += is_transposed ? product(0, 1) : product(1, 0);
    }
    store<float>(total, sums + v * kLanes32);
  }
}

// add_step() for columns from `col`, some of which may not exist.
template <class S>
void add_step_of(const RowParts<S>& a, const Operand<S>& b, std::int64_t k, std::int64_t col,
                 bool is_transposed, float* sums) {
  const std::int64_t rows = std::min<std::int64_t>(kAmxStep, b.rows - k),
                     columns = std::min<std::int64_t>(kColumns<S>, b.cols - col);
  const S* const from = b.data + k * b.row_stride + col * b.col_stride;
  if (rows == kAmxStep && columns == kColumns<S>) {
    if (b.col_stride == 1) {
      return add_step(a, k, Rows<S>{from, b.row_stride}, is_transposed, sums);
    }
    if (b.row_stride == 1) {
      return add_step(a, k, TransposedColumns<S>(from, b.col_stride), is_transposed, sums);
    }
  }
  S copy[kAmxStep][kColumns<S>] = {};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      copy[i][j] = from[i * b.row_stride + j * b.col_stride];
    }
  }
  add_step(a, k, Rows<S>{copy[0], kColumns<S>}, is_transposed, sums);
}

// Sets `sums` to the products with columns [first, last). It is not inlined, so that all its
// arithmetic is inside of AmxRounding, and none of its caller's.
template <class S>
[[gnu::noinline]] void sum_columns_as_amx(const RowParts<S>& a, const Operand<S>& b,
                                          std::int64_t first, std::int64_t last, bool is_transposed,
                                          float* sums) {
  const AmxRounding rounding;
  std::fill_n(sums, round_up(last - first, kColumns<S>), 0.0F);
  for (std::int64_t k = 0; k < b.rows; k += kAmxStep) {
    for (std::int64_t col = first; col < last; col += kColumns<S>) {
      add_step_of(a, b, k, col, is_transposed, sums + (col - first));
    }
  }
}
#endif

}  // namespace

template <class S>
void multiply_amx_row([[maybe_unused]] const Operand<S>& a, [[maybe_unused]] const Operand<S>& b,
                      [[maybe_unused]] const SumsEpilogue& epilogue,
                      [[maybe_unused]] const MutableMatrixView& c,
                      [[maybe_unused]] bool is_transposed) {
#if defined(__FMA__)
  const RowParts<S> parts(a);
  // Rows of B are read whole. Columns are read to their end.
  const std::int64_t block = b.col_stride == 1 ? kRowColumns : kColumns<S>;
  const std::int64_t grain = round_up(row_grain<float>(a.cols, b.cols), kColumns<S>);
  parallel_for(0, b.cols, grain, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) float sums[kRowColumns];
    for (std::int64_t first = begin; first < end; first += block) {
      const std::int64_t last = std::min(first + block, end);
      sum_columns_as_amx(parts, b, first, last, is_transposed, sums);
      compute_sums({0, 1, first, last - first}, epilogue, c,
                   [&](std::int64_t col, std::int64_t, Sums& to) {
                     set_scaled(sums + (col - first), 1, epilogue, to.row(0));
                   });
    }
  });
#endif
}

template void multiply_amx_row(const Operand<Half>&, const Operand<Half>&, const SumsEpilogue&,
                               const MutableMatrixView&, bool);
template void multiply_amx_row(const Operand<BFloat16>&, const Operand<BFloat16>&,
                               const SumsEpilogue&, const MutableMatrixView&, bool);

}  // namespace halfgrad::detail
