#include <limits>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/reduced_dims.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad {
namespace detail {
namespace {

// y = max_i x_i (amin: min_i x_i) over the reduced dimensions; NaN if there is one
template <bool kMax>
struct ExtremeReduction {
  static constexpr bool integers = true;

  template <class T>
  HG_HD static T identity() {
    using Limits = std::numeric_limits<scalar_t<T>>;
    const auto top = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const auto bottom = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return T(kMax ? bottom : top);
  }
  template <class T>
  HG_HD T map(T x) const {
    return x;
  }
  template <class T>
  HG_HD T combine(T a, T b) const {
    return kMax ? math::maximum(a, b) : math::minimum(a, b);
  }
  template <class T>
  HG_HD T finish(T total, std::int64_t) const {
    return total;
  }
};

template <bool kMax>
struct Extreme {
  static constexpr auto name = kMax ? "amax" : "amin";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesInputs | kSavesOutput;
  unsigned mask;
  bool keepdim;

  Array forward(const Array& x) const {
    expect_elements(x, mask, name);
    Array out = Array::empty(reduced_sizes(x.sizes(), mask, keepdim), x.dtype(), x.device());
    reduce(ExtremeReduction<kMax>{}, x.dtype(), out, x, mask);
    return out;
  }
  // dx_i = dy [x_i = y] / (number of j with x_j = y): ties share the gradient, and so do NaNs.
  // Counts in float32 at least: float16 has no odd integers above 2048.
  void backward(const Backward<1>& b) const {
    const Tensor x = b.input(0);
    const Shape kept = reduced_sizes(x.sizes(), mask, true);
    const DType counting = promote_types(x.dtype(), kFloat32);
    const Tensor chosen = logical_or(eq(x, reshape(b.output(), kept)), isnan(x)).to(counting);
    const Tensor shares = chosen / sum_to_size(chosen, kept);
    b.set(0, reshape(b.grad(), kept) * shares);
  }
};

template <bool kMax>
Tensor extreme(const Tensor& self, const Shape& dims, bool keepdim) {
  const unsigned mask = dims_mask(dims, static_cast<int>(self.dim()), Extreme<kMax>::name);
  return apply(Extreme<kMax>{mask, keepdim}, self);
}

// Returns the elements at the indices that argmax or argmin found, and the indices.
std::tuple<Tensor, Tensor> gathered(const Tensor& self, std::int64_t dim, const Tensor& index,
                                    bool keepdim) {
  if (self.dim() == 0) return {clone(self), index};
  const Tensor value = gather(self, dim, index);
  if (keepdim) return {value, index};
  const Shape sizes = squeeze(index, dim).sizes();
  return {unsafe_view(value, sizes), unsafe_view(index, sizes)};
}

template <bool kMax>
OpEntry extreme_entry() {
  OpEntry entry{.name = Extreme<kMax>::name,
                .precision = Extreme<kMax>::precision,
                .roundoffs = 0,
                .examples = {}};
  add_reduction_examples(
      entry, "",
      [](const Tensor& x, const Shape& dims, bool keepdim) {
        return extreme<kMax>(x, dims, keepdim);
      },
      [](const std::vector<double>& row) { return std::vector{row[place_of_extreme(row, kMax)]}; });
  return entry;
}

}  // namespace

OpEntry amax_entry() { return extreme_entry<true>(); }
OpEntry amin_entry() { return extreme_entry<false>(); }

}  // namespace detail

Tensor max(const Tensor& self) {
  return detail::with_op_name("max", "amax", [&] { return amax(self); });
}
Tensor min(const Tensor& self) {
  return detail::with_op_name("min", "amin", [&] { return amin(self); });
}
std::tuple<Tensor, Tensor> max(const Tensor& self, std::int64_t dim, bool keepdim) {
  wrap_dim(dim, static_cast<int>(self.dim()), "max");
  return detail::gathered(self, dim, argmax(self, dim, true), keepdim);
}
std::tuple<Tensor, Tensor> min(const Tensor& self, std::int64_t dim, bool keepdim) {
  wrap_dim(dim, static_cast<int>(self.dim()), "min");
  return detail::gathered(self, dim, argmin(self, dim, true), keepdim);
}
Tensor amax(const Tensor& self, const Shape& dim, bool keepdim) {
  return detail::extreme<true>(self, dim, keepdim);
}
Tensor amin(const Tensor& self, const Shape& dim, bool keepdim) {
  return detail::extreme<false>(self, dim, keepdim);
}

}  // namespace halfgrad
