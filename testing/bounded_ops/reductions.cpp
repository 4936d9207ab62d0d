#include <algorithm>
#include <cmath>
#include <utility>

#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/testing/bounded_ops/recorded.h>

/// Reductions, each a function of the elements that it reduces.
namespace halfgrad::testing {

namespace detail {

Shape kept_sizes(const BoundedArray& x, const Shape& dims, const char* op) {
  expect_defined(op, x);
  Shape sizes = x.sizes();
  for (int d = 0; dims.empty() && d < sizes.size(); ++d) sizes[d] = 1;
  for (const std::int64_t d : dims) {
    if (x.dim() > 0) sizes[wrap_dim(d, x.dim(), op)] = 1;
  }
  return sizes;
}

}  // namespace detail

namespace {

using detail::Inputs;
using detail::kept_sizes;
using halfgrad::detail::fail;

/// f(a, elements) of the elements that share an index of the kept dimensions.
template <class F>
BoundedArray reduced(const char* op, const BoundedArray& x, const Shape& dims, bool keepdim,
                     const F& f, detail::Vjp vjp) {
  const Shape kept = kept_sizes(x, dims, op);
  Shape order, last, sizes;
  for (int d = 0; d < x.dim(); ++d) {
    const bool reduces = dims.empty() || std::any_of(dims.begin(), dims.end(), [&](auto dim) {
                           return wrap_dim(dim, x.dim(), op) == d;
                         });
    (reduces ? last : order).push_back(d);
    if (!reduces || keepdim) sizes.push_back(kept[d]);
  }
  for (const std::int64_t d : last) order.push_back(d);
  const Elements all = permute(x, order).elements();
  const auto rows = numel(kept);
  const auto columns = rows == 0 ? 0 : static_cast<std::ptrdiff_t>(all.size()) / rows;
  Elements out;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = all.begin() + row * columns;
    out.push_back(f(x.math(), Elements(first, first + columns)));
  }
  return detail::Recorder::recorded({x.arithmetic(), sizes, std::move(out)}, {x}, std::move(vjp));
}

/// y [reduced] as an array that broadcasts with x.
detail::Vjp spread(const Shape& kept,
                   const std::function<BoundedArray(const BoundedArray& x, const BoundedArray& y,
                                                    const BoundedArray& dy)>& f) {
  return [kept, f](const Inputs& in, const BoundedArray& y, const BoundedArray& dy) {
    return Inputs{f(in[0], y.reshape(kept), dy.reshape(kept))};
  };
}

double size_of_mean(const BoundedArray& x, const Shape& kept) {
  return static_cast<double>(x.numel()) /
         static_cast<double>(std::max<std::int64_t>(1, numel(kept)));
}

}  // namespace

BoundedArray sum(const BoundedArray& x, const Shape& dims, bool keepdim) {
  return reduced(
      "sum", x, dims, keepdim,
      [](const AnyArithmetic& a, const Elements& row) { return a.sum(row); },
      spread(kept_sizes(x, dims, "sum"),
             [](const BoundedArray& in, const BoundedArray&, const BoundedArray& dy) {
               return expand(dy, in.sizes());
             }));
}

BoundedArray mean(const BoundedArray& x, const Shape& dims, bool keepdim) {
  const Shape kept = kept_sizes(x, dims, "mean");
  return reduced(
      "mean", x, dims, keepdim,
      [](const AnyArithmetic& a, const Elements& row) { return halfgrad::detail::mean_of(a, row); },
      spread(kept, [kept](const BoundedArray& in, const BoundedArray&, const BoundedArray& dy) {
        return expand(dy / size_of_mean(in, kept), in.sizes());
      }));
}

// Equal largest elements share the gradient, as in libtorch.
BoundedArray amax(const BoundedArray& x, const Shape& dims, bool keepdim) {
  return reduced(
      "amax", x, dims, keepdim,
      [](const AnyArithmetic& a, const Elements& row) {
        if (row.empty()) fail("amax", "expected at least one element in a row; set .least");
        return a.max(row);
      },
      spread(kept_sizes(x, dims, "amax"),
             [dims](const BoundedArray& in, const BoundedArray& y, const BoundedArray& dy) {
               const BoundedArray largest = eq(in, y);
               return dy * (largest / sum(largest, dims, true));
             }));
}

BoundedArray amin(const BoundedArray& x, const Shape& dims, bool keepdim) {
  return -amax(-x, dims, keepdim);
}

BoundedArray logsumexp(const BoundedArray& x, const Shape& dims, bool keepdim) {
  return reduced(
      "logsumexp", x, dims, keepdim,
      [](const AnyArithmetic& a, const Elements& row) {
        return halfgrad::detail::logsumexp_of(a, row);
      },
      spread(kept_sizes(x, dims, "logsumexp"),
             [](const BoundedArray& in, const BoundedArray& y, const BoundedArray& dy) {
               return dy * exp(in - y);
             }));
}

}  // namespace halfgrad::testing
