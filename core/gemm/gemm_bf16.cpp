#include <halfgrad/core/gemm/gemm_bf16.h>

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include <halfgrad/core/gemm/gemm_library.h>
#include <halfgrad/core/thread_pool.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define HALFGRAD_BF16_DOT [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]]
#endif

namespace halfgrad {
namespace {

std::atomic<bool> allowed{true};

// Intel's processors have the instruction, too, but there the float kernel is faster: 1.6 times, on
// an Emerald Rapids (bench/results/2026-11-28-cpu-amx.md).
bool processor_has_fast_dot() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0 && __builtin_cpu_is("amd") != 0;
  return has;
#else
  return false;
#endif
}

}  // namespace

namespace backends::cpu {

void set_allow_bf16_dot(bool allow) { allowed = allow; }
bool allow_bf16_dot() { return allowed; }

}  // namespace backends::cpu

namespace detail {
namespace {

std::uint32_t pair_of(std::uint16_t earlier, std::uint16_t later) {
  return static_cast<std::uint32_t>(earlier) << 16 | later;
}

// Packs `length` elements from k of `width` rows or columns, any strides.
template <int Width>
void pack_elements(const Bf16Operand& from, std::int64_t outer, std::int64_t width, std::int64_t k,
                   std::int64_t length, std::uint32_t* to) {
  for (std::int64_t i = 0; i < length; i += 2, to += Width) {
    for (std::int64_t o = 0; o < Width; ++o) {
      const std::uint16_t* const first = from.at(outer + o, k + i);
      if (o >= width) {
        to[o] = 0;
      } else {
        to[o] = pair_of(*first, i + 1 < length ? first[from.depth_stride] : 0);
      }
    }
  }
}

// Packs a whole strip whose elements of one k are contiguous: interleaves two rows.
template <int Width>
void pack_interleaved(const std::uint16_t* from, std::int64_t depth_stride, std::int64_t length,
                      std::uint32_t* to) {
  for (std::int64_t i = 0; i + 1 < length; i += 2, to += Width) {
    const std::uint16_t* const earlier = from + i * depth_stride;
    const std::uint16_t* const later = earlier + depth_stride;
    for (int o = 0; o < Width; ++o) to[o] = pair_of(earlier[o], later[o]);
  }
}

// Packs a whole strip whose elements of one row or column are contiguous: transposes squares
// of pairs in registers, and swaps the halves of each.
template <int Width>
void pack_transposed(const std::uint16_t* from, std::int64_t outer_stride, std::int64_t squares,
                     std::uint32_t* to) {
  constexpr int kCount = kLanes<float>, kLast = (Width - 1) / kCount * kCount;
  for (std::int64_t s = 0; s < squares; ++s, from += 2 * kCount, to += kCount * Width) {
    for (int first = kLast; first >= 0; first -= kCount) {
      Vector<float> square[kCount];
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) {
        const int outer = std::min(first + i, Width - 1);
        std::memcpy(&square[i], from + outer * outer_stride, sizeof square[i]);
      }
      transpose<float>(square);
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) {
        Vector<std::uint32_t> words;
        std::memcpy(&words, &square[i], sizeof words);
        words = words << 16 | words >> 16;
        std::memcpy(to + i * Width + first, &words, sizeof words);
      }
    }
  }
}

// Packs one block of one strip.
template <int Width>
void pack_block(const Bf16Operand& from, std::int64_t outer, std::int64_t k, std::int64_t length,
                std::uint32_t* to) {
  const std::int64_t width = std::min<std::int64_t>(Width, from.outer - outer);
  std::int64_t done = 0;
  if (width == Width && from.outer_stride == 1) {
    pack_interleaved<Width>(from.at(outer, k), from.depth_stride, length, to);
    done = length / 2 * 2;
  } else if (width == Width && from.depth_stride == 1) {
    constexpr std::int64_t kSquare = 2 * kLanes<float>;
    // The last store of a square spills into the next pair, which must come after it.
    const std::int64_t squares = std::max<std::int64_t>(0, length - 2) / kSquare;
    pack_transposed<Width>(from.at(outer, k), from.outer_stride, squares, to);
    done = squares * kSquare;
  }
  pack_elements<Width>(from, outer, width, k + done, length - done, to + done / 2 * Width);
}

template <int Width>
void pack_pair_strip(const Bf16Operand& from, const PairBlocks& blocks, std::int64_t strip,
                     const PackedPairs<Width>& to) {
  const std::int64_t outer = strip * Width;
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    pack_block<Width>(from, outer, blocks.first(block), blocks.length(block),
                      to.strip(outer, block));
  }
}

#if defined(HALFGRAD_BF16_DOT)
// For Rows rows and 16 columns of C for each of Vectors vectors, and a block of `pairs` pairs:
//
//     out = alpha sums + beta out
//
// alpha sums is rounded: the float kernel rounds it, too. beta 0 does not read `out`.
template <int Rows, int Vectors>
HALFGRAD_BF16_DOT void multiply_block(std::int64_t pairs, const std::uint32_t* a,
                                      const std::uint32_t* b, float alpha, float beta, float* out) {
  constexpr int kVector = 16;
  __m512 sum[Rows][Vectors];
#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 2
    for (int i = 0; i < Vectors; ++i) sum[row][i] = _mm512_setzero_ps();
  }
#pragma GCC unroll 2
  for (std::int64_t pair = 0; pair < pairs; ++pair, a += kDotRows, b += kDotColumns) {
    __m512bh columns[Vectors];
#pragma GCC unroll 2
    for (int i = 0; i < Vectors; ++i) columns[i] = (__m512bh)_mm512_loadu_si512(b + i * kVector);
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
      const auto factor = (__m512bh)_mm512_set1_epi32(static_cast<int>(a[row]));
#pragma GCC unroll 2
      for (int i = 0; i < Vectors; ++i) {
        sum[row][i] = _mm512_dpbf16_ps(sum[row][i], factor, columns[i]);
      }
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 2
    for (int i = 0; i < Vectors; ++i) {
      float* const to = out + row * kDotColumns + i * kVector;
      __m512 value = _mm512_mul_ps(_mm512_set1_ps(alpha), sum[row][i]);
      __asm__("" : "+v"(value));  // keeps the product out of a fused multiply-add
      if (beta != 0) {
#if defined(__FMA__)
        value = _mm512_fmadd_ps(_mm512_set1_ps(beta), _mm512_loadu_ps(to), value);
#else  // the float kernel of this build has no fused multiply-add
        __m512 before = _mm512_mul_ps(_mm512_set1_ps(beta), _mm512_loadu_ps(to));
        __asm__("" : "+v"(before));
        value = _mm512_add_ps(before, value);
#endif
      }
      _mm512_storeu_ps(to, value);
    }
  }
}

using MultiplyBlock = void (*)(std::int64_t pairs, const std::uint32_t* a, const std::uint32_t* b,
                               float alpha, float beta, float* out);

// multiply_block by rows - 1, and by vectors - 1.
constexpr auto kMultiplyBlock = []<int... I>(std::integer_sequence<int, I...>) {
  return std::array<std::array<MultiplyBlock, 2>, sizeof...(I)>{
      {{&multiply_block<I + 1, 1>, &multiply_block<I + 1, 2>}...}};
}
(std::make_integer_sequence<int, kDotRows>());
#endif

}  // namespace

bool uses_bf16_dot() { return !kLibraryMultiplies && allowed && processor_has_fast_dot(); }

void pack_pairs(const Bf16Operand& from_a, const Bf16Operand& from_b, const PairBlocks& blocks,
                const PackedPairs<kDotRows>& a, const PackedPairs<kDotColumns>& b) {
  const std::int64_t a_strips = divide_up(from_a.outer, kDotRows),
                     b_strips = divide_up(from_b.outer, kDotColumns);
  parallel_for(0, a_strips + b_strips, grain_of(blocks.total() * kDotColumns, kCopiesPerChunk),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t strip = begin; strip < end; ++strip) {
                   if (strip < a_strips) {
                     pack_pair_strip(from_a, blocks, strip, a);
                   } else {
                     pack_pair_strip(from_b, blocks, strip - a_strips, b);
                   }
                 }
               });
}

void multiply_pairs([[maybe_unused]] const Tile& tile, [[maybe_unused]] const PairBlocks& blocks,
                    [[maybe_unused]] const PackedPairs<kDotRows>& a,
                    [[maybe_unused]] const PackedPairs<kDotColumns>& b,
                    [[maybe_unused]] const SumsEpilogue& epilogue,
                    [[maybe_unused]] const MutableMatrixView& c) {
#if defined(HALFGRAD_BF16_DOT)
  compute_sums(tile, epilogue, c, [&](std::int64_t col, std::int64_t columns, Sums& sums) {
    for (std::int64_t block = 0; block < blocks.count(); ++block) {
      const float beta = block == 0 ? epilogue.beta : 1;
      for (std::int64_t row = 0; row < tile.rows; row += kDotRows) {
        const std::int64_t rows = std::min<std::int64_t>(kDotRows, tile.rows - row);
        kMultiplyBlock[static_cast<std::size_t>(rows - 1)][columns > 16 ? 1 : 0](
            blocks.pairs(block), a.strip(tile.row + row, block), b.strip(col, block),
            epilogue.alpha, beta, sums.row(row));
      }
    }
  });
#endif
}

}  // namespace detail
}  // namespace halfgrad
