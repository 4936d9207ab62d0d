#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <halfgrad/autograd/op_table/op_table.h>

/// Parts of references on AnyArithmetic (arithmetic.h) that several ops share: rows, means,
/// deviations and exponentials.
namespace halfgrad::detail {

/// Returns `count` elements from element `first` on, with this stride.
inline Elements strided(const AnyArithmetic& a, const Values& x, std::int64_t first,
                        std::int64_t count, std::int64_t stride = 1) {
  Elements picked;
  picked.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    picked.push_back(a.number(x.data[static_cast<std::size_t>(first + i * stride)]));
  }
  return picked;
}

inline Elements row_of(const AnyArithmetic& a, const Values& x, std::int64_t row) {
  const std::int64_t k = x.sizes.back();
  return strided(a, x, row * k, k);
}

/// The reference of an example: f evaluated in double, whose result has these sizes.
inline auto in_double(const Shape& sizes, const BoundedReference& f) {
  return [=](const std::vector<Values>& in) {
    Values out{sizes, {}};
    for (const Bounded& y : f(AnyArithmetic(), in)) out.data.push_back(y.value);
    return out;
  };
}

/// sum(x) / divisor, where kernels omit the sum of one element and the division by 1.
inline Bounded mean_of(const AnyArithmetic& a, const Elements& x, double divisor) {
  if (x.empty()) return a.number(std::nan(""));
  if (x.size() == 1 && divisor == 1) return x.front();
  return a.div(a.sum(x), a.constant(divisor));
}
inline Bounded mean_of(const AnyArithmetic& a, const Elements& x) {
  return mean_of(a, x, static_cast<double>(x.size()));
}

/// x - mean. The error of the mean is part of every difference. The resulting bound on a variance
/// allows two passes and Welford's updates, and refuses E[x^2] - E[x]^2. Their errors, with
/// kappa^2 = 1 + mean^2 / var (Chan, Golub and LeVeque, "Algorithms for computing the sample
/// variance", The American Statistician 1983):
///
///     two passes        n u + (n u kappa)^2
///     Welford           n u kappa
///     E[x^2] - E[x]^2   n u kappa^2
inline void subtract_mean(const AnyArithmetic& a, Elements& x) {
  const Bounded mean = mean_of(a, x);
  for (Bounded& each : x) each = a.sub(each, mean);
}

/// sqrt(mean(x^2) + eps)
inline Bounded deviation(const AnyArithmetic& a, const Elements& x, double eps) {
  const Bounded variance = a.div(a.dot(x, x), a.constant(static_cast<double>(x.size())));
  return a.sqrt(a.add(variance, a.constant(eps)));
}

/// exp(x_i - max), their sum, and the maximum. A kernel that reads the row once rescales the sum at
/// each new maximum, by an exp and a product: 6 operations on a term, not one.
struct Exponentials {
  static constexpr double kSteps = 6;

  Exponentials(const AnyArithmetic& a, const Elements& x)
      : largest(x.empty() ? a.number(-std::numeric_limits<double>::infinity()) : a.max(x)) {
    for (const Bounded& each : x) {
      shifted.push_back(a.sub(each, largest));
      terms.push_back(a.exp_by_exp2(shifted.back()));
    }
    total = a.rescaled_sum(terms, kSteps);
  }

  Bounded largest, total;
  Elements shifted, terms;
};

/// (x - mean) / deviation, or x / deviation if not centred
inline Elements normalized_row(const AnyArithmetic& a, Elements x, bool centred, double eps) {
  if (centred) subtract_mean(a, x);
  const Bounded divisor = deviation(a, x, eps);
  for (Bounded& each : x) each = a.div(each, divisor);
  return x;
}

/// (x - mean) / deviation w, or (x - mean) (w / deviation); without the mean if not centred.
/// Without it, PyTorch's models store x / deviation in 16 bits before the weight.
inline Elements weighted_row(const AnyArithmetic& a, Elements x, const Elements& weight,
                             bool centred, double eps) {
  if (centred) subtract_mean(a, x);
  const Bounded divisor = deviation(a, x, eps);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Bounded quotient = a.div(x[i], divisor);
    x[i] = a.either(a.mul(centred ? quotient : a.stored(quotient), weight[i]),
                    a.mul(x[i], a.div(weight[i], divisor)));
  }
  return x;
}

/// exp(x_i - max) / sum_j exp(x_j - max)
inline Elements softmax_of(const AnyArithmetic& a, const Elements& x) {
  Exponentials e(a, x);
  for (Bounded& term : e.terms) term = a.div(term, e.total);
  return e.terms;
}

/// max + log(sum_j exp(x_j - max)); for an infinite maximum that infinity, not NaN
inline Bounded logsumexp_of(const AnyArithmetic& a, const Elements& x) {
  const Exponentials e(a, x);
  return a.is_infinite(e.largest) ? e.largest : a.add(e.largest, a.log(e.total));
}

/// x_i - max - log(sum_j exp(x_j - max)), or x_i - (max + log(sum_j exp(x_j - max))), as kernels
/// that store the logsumexp for their backward pass
inline Elements log_softmax_of(const AnyArithmetic& a, const Elements& x) {
  Exponentials e(a, x);
  const Bounded log_total = a.log(e.total), logsumexp = a.add(e.largest, log_total);
  Elements y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    y.push_back(a.either(a.sub(e.shifted[i], log_total), a.sub(x[i], logsumexp)));
  }
  return y;
}

}  // namespace halfgrad::detail
