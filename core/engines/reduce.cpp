#include <halfgrad/core/engines/reduce.h>

#include <algorithm>
#include <vector>

#include <halfgrad/core/thread_pool.h>

namespace halfgrad::detail {
namespace {

// Columns that are reduced together, and rows combined in T before the totals are widened.
constexpr std::int64_t kColumns = 128;
constexpr std::int64_t kRowsPerFlush = 64;

bool has(unsigned dims, int dim) { return (dims >> static_cast<unsigned>(dim) & 1U) != 0; }

template <class T>
class Reduction {
 public:
  Reduction(const ReduceKernels<T>& kernels, const Array& out, const Array& in, unsigned dims)
      : k_(kernels), out_(out) {
    // Puts the kept dimensions first, but the innermost last if it is kept: memory is then read row
    // by row.
    const int last = in.ndim() - 1;
    by_column_ = last >= 0 && !has(dims, last) && in.sizes()[last] > 1;
    Shape order;
    for (int d = 0; d < in.ndim(); ++d) {
      if (!has(dims, d) && !(by_column_ && d == last)) order.push_back(d);
    }
    for (int d = 0; d < in.ndim(); ++d) {
      if (has(dims, d)) {
        order.push_back(d);
        count_ *= in.sizes()[d];
      }
    }
    if (by_column_) {
      order.push_back(last);
      columns_ = in.sizes()[last];
    }
    view_ = in.permute(order);
  }

  void run(std::int64_t outputs) const {
    if (outputs == 0) return;
    const TileView view(view_, view_.sizes());
    if (by_column_) {
      run_columns(view, outputs / columns_);
    } else {
      run_rows(view, outputs);
    }
  }

 private:
  using Total = total_t<T>;

  // Reduces the view [outputs, count]. Blocks of kGrain elements run in parallel, and their totals
  // are combined in order: the bits do not depend on the number of threads.
  void run_rows(const TileView& view, std::int64_t outputs) const {
    const std::int64_t blocks = std::max<std::int64_t>(1, (count_ + kGrain - 1) / kGrain);
    const std::int64_t block = std::min(count_, kGrain);
    std::vector<Total> totals(static_cast<std::size_t>(outputs * blocks));
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, block));
    parallel_for(0, outputs * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = i / blocks * count_;
        const std::int64_t from = i % blocks * kGrain;
        totals[static_cast<std::size_t>(i)] =
            row_total(view, row + from, row + std::min(count_, from + kGrain));
      }
    });
    for (std::int64_t i = 0; i < outputs; ++i) {
      const Total* const parts = totals.data() + i * blocks;
      Total total = parts[0];
      for (std::int64_t b = 1; b < blocks; ++b) total = k_.combine(k_.reduction, total, parts[b]);
      store(i, total);
    }
  }

  Total row_total(const TileView& view, std::int64_t begin, std::int64_t end) const {
    alignas(64) T scratch[kTile];
    auto total = static_cast<Total>(k_.identity);
    for (std::int64_t at = begin; at < end; at += kTile) {
      const std::int64_t n = std::min(kTile, end - at);
      const T part = k_.row(k_.reduction, view.read(at, n, scratch), n);
      total = k_.combine(k_.reduction, total, static_cast<Total>(part));
    }
    return total;
  }

  // Reduces the view [outer, count, columns] along `count`, for kColumns columns at a time.
  void run_columns(const TileView& view, std::int64_t outer) const {
    const std::int64_t blocks = (columns_ + kColumns - 1) / kColumns;
    const std::int64_t grain =
        std::max<std::int64_t>(1, kGrain / (kColumns * std::max<std::int64_t>(1, count_)));
    parallel_for(0, outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        column_block(view, i / blocks, i % blocks * kColumns);
      }
    });
  }

  void column_block(const TileView& view, std::int64_t outer, std::int64_t column) const {
    const std::int64_t n = std::min(kColumns, columns_ - column);
    alignas(64) T scratch[kColumns];
    alignas(64) T partial[kColumns];
    Total totals[kColumns];
    std::fill_n(totals, n, static_cast<Total>(k_.identity));
    for (std::int64_t row = 0; row < count_; row += kRowsPerFlush) {
      std::fill_n(partial, n, k_.identity);
      for (std::int64_t r = row; r < std::min(count_, row + kRowsPerFlush); ++r) {
        const T* const x = view.read((outer * count_ + r) * columns_ + column, n, scratch);
        k_.columns(k_.reduction, x, partial, n);
      }
      for (std::int64_t i = 0; i < n; ++i) {
        totals[i] = k_.combine(k_.reduction, totals[i], static_cast<Total>(partial[i]));
      }
    }
    for (std::int64_t i = 0; i < n; ++i) store(outer * columns_ + column + i, totals[i]);
  }

  void store(std::int64_t index, Total total) const {
    const Total result = k_.finish(k_.reduction, total, count_);
    Total scratch;
    Total* const target = out_.target(index, &scratch);
    *target = result;
    out_.commit(index, 1, target);
  }

  const ReduceKernels<T>& k_;
  TileView out_;
  Array view_;
  std::int64_t count_ = 1;
  std::int64_t columns_ = 1;
  bool by_column_ = false;
};

}  // namespace

template <class T>
void run_reduce(const ReduceKernels<T>& kernels, const Array& out, const Array& in, unsigned dims) {
  Reduction<T>(kernels, out, in, dims).run(out.numel());
}

template void run_reduce(const ReduceKernels<double>&, const Array&, const Array&, unsigned);
template void run_reduce(const ReduceKernels<float>&, const Array&, const Array&, unsigned);
template void run_reduce(const ReduceKernels<std::int64_t>&, const Array&, const Array&, unsigned);

}  // namespace halfgrad::detail
