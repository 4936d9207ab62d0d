#include <cmath>
#include <limits>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/reduced_dims.h>
#include <halfgrad/autograd/ops/shared/rows_of.h>
#include <halfgrad/core/engines/rows.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad {
namespace detail {
namespace {

// var: y = sum_i (x_i - mean(x))^2 / (n - correction) over the reduced dimensions
// std: y = its square root
//
// Subtracts the part of the sum that the rounding error of the mean causes: it exceeds the variance
// of nearly equal elements (Chan, Golub and LeVeque, "Algorithms for computing the sample
// variance", 1983, eq. 1.7). The difference may round below 0, and counts as 0 then.
//
// If squares of x_i are outside the range of T, computes the variance of x / m for m = max |x|, and
// multiplies by m^2 at the end: the standard deviation is within the range.
template <bool kRoot>
struct VarianceRow {
  double correction;

  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> x, Row<T> y) const {
    using Limits = std::numeric_limits<T>;
    T variance = variance_of<T>(team, x.size(), [&](auto i) { return x(i); });
    T scale = T(1);
    // A smaller variance may be inexact, since some squares were subnormal.
    if (!(variance > Limits::min() / Limits::epsilon() && variance < Limits::infinity())) {
      const T largest = team.max(x.size(), [&](auto i) { return math::abs(x(i)); });
      if (largest > T(0) && largest < Limits::infinity()) {
        scale = largest;
        variance = variance_of<T>(team, x.size(), [&](auto i) { return x(i) / scale; });
      }
    }
    team.once([&] {
      y.set(std::int64_t{0}, kRoot ? math::sqrt(variance) * scale : variance * scale * scale);
    });
  }

 private:
  template <class T, class Team, class F>
  HG_HD T variance_of(Team& team, std::int64_t n, const F& x) const {
    const T mu = team.sum(n, x) / static_cast<T>(n);
    const T rest = team.sum(n, [&](auto i) { return x(i) - mu; });
    const T squares = team.sum(n, [&](auto i) { return (x(i) - mu) * (x(i) - mu); }) -
                      rest * rest / static_cast<T>(n);
    const double freedom = std::max(0.0, static_cast<double>(n) - correction);
    return math::maximum(squares, T(0)) / static_cast<T>(freedom);
  }
};

template <bool kRoot>
struct Variance {
  static constexpr auto name = kRoot ? "std" : "var";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kRoot ? operands(0) | kSavesOutput : operands(0);
  unsigned mask;
  bool keepdim;
  double correction;

  Array forward(const Array& x) const {
    if (!is_floating_point(x.dtype())) {
      fail(name, "expected a floating point tensor, got {}", x.dtype());
    }
    Array y = Array::empty(reduced_sizes(x.sizes(), mask, keepdim), x.dtype(), x.device());
    const Array rows = rows_of(x, mask);
    const Array out = y.reshape({y.numel(), 1});
    if (rows.numel() == 0) {
      y.fill_(std::numeric_limits<double>::quiet_NaN());
    } else {
      parallel_rows(VarianceRow<kRoot>{correction}, x.dtype(), y.numel(),
                    std::array<const Array*, 1>{&rows}, std::array<const Array*, 1>{&out});
    }
    return y;
  }
  // dx_i = 2 dvar (x_i - mean(x)) / (n - correction)
  // dvar = dy, or for std dy / (2 y), and 0 where y = 0
  void backward(const Backward<1>& b) const {
    const Tensor x = b.input(0);
    const Shape kept = reduced_sizes(x.sizes(), mask, true);
    const double count = static_cast<double>(x.numel()) / static_cast<double>(numel(kept));
    Shape dims;
    for (int d = 0; d < x.dim(); ++d) {
      if ((mask >> static_cast<unsigned>(d) & 1U) != 0) dims.push_back(d);
    }
    const Tensor scale = Scalar(2 / std::max(0.0, count - correction)) * variance_gradient(b);
    b.set(0, reshape(scale, kept) * (x - mean(x, dims, true)));
  }

 private:
  static Tensor variance_gradient(const Backward<1>& b) {
    if constexpr (kRoot) {
      const Tensor y = b.output();
      return masked_fill(b.grad() / (Scalar(2) * y), y == Scalar(0), 0);
    } else {
      return b.grad();
    }
  }
};

template <bool kRoot>
Tensor variance(const Tensor& self, const Shape& dim, std::optional<Scalar> correction,
                bool keepdim) {
  const unsigned mask = dims_mask(dim, static_cast<int>(self.dim()), Variance<kRoot>::name);
  return apply(Variance<kRoot>{mask, keepdim, correction.value_or(1).to<double>()}, self);
}

// sum_i (x_i - mean)^2 / (n - correction), or its root
template <bool kRoot>
BoundedRow variance_reference(double correction) {
  return [correction](const AnyArithmetic& a, Elements x) {
    if (x.empty()) return Elements{a.number(std::nan(""))};
    subtract_mean(a, x);
    const double divisor = static_cast<double>(x.size()) - correction;
    const Bounded variance = a.div(a.dot(x, x), a.constant(divisor));
    return Elements{kRoot ? a.sqrt(variance) : variance};
  };
}

template <bool kRoot>
OpEntry variance_entry() {
  OpEntry entry{.name = Variance<kRoot>::name,
                .precision = Variance<kRoot>::precision,
                .roundoffs = 16,
                .examples = {},
                .bounded_reference = of_rows(variance_reference<kRoot>(1))};
  for (const bool unbiased : {true, false}) {
    add_reduction_examples(
        entry, unbiased ? "" : "biased, ",
        [unbiased](const Tensor& x, const Shape& dims, bool keepdim) {
          return variance<kRoot>(x, dims, unbiased, keepdim);
        },
        in_double(variance_reference<kRoot>(unbiased ? 1 : 0)));
  }
  return entry;
}

}  // namespace

OpEntry var_entry() { return variance_entry<false>(); }
OpEntry std_entry() { return variance_entry<true>(); }

}  // namespace detail

Tensor var(const Tensor& self, const Shape& dim, std::optional<Scalar> correction, bool keepdim) {
  return detail::variance<false>(self, dim, correction, keepdim);
}
Tensor std(const Tensor& self, const Shape& dim, std::optional<Scalar> correction, bool keepdim) {
  return detail::variance<true>(self, dim, correction, keepdim);
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const Shape& dim,
                                    std::optional<Scalar> correction, bool keepdim) {
  return {var(self, dim, correction, keepdim), mean(self, dim, keepdim)};
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const Shape& dim,
                                    std::optional<Scalar> correction, bool keepdim) {
  return {std(self, dim, correction, keepdim), mean(self, dim, keepdim)};
}

}  // namespace halfgrad
