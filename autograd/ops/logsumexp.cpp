#include <cmath>
#include <limits>

#include <halfgrad/autograd/creation_options.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/reduced_dims.h>
#include <halfgrad/autograd/ops/shared/rows_of.h>
#include <halfgrad/core/engines/rows.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad {
namespace detail {
namespace {

// y = log(sum_i exp(x_i)) over the reduced dimensions
//   = m + log(sum_i exp(x_i - m)),  m = max_i x_i, or 0 if that is infinite
struct LogSumExpRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> x, Row<T> y) const {
    const T largest = team.max(x.size(), [&](auto i) { return x(i); });
    const T shift = math::isinf(largest) ? T(0) : largest;
    const T total = team.sum(x.size(), [&](auto i) { return math::exp(x(i) - shift); });
    team.once([&] { y.set(std::int64_t{0}, shift + math::log(total)); });
  }
};

struct LogSumExp {
  static constexpr auto name = "logsumexp";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = operands(0) | kSavesOutput;
  unsigned mask;
  bool keepdim;

  Array forward(const Array& x) const {
    const DType dtype = is_floating_point(x.dtype()) ? x.dtype() : get_default_dtype();
    Array y = Array::empty(reduced_sizes(x.sizes(), mask, keepdim), dtype, x.device());
    const Array rows = rows_of(x, mask);
    const Array out = y.reshape({y.numel(), 1});
    if (rows.numel() == 0) {
      y.fill_(-std::numeric_limits<double>::infinity());
    } else {
      parallel_rows(LogSumExpRow{}, dtype, y.numel(), std::array<const Array*, 1>{&rows},
                    std::array<const Array*, 1>{&out});
    }
    return y;
  }
  // dx_i = dy exp(x_i - y), and 0 where y = -inf
  void backward(const Backward<1>& b) const {
    const Tensor x = b.input(0);
    const Shape kept = reduced_sizes(x.sizes(), mask, true);
    const Tensor y = reshape(b.output(), kept);
    const Tensor lowest = y == Scalar(-std::numeric_limits<double>::infinity());
    b.set(0, reshape(b.grad(), kept) * exp(x - masked_fill(y, lowest, 0)));
  }
};

}  // namespace

OpEntry logsumexp_entry() {
  const auto f = [](const AnyArithmetic& a, const Elements& row) {
    return Elements{logsumexp_of(a, row)};
  };
  OpEntry entry{.name = LogSumExp::name,
                .precision = LogSumExp::precision,
                .roundoffs = 16,
                .examples = {},
                .bounded_reference = of_rows(f)};
  add_reduction_examples(
      entry, "",
      [](const Tensor& x, const Shape& dims, bool keepdim) { return logsumexp(x, dims, keepdim); },
      in_double(f));
  return entry;
}

}  // namespace detail

Tensor logsumexp(const Tensor& self, const Shape& dim, bool keepdim) {
  const int ndim = static_cast<int>(self.dim());
  return detail::apply(detail::LogSumExp{detail::dims_mask(dim, ndim, "logsumexp"), keepdim}, self);
}

}  // namespace halfgrad
