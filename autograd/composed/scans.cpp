#include <halfgrad/autograd/composed/scans.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <halfgrad/autograd/composed/pointwise.h>
#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

// Returns all prefixes combine(x_0, ..., x_i) of an associative function. Before each pass element
// i combines the last `shift` elements up to i, so that log2(n) passes are enough (Hillis and
// Steele 1986, "Data parallel algorithms").
template <class F>
Tensor prefixes(const Tensor& x, int dim, const F& combine) {
  Tensor result = x;
  const std::int64_t count = x.size(dim);
  for (std::int64_t shift = 1; shift < count; shift *= 2) {
    const std::int64_t rest = count - shift;
    const Tensor later = combine(narrow(result, dim, 0, rest), narrow(result, dim, shift, rest));
    result = cat({narrow(result, dim, 0, shift), later}, dim);
  }
  return result;
}

// Whether the product of any neighbours x_i ... x_j is far from overflow and underflow: the
// logarithms of the finite elements, other than 0, add up to less than 2^9.
bool has_moderate_products(const Tensor& x, int dim) {
  const NoGradGuard no_grad;
  const Tensor is_special = (x == 0) | ~isfinite(x);
  const Tensor sizes = abs(log2(masked_fill(abs(x), is_special, 1)));
  return amax(sum(sizes, dim)).item<double>() < 512;
}

// Multiplies one element after the other: a product that overflows only without the elements
// before it never exists.
Tensor products_one_by_one(const Tensor& x, int dim) {
  std::vector<Tensor> products{select(x, dim, 0)};
  for (std::int64_t i = 1; i < x.size(dim); ++i) {
    products.push_back(products.back() * select(x, dim, i));
  }
  return stack(products, dim);
}

template <bool kMax>
std::tuple<Tensor, Tensor> running_extreme(const char* op, const Tensor& self, std::int64_t dim) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), op);
  if (self.dim() == 0) {
    return {clone(self), zeros({}, {.dtype = kLong, .device = self.device()})};
  }
  const std::int64_t count = self.size(d);
  Shape sizes = self.sizes();
  for (int i = 0; i < self.dim(); ++i) sizes[i] = i == d ? count : 1;
  const Tensor places = reshape(arange(count, {.device = self.device()}), sizes);
  Tensor values = self.detach(), indices = expand(places, self.sizes());
  for (std::int64_t shift = 1; shift < count; shift *= 2) {
    const std::int64_t rest = count - shift;
    const Tensor before = narrow(values, d, 0, rest), after = narrow(values, d, shift, rest);
    const Tensor replaces =
        ((kMax ? after >= before : after <= before) & ~isnan(before)) | isnan(after);
    const auto joined = [&](const Tensor& x) {
      const Tensor chosen = where(replaces, narrow(x, d, shift, rest), narrow(x, d, 0, rest));
      return cat({narrow(x, d, 0, shift), chosen}, d);
    };
    values = joined(values);
    indices = joined(indices);
  }
  const Tensor own = contiguous(indices);
  return {gather(self, d, own), own};
}

void expect_no_bool(const Tensor& y) {
  if (y.dtype() == kBool) detail::fail("trapezoid", "expected any dtype but bool, got bool");
  if (y.dim() == 0) detail::fail("trapezoid", "expected one dimension or more, got []");
}

// y_i + y_(i+1)
Tensor neighbour_sums(const Tensor& y, int d) {
  const std::int64_t rest = std::max<std::int64_t>(y.size(d) - 1, 0);
  return narrow(y, d, y.size(d) - rest, rest) + narrow(y, d, 0, rest);
}

// PyTorch computes an integral by sum().
constexpr Precision kOfSums = Precision::wide_range;

// float64 for integers, which are exact there.
DType integral_dtype(const Tensor& y) { return y.is_floating_point() ? kFloat32 : kFloat64; }

}  // namespace

Tensor cumprod(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "cumprod");
  const Tensor x = to(self, dtype.value_or(self.is_floating_point() ? self.dtype() : kLong));
  const bool is_copy = self.dim() == 0 || self.size(d) < 2 || self.numel() == 0;
  const auto multiply = [](const Tensor& a, const Tensor& b) { return a * b; };
  if (!x.is_floating_point()) return is_copy ? clone(x) : prefixes(x, d, multiply);
  const auto compute = [&](const Tensor& wide) {
    if (is_copy) return clone(wide);
    return has_moderate_products(wide, d) ? prefixes(wide, d, multiply)
                                          : products_one_by_one(wide, d);
  };
  // Autocast respects the dtype that the caller names.
  const Precision precision = dtype ? Precision::any : Precision::wide_range;
  return detail::widened("cumprod", precision, kFloat64, compute, x);
}

std::tuple<Tensor, Tensor> cummax(const Tensor& self, std::int64_t dim) {
  return running_extreme<true>("cummax", self, dim);
}
std::tuple<Tensor, Tensor> cummin(const Tensor& self, std::int64_t dim) {
  return running_extreme<false>("cummin", self, dim);
}

Tensor logcumsumexp(const Tensor& self, std::int64_t dim) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "logcumsumexp");
  if (!self.is_floating_point()) {
    detail::fail("logcumsumexp", "expected a floating point tensor, got {}", self.dtype());
  }
  if (self.dim() == 0 || self.size(d) < 2) return clone(self);
  const auto compute = [d](const Tensor& x) { return prefixes(x, d, logaddexp); };
  return detail::widened(kFloat64, compute, self);
}

Tensor diff(const Tensor& self, std::int64_t n, std::int64_t dim, const Tensor& prepend,
            const Tensor& append) {
  if (self.dim() == 0) detail::fail("diff", "expected one dimension or more, got []");
  if (n < 0) detail::fail("diff", "expected n >= 0, got {}", n);
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "diff");
  if (n == 0) return clone(self);  // without `prepend` and `append`, as in PyTorch
  std::vector<Tensor> parts{self};
  if (prepend.defined()) parts.insert(parts.begin(), prepend);
  if (append.defined()) parts.push_back(append);
  const Tensor x = parts.size() == 1 ? self : cat(parts, d);
  const auto compute = [&](const Tensor& wide) {
    Tensor result = wide;
    for (std::int64_t i = std::min(n, x.size(d)); i > 0; --i) {
      const std::int64_t rest = result.size(d) - 1;
      const Tensor after = narrow(result, d, 1, rest), before = narrow(result, d, 0, rest);
      result = x.dtype() == kBool ? ne(after, before) : after - before;
    }
    return result;
  };
  if (x.size(d) == 0) return clone(x);
  return x.is_floating_point() ? detail::widened(kFloat32, compute, x) : compute(x);
}

Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim) {
  expect_no_bool(y);
  expect_no_bool(x);
  const int ndim = static_cast<int>(y.dim());
  const int d = wrap_dim(dim, ndim, "trapezoid");
  Shape sizes;
  if (x.dim() == 1) {
    for (int i = 0; i < ndim; ++i) sizes.push_back(i == d ? x.size(0) : 1);
  } else {
    for (int i = 0; i < ndim - x.dim(); ++i) sizes.push_back(1);
    if (x.dim() <= ndim) {
      for (const std::int64_t size : x.sizes()) sizes.push_back(size);
    }
  }
  if (x.dim() > ndim || sizes[d] != y.size(d) || !expands_to(sizes, y.sizes())) {
    detail::fail("trapezoid", "expected points x for dimension {} of y, got {} and {}", d,
                 x.sizes(), y.sizes());
  }
  const auto compute = [&](const Tensor& heights, const Tensor& points) {
    const Tensor sums = neighbour_sums(heights, d);
    if (sums.size(d) == 0) return sum(sums, d);
    return sum(sums * diff(reshape(points, sizes), 1, d), d) / 2;
  };
  const DType least = promote_types(integral_dtype(y), integral_dtype(x));
  return detail::widened("trapezoid", kOfSums, least, compute, y, x);
}

Tensor trapezoid(const Tensor& y, Scalar dx, std::int64_t dim) {
  expect_no_bool(y);
  const int d = wrap_dim(dim, static_cast<int>(y.dim()), "trapezoid");
  const auto compute = [&](const Tensor& heights) {
    return sum(neighbour_sums(heights, d), d) * (dx.to<double>() / 2);
  };
  return detail::widened("trapezoid", kOfSums, integral_dtype(y), compute, y);
}

Tensor trapz(const Tensor& y, const Tensor& x, std::int64_t dim) { return trapezoid(y, x, dim); }
Tensor trapz(const Tensor& y, double dx, std::int64_t dim) { return trapezoid(y, Scalar(dx), dim); }

}  // namespace halfgrad
