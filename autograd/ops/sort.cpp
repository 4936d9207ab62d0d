#include <algorithm>
#include <cmath>
#include <numeric>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/engines/sorting.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// argsort: y = the indices of the first `count` elements along `dim` in sorted order
// sort, topk: x at these indices, and the indices
struct SortedIndices {
  static constexpr auto name = "argsort";
  static constexpr auto precision = Precision::any;
  int dim;
  std::int64_t count;
  bool descending;

  Array forward(const Array& x) const {
    const Array last = x.transpose(dim, -1).contiguous();
    const std::int64_t n = x.size(dim);
    const Array rows = last.reshape({n == 0 ? 0 : x.numel() / n, n});
    Shape sizes = last.sizes();
    sizes[sizes.size() - 1] = count;
    return row_order(name, rows, count, descending).reshape(sizes).transpose(dim, -1).contiguous();
  }
};

std::int64_t size_of(const char* op, const Tensor& self, std::int64_t dim) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), op);
  return self.dim() == 0 ? 1 : self.size(d);
}

Tensor sorted_indices(const Tensor& self, std::int64_t dim, std::int64_t count, bool descending) {
  if (self.dim() == 0) {
    return unsafe_view(sorted_indices(reshape(self, {1}), 0, 1, descending), {});
  }
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), SortedIndices::name);
  return apply(SortedIndices{d, count, descending}, self);
}

// gather() reads the values and defines their gradient.
std::tuple<Tensor, Tensor> values_at(const Tensor& self, std::int64_t dim, const Tensor& index) {
  return {gather(self, dim, index), index};
}

// Sorts by comparison: NaN is above every other value, and equal to NaN.
std::vector<double> reference_order(const std::vector<double>& row, bool descending) {
  const auto below = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  std::vector<double> order(row.size());
  std::iota(order.begin(), order.end(), 0.0);
  std::stable_sort(order.begin(), order.end(), [&](double i, double j) {
    const double a = row[static_cast<std::size_t>(i)], b = row[static_cast<std::size_t>(j)];
    return descending ? below(b, a) : below(a, b);
  });
  return order;
}

}  // namespace

OpEntry argsort_entry() {
  OpEntry entry{.name = SortedIndices::name,
                .precision = SortedIndices::precision,
                .roundoffs = 0,
                .differentiable = false,
                .examples = {}};
  for (const bool descending : {false, true}) {
    add_row_examples(
        entry, [=](const Tensor& x, std::int64_t dim) { return argsort(x, dim, descending); },
        [=](const std::vector<double>& row) { return reference_order(row, descending); });
  }
  return entry;
}

}  // namespace detail

Tensor argsort(const Tensor& self, std::int64_t dim, bool descending) {
  const std::int64_t size = detail::size_of("argsort", self, dim);
  return detail::sorted_indices(self, dim, size, descending);
}

std::tuple<Tensor, Tensor> sort(const Tensor& self, std::int64_t dim, bool descending) {
  const std::int64_t size = detail::size_of("sort", self, dim);
  return detail::values_at(self, dim, detail::sorted_indices(self, dim, size, descending));
}

std::tuple<Tensor, Tensor> topk(const Tensor& self, std::int64_t k, std::int64_t dim, bool largest,
                                bool /*sorted*/) {
  const std::int64_t size = detail::size_of("topk", self, dim);
  if (k < 0 || k > size) {
    detail::fail("topk", "expected k >= 0 and at most the size {} of dimension {}, got {}", size,
                 dim, k);
  }
  return detail::values_at(self, dim, detail::sorted_indices(self, dim, k, largest));
}

}  // namespace halfgrad
