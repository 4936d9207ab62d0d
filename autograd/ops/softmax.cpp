#include <cmath>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/softmax_rows.h>
#include <halfgrad/core/engines/rows.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// softmax:     y_i = exp(x_i) / sum_j exp(x_j) along `dim`
//              dx_i = y_i (dy_i - sum_j dy_j y_j)
Tensor softmax_gradient(const Tensor& dy, const Tensor& y, int dim) {
  return y * (dy - sum(dy * y, Shape{dim}, true));
}
// log_softmax: y_i = x_i - log(sum_j exp(x_j)) along `dim`
//              dx_i = dy_i - exp(y_i) sum_j dy_j
Tensor log_softmax_gradient(const Tensor& dy, const Tensor& y, int dim) {
  return dy - exp(y) * sum(dy, Shape{dim}, true);
}

// Returns a view with `dim` as its last dimension.
Array rows_along(const Array& x, int dim) {
  return x.ndim() == 0 ? x.reshape({1}) : x.transpose(dim, -1);
}

struct SoftmaxRows {
  static constexpr auto name = "softmax";
  using Forward = SoftmaxRow;
  using Gradient = SoftmaxGradientRow;
  static constexpr auto gradient = softmax_gradient;
};
struct LogSoftmaxRows {
  static constexpr auto name = "log_softmax";
  using Forward = LogSoftmaxRow;
  using Gradient = LogSoftmaxGradientRow;
  static constexpr auto gradient = log_softmax_gradient;
};

template <class Rows>
struct AlongDimension {
  static constexpr auto name = Rows::name;
  static constexpr auto precision = Precision::wide_accumulate;
  static constexpr unsigned saves = kSavesOutput;
  int dim;
  std::optional<DType> dtype;

  Array forward(const Array& x) const {
    const DType result = dtype.value_or(x.dtype());
    if (!is_floating_point(result)) {
      fail(name, "expected a floating point dtype, got {}", result);
    }
    Array y = Array::empty(x.sizes(), result, x.device());
    run(typename Rows::Forward{}, promote_types(result, x.dtype()), y, x);
    return y;
  }
  void backward(const Backward<1>& b) const {
    if (GradMode::is_enabled()) return b.set(0, Rows::gradient(b.grad(), b.output(), dim));
    const Array y = b.output().array();
    const Array dx = Array::empty(y.sizes(), y.dtype(), y.device());
    run(typename Rows::Gradient{}, y.dtype(), dx, b.grad().array(), y);
    b.set(0, Tensor(dx));
  }

 private:
  template <class Kernel, class... In>
  void run(const Kernel& kernel, DType compute, const Array& out, const In&... in) const {
    if (out.numel() == 0) return;
    const std::array<Array, sizeof...(In)> views{rows_along(in, dim)...};
    const Array target = rows_along(out, dim);
    std::array<const Array*, sizeof...(In)> operands;
    for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = &views[i];
    parallel_rows(kernel, compute, out.numel() / target.sizes().back(), operands,
                  std::array{&target});
  }
};

}  // namespace

OpEntry softmax_entry() {
  OpEntry entry{.name = SoftmaxRows::name,
                .precision = Precision::wide_accumulate,
                .roundoffs = 16,
                .examples = {},
                .bounded_reference = of_rows(softmax_of)};
  add_row_examples(
      entry, [](const Tensor& x, std::int64_t dim) { return softmax(x, dim); },
      in_double(softmax_of));
  return entry;
}

OpEntry log_softmax_entry() {
  OpEntry entry{.name = LogSoftmaxRows::name,
                .precision = Precision::wide_accumulate,
                .roundoffs = 16,
                .examples = {},
                .bounded_reference = of_rows(log_softmax_of)};
  add_row_examples(
      entry, [](const Tensor& x, std::int64_t dim) { return log_softmax(x, dim); },
      in_double(log_softmax_of));
  return entry;
}

}  // namespace detail

Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "softmax");
  return detail::apply(detail::AlongDimension<detail::SoftmaxRows>{d, dtype}, self);
}
Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "log_softmax");
  return detail::apply(detail::AlongDimension<detail::LogSoftmaxRows>{d, dtype}, self);
}

}  // namespace halfgrad
