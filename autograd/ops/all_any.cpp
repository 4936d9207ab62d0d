#include <algorithm>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/reduced_dims.h>
#include <halfgrad/core/engines/reduce.h>

namespace halfgrad {
namespace detail {
namespace {

// all: y = min_i [x_i != 0] over the reduced dimensions
// any: y = max_i [x_i != 0]
// NaN counts as true.
template <bool kAll>
struct TruthReduction {
  static constexpr bool integers = true;

  template <class T>
  HG_HD static T identity() {
    return T(kAll ? 1 : 0);
  }
  template <class T>
  HG_HD T map(T x) const {
    return select(x != T(0), T(1), T(0));
  }
  template <class T>
  HG_HD T combine(T a, T b) const {
    return select(kAll ? a < b : b < a, a, b);
  }
  template <class T>
  HG_HD T finish(T total, std::int64_t) const {
    return total;
  }
};

template <bool kAll>
struct Truth {
  static constexpr auto name = kAll ? "all" : "any";
  static constexpr auto precision = Precision::any;
  unsigned mask;
  bool keepdim;

  Array forward(const Array& x) const {
    // uint8 stays uint8, as in PyTorch, where it once was the dtype of masks.
    const DType dtype = x.dtype() == DType::u8 ? DType::u8 : DType::boolean;
    Array out = Array::empty(reduced_sizes(x.sizes(), mask, keepdim), dtype, x.device());
    reduce(TruthReduction<kAll>{}, x.dtype(), out, x, mask);
    return out;
  }
};

template <bool kAll>
Tensor truth(const Tensor& self, const Shape& dims, bool keepdim) {
  const unsigned mask = dims_mask(dims, static_cast<int>(self.dim()), Truth<kAll>::name);
  return apply(Truth<kAll>{mask, keepdim}, self);
}

template <bool kAll>
OpEntry truth_entry() {
  OpEntry entry{.name = Truth<kAll>::name,
                .precision = Truth<kAll>::precision,
                .roundoffs = 0,
                .differentiable = false,
                .examples = {}};
  add_reduction_examples(
      entry, "",
      [](const Tensor& x, const Shape& dims, bool keepdim) {
        return truth<kAll>(x, dims, keepdim);
      },
      [](const std::vector<double>& row) {
        const auto count = std::count(row.begin(), row.end(), 0.0);
        const bool holds = kAll ? count == 0 : count < static_cast<std::ptrdiff_t>(row.size());
        return std::vector{holds ? 1.0 : 0.0};
      },
      {.sizes = {}, .kind = OperandSpec::Kind::boolean, .differentiable = false});
  return entry;
}

}  // namespace

OpEntry all_entry() { return truth_entry<true>(); }
OpEntry any_entry() { return truth_entry<false>(); }

}  // namespace detail

Tensor all(const Tensor& self) { return detail::truth<true>(self, {}, false); }
Tensor all(const Tensor& self, std::int64_t dim, bool keepdim) {
  return detail::truth<true>(self, {dim}, keepdim);
}
Tensor any(const Tensor& self) { return detail::truth<false>(self, {}, false); }
Tensor any(const Tensor& self, std::int64_t dim, bool keepdim) {
  return detail::truth<false>(self, {dim}, keepdim);
}

}  // namespace halfgrad
