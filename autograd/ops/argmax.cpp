#include <algorithm>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/reduced_dims.h>
#include <halfgrad/autograd/reference.h>
#include <halfgrad/autograd/rows_entry.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/core/tile.h>

namespace halfgrad {
namespace detail {
namespace {

// The first index of a row's largest (smallest) element; NaN counts as larger (smaller) than all.
template <bool kMax, class T>
std::int64_t first_extreme(const T* row, std::int64_t n) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n && row[best] == row[best]; ++i) {
    if ((kMax ? row[i] > row[best] : row[i] < row[best]) || row[i] != row[i]) best = i;
  }
  return best;
}

template <bool kMax>
struct ExtremeIndex {
  static constexpr auto name = kMax ? "argmax" : "argmin";
  static constexpr auto precision = Precision::any;
  int dim;
  bool keepdim;

  Array forward(const Array& x) const {
    const unsigned mask = 1U << static_cast<unsigned>(dim);
    expect_elements(x, mask, name);
    Array out = Array::empty(reduced_sizes(x.sizes(), mask, keepdim), DType::i64, x.device());
    const Array rows = x.transpose(dim, -1).contiguous();
    visit(x.dtype(), [&](auto tag) {
      using Stored = typename decltype(tag)::type;
      find(rows.to(dtype_of<compute_t<Stored>>()), compute_t<Stored>{}, out);
    });
    return out;
  }

 private:
  template <class T>
  void find(const Array& rows, T, const Array& out) const {
    const std::int64_t n = rows.sizes().back();
    // transpose(dim, -1) put the last dimension at `dim`: so it is with the indices.
    Shape order = rows.sizes();
    order[order.size() - 1] = 1;
    const Array found = Array::empty(order, DType::i64, out.device());
    const T* const row = rows.data_as<T>();
    auto* const best = found.data_as<std::int64_t>();
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / n);
    parallel_for(0, out.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) best[i] = first_extreme<kMax>(row + i * n, n);
    });
    out.copy_(found.transpose(dim, -1).reshape(out.sizes()));
  }
};

template <bool kMax>
Tensor extreme_index(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  const int ndim = static_cast<int>(self.dim());
  if (dim && ndim > 0) {
    return apply(ExtremeIndex<kMax>{wrap_dim(*dim, ndim, ExtremeIndex<kMax>::name), keepdim}, self);
  }
  if (dim) wrap_dim(*dim, ndim, ExtremeIndex<kMax>::name);
  const Tensor index = apply(ExtremeIndex<kMax>{0, false}, reshape(self, {-1}));
  return keepdim ? reshape(index, reduced_sizes(self.sizes(), ~0U, true)) : index;
}

template <bool kMax>
OpEntry extreme_index_entry() {
  OpEntry entry{.name = ExtremeIndex<kMax>::name,
                .precision = ExtremeIndex<kMax>::precision,
                .differentiable = false,
                .examples = {}};
  add_reduction_examples(
      entry, "",
      [](const Tensor& x, const Shape& dims, bool keepdim) {
        if (dims.empty()) return extreme_index<kMax>(x, std::nullopt, keepdim);
        return extreme_index<kMax>(x, dims[0], keepdim);
      },
      [](const std::vector<double>& row) {
        return std::vector{static_cast<double>(place_of_extreme(row, kMax))};
      },
      {.sizes = {}, .differentiable = false}, {{}, {0}, {1}, {-1}});
  return entry;
}

}  // namespace

OpEntry argmax_entry() { return extreme_index_entry<true>(); }
OpEntry argmin_entry() { return extreme_index_entry<false>(); }

}  // namespace detail

Tensor argmax(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  return detail::extreme_index<true>(self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  return detail::extreme_index<false>(self, dim, keepdim);
}

}  // namespace halfgrad
