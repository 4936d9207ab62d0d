#include <halfgrad/python/bindings/unique_slices.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/dims.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::python {
namespace {

/// The rows of a matrix on the host: where each group of equal rows begins, and its rows.
class RowGroups {
 public:
  template <class T>
  RowGroups(const T* elements, std::int64_t rows, std::int64_t columns, bool consecutive)
      : inverse(static_cast<std::size_t>(rows)) {
    const auto row = [&](std::int64_t i) {
      return std::span(elements + i * columns, static_cast<std::size_t>(columns));
    };
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    if (!consecutive) {
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return std::ranges::lexicographical_compare(row(a), row(b));
      });
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || !std::ranges::equal(row(order[i - 1]), row(order[i]))) {
        first.push_back(order[i]);
        counts.push_back(0);
      }
      ++counts.back();
      inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(counts.size()) - 1;
    }
  }

  std::vector<std::int64_t> first, inverse, counts;
};

RowGroups groups_of(const Tensor& rows, bool consecutive) {
  const Tensor host =
      rows.to(Device()).to(rows.is_floating_point() ? kFloat64 : kInt64).contiguous();
  const std::int64_t count = host.size(0), columns = host.size(1);
  if (rows.is_floating_point()) {
    return {host.array().data_as<double>(), count, columns, consecutive};
  }
  return {host.array().data_as<std::int64_t>(), count, columns, consecutive};
}

}  // namespace

UniqueSlices unique_slices(const char* op, const Tensor& input, std::int64_t dim,
                           bool consecutive) {
  if (input.dim() == 0) {
    detail::fail<std::out_of_range>(op, "expected one dimension or more with dim, got []");
  }
  const int d = wrap_dim(dim, static_cast<int>(input.dim()), op);
  const std::int64_t count = input.size(d);
  if (count > 0 && input.numel() == 0) {
    detail::fail(op, "expected slices with elements, got shape {}", input.sizes());
  }
  const std::int64_t columns = count == 0 ? 0 : input.numel() / count;
  const RowGroups groups =
      groups_of(reshape(movedim(input.detach(), d, 0), {count, columns}), consecutive);
  const auto indices = [&](const std::vector<std::int64_t>& values) {
    return tensor(values, {.dtype = kInt64, .device = input.device()});
  };
  return {index_select(input, d, indices(groups.first)), indices(groups.inverse),
          indices(groups.counts)};
}

}  // namespace halfgrad::python
