#include <halfgrad/emulator/cublaslt/values.h>

#include <algorithm>
#include <atomic>
#include <thread>

// The inner loop is compiled for AVX2 and AVX-512, too, and the library chooses when it is loaded.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HALFGRAD_EMULATOR_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HALFGRAD_EMULATOR_VECTOR_CLONES
#endif

namespace halfgrad::emulator {
namespace {

// A tile of the result is small enough for registers; a block of k keeps its operands in caches.
constexpr std::int64_t kTileRows = 4, kTileColumns = 8, kDepth = 512;

/// tile[j][i] = sum over k of a[k][i] b[k][j].
HALFGRAD_EMULATOR_VECTOR_CLONES
void multiply_tile(const double* a, const double* b, std::int64_t depth, double* tile) {
  double sums[kTileRows][kTileColumns] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t i = 0; i < kTileRows; ++i) {
      const double factor = a[k * kTileRows + i];
      for (std::int64_t j = 0; j < kTileColumns; ++j) {
        sums[i][j] += factor * b[k * kTileColumns + j];
      }
    }
  }
  for (std::int64_t i = 0; i < kTileRows; ++i) {
    for (std::int64_t j = 0; j < kTileColumns; ++j) tile[j * kTileRows + i] = sums[i][j];
  }
}

/// Rows [4p, 4p + 4) of the columns [begin, begin + depth), one after the other; rows beyond the
/// matrix are 0.
std::vector<double> pack_rows(const Values& a, std::int64_t begin, std::int64_t depth) {
  const std::int64_t panels = (a.rows + kTileRows - 1) / kTileRows;
  std::vector<double> packed(static_cast<std::size_t>(panels * depth * kTileRows));
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    double* to = packed.data() + panel * depth * kTileRows;
    const std::int64_t rows = std::min(kTileRows, a.rows - panel * kTileRows);
    for (std::int64_t k = 0; k < depth; ++k) {
      const double* from = a.column(begin + k) + panel * kTileRows;
      for (std::int64_t i = 0; i < rows; ++i) to[k * kTileRows + i] = from[i];
    }
  }
  return packed;
}

void pack_columns(const Values& b, std::int64_t first, std::int64_t columns, std::int64_t begin,
                  std::int64_t depth, double* packed) {
  std::fill_n(packed, depth * kTileColumns, 0.0);
  for (std::int64_t j = 0; j < columns; ++j) {
    const double* from = b.column(first + j) + begin;
    for (std::int64_t k = 0; k < depth; ++k) packed[k * kTileColumns + j] = from[k];
  }
}

/// Adds the product of one block of k to eight columns of the result.
void add_columns(const std::vector<double>& rows, const Values& b, std::int64_t first,
                 std::int64_t begin, std::int64_t depth, Values& result) {
  double columns_of_b[kDepth * kTileColumns], tile[kTileRows * kTileColumns];
  const std::int64_t columns = std::min(kTileColumns, result.columns - first);
  pack_columns(b, first, columns, begin, depth, columns_of_b);
  for (std::int64_t row = 0; row < result.rows; row += kTileRows) {
    multiply_tile(rows.data() + row * depth, columns_of_b, depth, tile);
    const std::int64_t in_tile = std::min(kTileRows, result.rows - row);
    for (std::int64_t j = 0; j < columns; ++j) {
      double* to = result.column(first + j) + row;
      for (std::int64_t i = 0; i < in_tile; ++i) to[i] += tile[j * kTileRows + i];
    }
  }
}

/// Calls f(i) for i in [0, count), on several threads if there is work for them.
template <class F>
void for_each_index(std::int64_t count, unsigned threads, F f) {
  if (threads <= 1 || count <= 1) {
    for (std::int64_t i = 0; i < count; ++i) f(i);
    return;
  }
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t i = next++; i < count; i = next++) f(i);
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

}  // namespace

Values multiply(const Values& a, const Values& b, unsigned threads) {
  Values result(a.rows, b.columns);
  const double operations = 2.0 * static_cast<double>(a.rows) * static_cast<double>(b.columns) *
                            static_cast<double>(a.columns);
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  if (operations < 1 << 24) threads = 1;
  const std::int64_t panels = (result.columns + kTileColumns - 1) / kTileColumns;
  for (std::int64_t begin = 0; begin < a.columns; begin += kDepth) {
    const std::int64_t depth = std::min(kDepth, a.columns - begin);
    const std::vector<double> rows = pack_rows(a, begin, depth);
    for_each_index(panels, threads, [&](std::int64_t panel) {
      add_columns(rows, b, panel * kTileColumns, begin, depth, result);
    });
  }
  return result;
}

}  // namespace halfgrad::emulator
