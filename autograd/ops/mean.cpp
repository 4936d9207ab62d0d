#include <vector>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/reduced_dims.h>
#include <halfgrad/autograd/ops/shared/total.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = (sum_i x_i) / n over the n elements of the reduced dimensions
struct Mean {
  static constexpr auto name = "mean";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesNothing;
  unsigned mask;
  bool keepdim;
  std::optional<DType> dtype;
  Shape sizes = {};
  double count = 1;

  Array forward(const Array& x) {
    const DType result = dtype.value_or(x.dtype());
    if (!is_floating_point(result)) {
      fail("mean", "expected a floating point dtype, got {}", result);
    }
    sizes = x.sizes();
    Array out = Array::empty(reduced_sizes(sizes, mask, keepdim), result, x.device());
    count = static_cast<double>(numel(sizes)) /
            static_cast<double>(std::max<std::int64_t>(1, out.numel()));
    reduce(Total{count}, promote_types(result, x.dtype()), out, x, mask);
    return out;
  }
  // dx_i = dy / n
  void backward(const Backward<1>& b) const {
    b.set(0, spread(b.grad() / Scalar(count), sizes, mask));
  }
};

}  // namespace

OpEntry mean_entry() {
  const auto f = [](const AnyArithmetic& a, const Elements& row) {
    return Elements{mean_of(a, row)};
  };
  OpEntry entry{.name = Mean::name,
                .precision = Mean::precision,
                .examples = {},
                .bounded_reference = of_rows(f)};
  add_reduction_examples(
      entry, "",
      [](const Tensor& x, const Shape& dims, bool keepdim) { return mean(x, dims, keepdim); },
      in_double(f));
  return entry;
}

}  // namespace detail

Tensor mean(const Tensor& self, const Shape& dim, bool keepdim, std::optional<DType> dtype) {
  const int ndim = static_cast<int>(self.dim());
  return detail::apply(detail::Mean{detail::dims_mask(dim, ndim, "mean"), keepdim, dtype}, self);
}

Tensor mean(const Tensor& self, std::optional<DType> dtype) { return mean(self, {}, false, dtype); }

}  // namespace halfgrad
