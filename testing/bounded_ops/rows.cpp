#include <algorithm>
#include <cmath>
#include <utility>

#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/testing/bounded_ops/recorded.h>

/// Softmax and norms: functions of rows.
namespace halfgrad::testing {
namespace {

using detail::Inputs;
using halfgrad::detail::fail;

/// f(a, row) of every row along the last dimension.
template <class F>
BoundedArray of_last(const BoundedArray& x, const F& f, detail::Vjp vjp) {
  const auto columns = static_cast<std::ptrdiff_t>(x.dim() == 0 ? 1 : x.sizes().back());
  Elements out;
  out.reserve(x.elements().size());
  for (auto row = x.elements().begin(); row != x.elements().end(); row += columns) {
    for (const Bounded& y : f(x.math(), Elements(row, row + columns))) out.push_back(y);
  }
  return detail::Recorder::recorded({x.arithmetic(), x.sizes(), std::move(out)}, {x},
                                    std::move(vjp));
}

/// `of_last` along `dim`.
template <class F>
BoundedArray along(const char* op, const BoundedArray& x, std::int64_t dim, const F& f,
                   const detail::Vjp& vjp) {
  detail::expect_defined(op, x);
  const int d = wrap_dim(dim, x.dim(), op);
  if (d + 1 >= x.dim()) return of_last(x, f, vjp);
  return of_last(x.transpose(d, -1), f, vjp).transpose(d, -1);
}

constexpr std::int64_t kLast = -1;

/// (x - mean) / sqrt(mean((x - mean)^2) + eps), or without the mean, along the last dimension
//
// With n the result and r the reciprocal of the divisor:
//     dx = r (dy - mean(dy) - n mean(dy n)),  without mean(dy) if not centred
BoundedArray normalized(const BoundedArray& x, bool centred, double eps) {
  return of_last(
      x,
      [=](const AnyArithmetic& a, const Elements& row) {
        return halfgrad::detail::normalized_row(a, row, centred, eps);
      },
      [=](const Inputs& in, const BoundedArray& n, const BoundedArray& dy) {
        const BoundedArray& row = in[0];
        const BoundedArray deviations = centred ? row - mean(row, kLast, true) : row;
        const BoundedArray r = rsqrt(mean(square(deviations), kLast, true) + eps);
        const BoundedArray varying = dy - n * mean(dy * n, kLast, true);
        return Inputs{r * (centred ? varying - mean(dy, kLast, true) : varying)};
      });
}

/// y = normalized(x) w with bounds that allow x (w / divisor), too.
BoundedArray in_either_order(const BoundedArray& y, const BoundedArray& x,
                             const BoundedArray& weight, bool centred, double eps) {
  Elements out;
  const auto columns = static_cast<std::ptrdiff_t>(x.size(1));
  const Elements& w = weight.elements();
  for (auto row = x.elements().begin(); row != x.elements().end(); row += columns) {
    const Elements scaled =
        halfgrad::detail::weighted_row(x.math(), Elements(row, row + columns), w, centred, eps);
    out.insert(out.end(), scaled.begin(), scaled.end());
  }
  return detail::Recorder::recorded(
      {y.arithmetic(), y.sizes(), std::move(out)}, {y},
      [](const Inputs&, const BoundedArray&, const BoundedArray& dy) { return Inputs{dy}; });
}

BoundedArray norm(const char* op, const BoundedArray& x, const Shape& shape, bool centred,
                  const BoundedArray& weight, const BoundedArray& bias, double eps) {
  detail::expect_defined(op, x);
  const int first = x.dim() - shape.size();
  bool fits = first >= 0 && !shape.empty();
  for (int d = 0; fits && d < shape.size(); ++d) fits = x.sizes()[first + d] == shape[d];
  if (!fits) fail(op, "expected an array that ends in {}, got {}", shape, x.sizes());
  const std::int64_t columns = numel(shape);
  const std::int64_t rows = columns == 0 ? 0 : x.numel() / columns;
  const BoundedArray matrix = x.reshape({rows, columns});
  BoundedArray y = normalized(matrix, centred, eps).reshape(x.sizes());
  if (!centred) y = stored(y);  // PyTorch's models store x / deviation before the weight
  if (weight.defined()) {
    y = y * weight;
    if (weight.numel() == columns) y = in_either_order(y, matrix, weight, centred, eps);
  }
  return bias.defined() ? y + bias : y;
}

}  // namespace

// dx = y (dy - sum(dy y))
BoundedArray softmax(const BoundedArray& x, std::int64_t dim) {
  return along(
      "softmax", x, dim,
      [](const AnyArithmetic& a, const Elements& row) {
        return halfgrad::detail::softmax_of(a, row);
      },
      [](const Inputs&, const BoundedArray& y, const BoundedArray& dy) {
        return Inputs{y * (dy - sum(dy * y, kLast, true))};
      });
}

// dx = dy - exp(y) sum(dy)
BoundedArray log_softmax(const BoundedArray& x, std::int64_t dim) {
  return along(
      "log_softmax", x, dim,
      [](const AnyArithmetic& a, const Elements& row) {
        return halfgrad::detail::log_softmax_of(a, row);
      },
      [](const Inputs&, const BoundedArray& y, const BoundedArray& dy) {
        return Inputs{dy - exp(y) * sum(dy, kLast, true)};
      });
}

BoundedArray layer_norm(const BoundedArray& x, const Shape& normalized_shape,
                        const BoundedArray& weight, const BoundedArray& bias, double eps) {
  return norm("layer_norm", x, normalized_shape, true, weight, bias, eps);
}

BoundedArray rms_norm(const BoundedArray& x, const Shape& normalized_shape,
                      const BoundedArray& weight, double eps) {
  return norm("rms_norm", x, normalized_shape, false, weight, {}, eps);
}

}  // namespace halfgrad::testing
