#include <halfgrad/core/engines/rows.h>

#include <algorithm>
#include <vector>

#include <halfgrad/core/thread_pool.h>

namespace halfgrad::detail {

template <class T>
void run_rows(RowKernel<T> kernel, const void* f, std::int64_t rows, const Array* const* in,
              int inputs, const Array* const* out, int outputs) {
  std::vector<TileView> in_views;
  std::vector<TileView> out_views;
  std::int64_t widest = 1;
  std::int64_t scratch_size = 0;
  const auto add = [&](const Array& operand) {
    const std::int64_t columns = operand.sizes().back();
    widest = std::max(widest, columns);
    scratch_size += columns;
  };
  for (int i = 0; i < inputs; ++i) {
    add(*in[i]);
    in_views.emplace_back(*in[i], in[i]->sizes());
  }
  for (int i = 0; i < outputs; ++i) {
    add(*out[i]);
    out_views.emplace_back(*out[i]);
  }
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / 4 / widest);
  parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> scratch(static_cast<std::size_t>(scratch_size));
    std::vector<Row<const T>> sources;
    std::vector<Row<T>> targets;
    for (std::int64_t row = begin; row < end; ++row) {
      T* free = scratch.data();
      sources.clear();
      targets.clear();
      for (int i = 0; i < inputs; ++i) {
        const std::int64_t n = in[i]->sizes().back();
        sources.emplace_back(in_views[static_cast<std::size_t>(i)].read(row * n, n, free), n);
        free += n;
      }
      for (int i = 0; i < outputs; ++i) {
        const std::int64_t n = out[i]->sizes().back();
        targets.emplace_back(out_views[static_cast<std::size_t>(i)].target(row * n, free), n);
        free += n;
      }
      kernel(f, sources.data(), targets.data());
      for (int i = 0; i < outputs; ++i) {
        const std::int64_t n = out[i]->sizes().back();
        T* const values = targets[static_cast<std::size_t>(i)].data();
        out_views[static_cast<std::size_t>(i)].commit(row * n, n, values);
      }
    }
  });
}

template void run_rows(RowKernel<double>, const void*, std::int64_t, const Array* const*, int,
                       const Array* const*, int);
template void run_rows(RowKernel<float>, const void*, std::int64_t, const Array* const*, int,
                       const Array* const*, int);

}  // namespace halfgrad::detail
