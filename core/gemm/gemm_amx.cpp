#include <halfgrad/core/gemm/gemm_amx.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include <halfgrad/core/gemm/gemm_amx_pack.h>
#include <halfgrad/core/gemm/gemm_amx_row.h>
#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_library.h>
#include <halfgrad/core/gemm/gemm_tile.h>
#include <halfgrad/core/thread_pool.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define HALFGRAD_AMX [[gnu::target("amx-tile,amx-bf16")]]
#endif

namespace halfgrad {
namespace {

std::atomic<bool> allowed{true};

#if defined(HALFGRAD_AMX)
bool processor_has_amx() {
  constexpr unsigned kBf16 = 1U << 22, kTile = 1U << 24;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
         (edx & (kBf16 | kTile)) == (kBf16 | kTile);
}

// Linux saves the tile registers only for a process that asks for them: they take 8 KiB a thread.
bool system_lets_use_amx() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool has_amx() {
  static const bool has = processor_has_amx() && system_lets_use_amx();
  return has;
}
#else
bool has_amx() { return false; }
#endif

}  // namespace

namespace backends::cpu {

void set_allow_amx(bool allow) { allowed = allow; }
bool allow_amx() { return allowed; }

}  // namespace backends::cpu

namespace detail {
namespace {

#if defined(HALFGRAD_AMX)
// The operand of LDTILECFG: eight tiles of 16 rows of 64 bytes. If C has fewer rows, so have the
// tiles of A and C, which takes less time.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1, first_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {};

  explicit TileConfiguration(std::int64_t rows_of_c) {
    std::fill_n(rows, 6, static_cast<std::uint8_t>(std::min<std::int64_t>(kAmxTile, rows_of_c)));
    std::fill_n(rows + 6, 2, static_cast<std::uint8_t>(kAmxTile));  // B
  }
};
static_assert(sizeof(TileConfiguration) == 64 && kAmxTile == 16);

// Writes what the program has stored at `memory` before it goes on. g++ believes that LDTILECFG
// reads 8 bytes and TILELOADD none, and could leave out stores before them.
void make_visible(const void* memory) { __asm__ volatile("" ::"r"(memory) : "memory"); }

// Keeps this thread's tile registers configured. They are free again afterwards, which makes it
// cheaper to switch threads.
class TileRegisters {
 public:
  HALFGRAD_AMX explicit TileRegisters(std::int64_t rows_of_c) {
    const TileConfiguration configuration(rows_of_c);
    make_visible(&configuration);
    _tile_loadconfig(&configuration);
  }
  HALFGRAD_AMX ~TileRegisters() { _tile_release(); }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;
};

constexpr int kTileStride = kAmxTile * sizeof(std::uint32_t),
              kSumStride = kSumColumns * sizeof(float);

template <int Rows>
HALFGRAD_AMX void load_a(const std::uint32_t* tiles) {
  _tile_loadd(4, tiles, kTileStride);
  if constexpr (Rows == 2) _tile_loadd(5, tiles + kAmxTileWords, kTileStride);
}

template <int Columns>
HALFGRAD_AMX void load_b(const std::uint32_t* tiles) {
  _tile_loadd(6, tiles, kTileStride);
  if constexpr (Columns == 2) _tile_loadd(7, tiles + kAmxTileWords, kTileStride);
}

// Adds the products of the tiles in registers 4 and 5 (A) and 6 and 7 (B) to those in 0 to 3.
template <int Rows, int Columns>
HALFGRAD_AMX void multiply_registers() {
  _tile_dpbf16ps(0, 4, 6);
  if constexpr (Columns == 2) _tile_dpbf16ps(1, 4, 7);
  if constexpr (Rows == 2) _tile_dpbf16ps(2, 5, 6);
  if constexpr (Rows == 2 && Columns == 2) _tile_dpbf16ps(3, 5, 7);
}

// Stores A B in `sums`, for Rows times 16 rows and Columns times 16 columns. The order of parts is
// explained in gemm_amx.h.
template <class S, bool Transposed, int Rows, int Columns>
HALFGRAD_AMX void multiply_steps(std::int64_t steps, const std::uint32_t* a, const std::uint32_t* b,
                                 float* sums) {
  make_visible(a);
  make_visible(b);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t i = 0; i < steps; ++i, a += kAmxStepWords<S>, b += kAmxStepWords<S>) {
    load_b<Columns>(b);
    load_a<Rows>(a);
    multiply_registers<Rows, Columns>();
    if constexpr (kAmxParts<S> == 2) {
      constexpr int kLow = 2 * kAmxTileWords;
      Transposed ? load_a<Rows>(a + kLow) : load_b<Columns>(b + kLow);
      multiply_registers<Rows, Columns>();
      Transposed ? load_b<Columns>(b + kLow) : load_a<Rows>(a + kLow);
      multiply_registers<Rows, Columns>();
      Transposed ? load_a<Rows>(a) : load_b<Columns>(b);
      multiply_registers<Rows, Columns>();
    }
  }
  float* const below = sums + kAmxTile * kSumColumns;
  _tile_stored(0, sums, kSumStride);
  if constexpr (Columns == 2) _tile_stored(1, sums + kAmxTile, kSumStride);
  if constexpr (Rows == 2) _tile_stored(2, below, kSumStride);
  if constexpr (Rows == 2 && Columns == 2) _tile_stored(3, below + kAmxTile, kSumStride);
}

template <class S, bool Transposed>
void multiply_strips(std::int64_t steps, std::int64_t rows, std::int64_t columns,
                     const std::uint32_t* a, const std::uint32_t* b, float* sums) {
  const bool two_rows = rows > kAmxTile, two_columns = columns > kAmxTile;
  if (two_rows && two_columns) return multiply_steps<S, Transposed, 2, 2>(steps, a, b, sums);
  if (two_rows) return multiply_steps<S, Transposed, 2, 1>(steps, a, b, sums);
  if (two_columns) return multiply_steps<S, Transposed, 1, 2>(steps, a, b, sums);
  multiply_steps<S, Transposed, 1, 1>(steps, a, b, sums);
}

// Sets `sums` to alpha A B + beta sums for `rows` rows of a strip of A, and `columns` columns of a
// strip of B.
template <class S>
void add_strips(std::int64_t steps, std::int64_t rows, std::int64_t columns, const std::uint32_t* a,
                const std::uint32_t* b, const SumsEpilogue& epilogue, bool is_transposed,
                float* sums) {
  const auto multiply = is_transposed ? &multiply_strips<S, true> : &multiply_strips<S, false>;
  if (epilogue.alpha == 1 && epilogue.beta == 0) {
    return multiply(steps, rows, columns, a, b, sums);
  }
  alignas(64) float product[kAmxStrip * kSumColumns] = {};
  multiply(steps, rows, columns, a, b, product);
  set_scaled(product, rows, epilogue, sums);
}

template <class S>
std::int64_t words_of_strip(std::int64_t depth) {
  return divide_up(depth, kAmxStep) * kAmxStepWords<S>;
}

// AMX multiplies 10 to 20 times as fast as the float kernel, so a thread must take more.
constexpr std::int64_t kMultiplyAdds = 16 * kMultiplyAddsPerChunk;

// The rows of a tile of C: their strips of A take about half of the L2 cache. With fewer, memory
// doesn't deliver B's strips as fast as AMX multiplies them.
std::int64_t rows_in_cache(std::int64_t words) {
  constexpr std::int64_t kCacheWords = 1 << 18;
  return kAmxStrip *
         std::clamp<std::int64_t>(kCacheWords / std::max<std::int64_t>(1, words), 3, 12);
}

// Calls f(block) for the blocks of a tile: one strip of columns, and as many rows as Sums takes.
template <class F>
void for_each_block(const Tile& tile, const F& f) {
  constexpr std::int64_t kRows = kFewRows / kAmxStrip * kAmxStrip;
  for (std::int64_t col = 0; col < tile.cols; col += kAmxStrip) {
    const std::int64_t cols = std::min<std::int64_t>(kAmxStrip, tile.cols - col);
    for (std::int64_t row = 0; row < tile.rows; row += kRows) {
      f(Tile{tile.row + row, std::min(kRows, tile.rows - row), tile.col + col, cols});
    }
  }
}

// The strips of A and B in memory. Strips of B are packed here if several rows of tiles share them.
// Else each tile packs its strips itself, one at a time, so that a strip is still in the cache.
template <class S>
class PackedStrips {
 public:
  PackedStrips(const Operand<S>& a, const Operand<S>& b, bool packs_b)
      : words_(words_of_strip<S>(a.cols)),
        a_strips_(divide_up(a.rows, kAmxStrip)),
        b_strips_(packs_b ? divide_up(b.cols, kAmxStrip) : 0),
        memory_(a_strips_ * words_, b_strips_ * words_),
        a_(memory_.take(a_strips_ * words_)),
        b_(memory_.take(b_strips_ * words_)) {
    parallel_for(0, a_strips_ + b_strips_, grain_of(a.cols * kAmxStrip, kCopiesPerChunk),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     if (i < a_strips_) {
                       pack_amx_a(a, i, a_ + i * words_);
                     } else {
                       pack_amx_b(b, i - a_strips_, b_ + (i - a_strips_) * words_);
                     }
                   }
                 });
  }

  std::int64_t steps() const { return words_ / kAmxStepWords<S>; }
  const std::uint32_t* a(std::int64_t row) const { return a_ + row / kAmxStrip * words_; }
  const std::uint32_t* b(std::int64_t col) const { return b_ + col / kAmxStrip * words_; }

 private:
  std::int64_t words_, a_strips_, b_strips_;
  Scratch<std::uint32_t> memory_;
  std::uint32_t *a_, *b_;
};
#endif

}  // namespace

bool uses_amx(DType dtype) {
  const bool has_format =
      dtype == kFloat16 || (dtype == kBFloat16 && backends::cpu::allow_bf16_dot());
  return !kLibraryMultiplies && has_format && allowed && has_amx();
}

template <class S>
void multiply_by_amx([[maybe_unused]] const Operand<S>& a, [[maybe_unused]] const Operand<S>& b,
                     [[maybe_unused]] const SumsEpilogue& epilogue,
                     [[maybe_unused]] const MutableMatrixView& c,
                     [[maybe_unused]] bool is_transposed) {
  if (kHasAmxRow && c.rows == 1) return multiply_amx_row(a, b, epilogue, c, is_transposed);
#if defined(HALFGRAD_AMX)
  const std::int64_t words = words_of_strip<S>(a.cols);
  const Tiling tiles(c.rows, c.cols, kAmxStrip, kAmxStrip, rows_in_cache(words));
  const PackedStrips<S> strips(a, b, !tiles.one_row());
  const std::int64_t own_words = tiles.one_row() ? words : 0;
  const std::int64_t grain = tiles.one_row() ? grain_of(tiles[0].cols * a.cols, kCopiesPerChunk)
                                             : grain_of(tiles.area() * a.cols, kMultiplyAdds);
  parallel_for(0, tiles.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    Scratch<std::uint32_t> memory(own_words);
    std::uint32_t* const own_b = memory.take(own_words);
    const TileRegisters registers(c.rows);
    for (std::int64_t index = begin; index < end; ++index) {
      for_each_block(tiles[index], [&](const Tile& block) {
        const std::uint32_t* const b_strip = own_b == nullptr ? strips.b(block.col) : own_b;
        if (own_b != nullptr) pack_amx_b(b, block.col / kAmxStrip, own_b);
        compute_sums(block, epilogue, c, [&](std::int64_t, std::int64_t columns, Sums& sums) {
          for (std::int64_t row = 0; row < block.rows; row += kAmxStrip) {
            add_strips<S>(strips.steps(), std::min<std::int64_t>(kAmxStrip, block.rows - row),
                          columns, strips.a(block.row + row), b_strip, epilogue, is_transposed,
                          sums.row(row));
          }
        });
      });
    }
  });
#endif
}

template void multiply_by_amx(const Operand<Half>&, const Operand<Half>&, const SumsEpilogue&,
                              const MutableMatrixView&, bool);
template void multiply_by_amx(const Operand<BFloat16>&, const Operand<BFloat16>&,
                              const SumsEpilogue&, const MutableMatrixView&, bool);

}  // namespace detail
}  // namespace halfgrad
