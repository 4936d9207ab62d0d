#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/reduced_dims.h>
#include <halfgrad/autograd/ops/shared/total.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = sum_i x_i over the reduced dimensions
struct Sum {
  static constexpr auto name = "sum";
  static constexpr auto precision = Precision::wide_accumulate;
  static constexpr unsigned saves = kSavesNothing;
  unsigned mask;
  bool keepdim;
  std::optional<DType> dtype;
  Shape sizes = {};

  Array forward(const Array& x) {
    sizes = x.sizes();
    const DType result = dtype.value_or(is_floating_point(x.dtype()) ? x.dtype() : DType::i64);
    const bool floats = is_floating_point(result) && is_floating_point(x.dtype());
    Array out = Array::empty(reduced_sizes(sizes, mask, keepdim), result, x.device());
    const Array terms = result == DType::boolean ? x.to(result) : x;
    reduce(Total{}, floats ? promote_types(result, x.dtype()) : result, out, terms, mask);
    return out;
  }
  // dx_i = dy
  void backward(const Backward<1>& b) const { b.set(0, spread(b.grad(), sizes, mask)); }
};

}  // namespace

OpEntry sum_entry() {
  // The error is relative to the sum of |x_i|, which far exceeds |y| in the examples.
  const auto f = [](const AnyArithmetic& a, const Elements& row) { return Elements{a.sum(row)}; };
  OpEntry entry{.name = Sum::name,
                .precision = Sum::precision,
                .roundoffs = 64,
                .examples = {},
                .bounded_reference = of_rows(f)};
  add_reduction_examples(
      entry, "",
      [](const Tensor& x, const Shape& dims, bool keepdim) { return sum(x, dims, keepdim); },
      in_double(f));
  return entry;
}

}  // namespace detail

Tensor sum(const Tensor& self, const Shape& dim, bool keepdim, std::optional<DType> dtype) {
  const int ndim = static_cast<int>(self.dim());
  return detail::apply(detail::Sum{detail::dims_mask(dim, ndim, "sum"), keepdim, dtype}, self);
}

Tensor sum(const Tensor& self, std::optional<DType> dtype) { return sum(self, {}, false, dtype); }

// Sums over the dimensions that expand() would add or repeat.
Tensor sum_to_size(const Tensor& self, const Shape& sizes) {
  if (!expands_to(sizes, self.sizes())) {
    detail::fail("sum_to_size", "expected sizes that expand to {}, got {}", self.sizes(), sizes);
  }
  const int added = static_cast<int>(self.dim()) - sizes.size();
  Shape dims;
  for (int i = 0; i < self.dim(); ++i) {
    if (i < added || (sizes[i - added] == 1 && self.size(i) != 1)) dims.push_back(i);
  }
  // PyTorch sums a tensor without dimensions, too: an integer becomes int64.
  if (sizes.empty() && !self.is_floating_point()) return sum(self);
  if (dims.empty()) return reshape(self, sizes);
  const detail::CastRuleScope no_rule(nullptr);
  return detail::unsafe_view(sum(self, dims, true), sizes);
}

}  // namespace halfgrad
