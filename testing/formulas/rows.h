#pragma once

#include <halfgrad/testing/formulas/numbers.h>

/// Formulas of reductions, softmax and norms, for one row (see Rows in numbers.h).
namespace halfgrad::testing::formulas {

struct Sum {
  static constexpr bool defined_on_empty = true;
  template <class A>
  Numbers<A> operator()(const A& a, const Numbers<A>& x, const std::vector<Values>&) const {
    return {x.empty() ? a.number(0) : a.sum(x)};
  }
};

struct CumSum {
  static constexpr bool defined_on_empty = true;
  template <class A>
  Numbers<A> operator()(const A& a, const Numbers<A>& x, const std::vector<Values>&) const {
    return a.partial_sums(x);
  }
};

struct Prod {
  static constexpr bool defined_on_empty = true;
  template <class A>
  Numbers<A> operator()(const A& a, const Numbers<A>& x, const std::vector<Values>&) const {
    return {a.prod(x)};
  }
};

struct Mean {
  static constexpr bool defined_on_empty = true;
  template <class A>
  static Bounded of(const A& a, const Numbers<A>& x) {
    if (x.empty()) return a.number(std::nan(""));
    if (x.size() == 1) return x.front();
    return a.div(a.sum(x), a.constant(static_cast<double>(x.size())));
  }
  template <class A>
  Numbers<A> operator()(const A& a, const Numbers<A>& x, const std::vector<Values>&) const {
    return {of(a, x)};
  }
};

struct Norm {
  static constexpr bool defined_on_empty = true;
  template <class A>
  Numbers<A> operator()(const A& a, const Numbers<A>& x, const std::vector<Values>&) const {
    return {a.sqrt(a.dot(x, x))};
  }
};

/// x - mean. The error of the mean is part of every difference. The resulting bound on a variance
/// allows two passes and Welford's updates, and refuses E[x^2] - E[x]^2. Their errors, with
/// kappa^2 = 1 + mean^2 / var (Chan, Golub and LeVeque, "Algorithms for computing the sample
/// variance", The American Statistician 1983):
///
///     two passes        n u + (n u kappa)^2
///     Welford           n u kappa
///     E[x^2] - E[x]^2   n u kappa^2
template <class A>
void subtract_mean(const A& a, Numbers<A>& x) {
  const auto mean = Mean::of(a, x);
  for (auto& each : x) each = a.sub(each, mean);
}

/// sum (x - mean)^2 / (n - 1), or its root.
template <bool kRoot>
struct Variance {
  static constexpr bool defined_on_empty = true;
  template <class A>
  Numbers<A> operator()(const A& a, Numbers<A> x, const std::vector<Values>&) const {
    if (x.empty()) return {a.number(std::nan(""))};
    subtract_mean(a, x);
    const auto variance = a.div(a.dot(x, x), a.constant(static_cast<double>(x.size()) - 1));
    return {kRoot ? a.sqrt(variance) : variance};
  }
};

/// exp(x_i - max), their sum, and the maximum. A kernel that reads the row once rescales the sum at
/// each new maximum, by an exp and a product: 6 operations on a term, not one.
template <class A>
struct Exponentials {
  static constexpr double kSteps = 6;

  Exponentials(const A& a, const Numbers<A>& x) : largest(a.max(x)) {
    for (const auto& each : x) {
      shifted.push_back(a.sub(each, largest));
      terms.push_back(a.exp_by_exp2(shifted.back()));
    }
    total = a.rescaled_sum(terms, kSteps);
  }

  Bounded largest, total;
  Numbers<A> shifted, terms;
};

struct Softmax {
  static constexpr bool defined_on_empty = false;
  template <class A>
  Numbers<A> operator()(const A& a, const Numbers<A>& x, const std::vector<Values>&) const {
    Exponentials<A> e(a, x);
    for (auto& term : e.terms) term = a.div(term, e.total);
    return e.terms;
  }
};

struct LogSoftmax {
  static constexpr bool defined_on_empty = false;
  template <class A>
  static Numbers<A> of(const A& a, const Numbers<A>& x) {
    Exponentials<A> e(a, x);
    const auto log_total = a.log(e.total);
    for (auto& shifted : e.shifted) shifted = a.sub(shifted, log_total);
    return e.shifted;
  }
  template <class A>
  Numbers<A> operator()(const A& a, const Numbers<A>& x, const std::vector<Values>&) const {
    return of(a, x);
  }
};

struct LogSumExp {
  static constexpr bool defined_on_empty = false;
  template <class A>
  Numbers<A> operator()(const A& a, const Numbers<A>& x, const std::vector<Values>&) const {
    const Exponentials<A> e(a, x);
    // For an infinite maximum the result is that infinity, not NaN.
    return {a.is_infinite(e.largest) ? e.largest : a.add(e.largest, a.log(e.total))};
  }
};

inline constexpr double kNormEpsilon = 1e-5;

/// sqrt(mean(x^2) + eps)
template <class A>
Bounded deviation(const A& a, const Numbers<A>& x) {
  const auto variance = a.div(a.dot(x, x), a.constant(static_cast<double>(x.size())));
  return a.sqrt(a.add(variance, a.constant(kNormEpsilon)));
}

/// (x - mean) / sqrt(var + eps) * weight + bias; rms_norm has neither the mean nor the bias.
template <bool kCentred>
struct Normalize {
  static constexpr bool defined_on_empty = true;
  template <class A>
  Numbers<A> operator()(const A& a, Numbers<A> x, const std::vector<Values>& in) const {
    if (x.empty()) return {};
    if (kCentred) subtract_mean(a, x);
    const auto divisor = deviation(a, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = a.mul(a.div(x[i], divisor), a.number(in[1].data[i]));
      if (kCentred) x[i] = a.add(x[i], a.number(in[2].data[i]));
    }
    return x;
  }
};

/// Normalizes over the first and last of three dimensions. Kernels may fold the weight into the
/// scale.
struct BatchNorm {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    const std::int64_t m = in[0].sizes[0], n = in[0].sizes[1], k = in[0].sizes[2];
    Numbers<A> out(in[0].data.size());
    for (std::int64_t channel = 0; channel < n; ++channel) {
      Numbers<A> x;
      for (std::int64_t i = 0; i < m; ++i) {
        const Numbers<A> row = pick(a, in[0], (i * n + channel) * k, k);
        x.insert(x.end(), row.begin(), row.end());
      }
      subtract_mean(a, x);
      const auto divisor = deviation(a, x);
      const auto weight = a.number(in[1].data[static_cast<std::size_t>(channel)]);
      const auto bias = a.number(in[2].data[static_cast<std::size_t>(channel)]);
      const auto scale = a.div(weight, divisor);
      for (std::int64_t i = 0; i < m * k; ++i) {
        const auto& centred = x[static_cast<std::size_t>(i)];
        const auto scaled = a.either(a.mul(a.div(centred, divisor), weight), a.mul(centred, scale));
        out[static_cast<std::size_t>((i / k * n + channel) * k + i % k)] = a.add(scaled, bias);
      }
    }
    return out;
  }
};

}  // namespace halfgrad::testing::formulas
