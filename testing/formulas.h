#pragma once

#include <cmath>
#include <vector>

#include <halfgrad/autograd/op_table.h>

/// What sums, products, norms, losses and lerp compute, written once for every arithmetic A of
/// error_bound.h. Operands are row-major; results have the order of the output.
namespace halfgrad::testing::formulas {

template <class A>
using Numbers = std::vector<typename A::Number>;

/// count numbers from element `first` on, `stride` apart.
template <class A>
Numbers<A> pick(const A& a, const Values& x, std::int64_t first, std::int64_t count,
                std::int64_t stride = 1) {
  Numbers<A> picked;
  picked.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    picked.push_back(a.number(x.data[static_cast<std::size_t>(first + i * stride)]));
  }
  return picked;
}

template <class A>
Numbers<A> row_of(const A& a, const Values& x, std::int64_t row) {
  const std::int64_t k = x.sizes.back();
  return pick(a, x, row * k, k);
}

/// Applies f(row) to every row of the first operand, and joins what it returns.
template <class A, class F>
Numbers<A> each_row(const A& a, const std::vector<Values>& in, const F& f) {
  Numbers<A> out;
  const std::int64_t rows = in[0].sizes[0];
  for (std::int64_t row = 0; row < rows; ++row) {
    if (in[0].sizes.back() == 0 && !f.defined_on_empty) continue;
    const Numbers<A> result = f(a, row_of(a, in[0], row), in);
    out.insert(out.end(), result.begin(), result.end());
  }
  return out;
}

struct Sum {
  static constexpr bool defined_on_empty = true;
  template <class A>
  Numbers<A> operator()(const A& a, const Numbers<A>& x, const std::vector<Values>&) const {
    return {x.empty() ? a.number(0) : a.sum(x)};
  }
};

struct Mean {
  static constexpr bool defined_on_empty = true;
  template <class A>
  static typename A::Number of(const A& a, const Numbers<A>& x) {
    if (x.empty()) return a.number(std::nan(""));
    return a.div(a.sum(x), a.number(static_cast<double>(x.size())));
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

/// exp(x_i - max), their sum, and the maximum. A sum that grows while the maximum is being found
/// is rescaled, by an exp and a product, at each new one: 6 operations on a term, not one.
template <class A>
struct Exponentials {
  static constexpr double kSteps = 6;

  Exponentials(const A& a, const Numbers<A>& x) : largest(a.max(x)) {
    for (const auto& each : x) {
      shifted.push_back(a.sub(each, largest));
      terms.push_back(a.exp(shifted.back()));
    }
    total = a.sum(terms, kSteps);
  }

  typename A::Number largest, total;
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
    // Of infinities it is the larger, not NaN.
    return {a.is_infinite(e.largest) ? e.largest : a.add(e.largest, a.log(e.total))};
  }
};

inline constexpr double kNormEpsilon = 1e-5;

/// (x - mean) / sqrt(var + eps) * weight + bias; rms_norm neither centres nor adds.
template <bool kCentred>
struct Normalize {
  static constexpr bool defined_on_empty = true;
  template <class A>
  Numbers<A> operator()(const A& a, Numbers<A> x, const std::vector<Values>& in) const {
    if (x.empty()) return {};
    if (kCentred) {
      const auto mean = Mean::of(a, x);
      for (auto& each : x) each = a.sub(each, mean);
    }
    const auto count = a.number(static_cast<double>(x.size()));
    const auto variance = a.div(a.dot(x, x), count);
    const auto deviation = a.sqrt(a.add(variance, a.number(kNormEpsilon)));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = a.mul(a.div(x[i], deviation), a.number(in[1].data[i]));
      if (kCentred) x[i] = a.add(x[i], a.number(in[2].data[i]));
    }
    return x;
  }
};

/// Rows of `left` by columns of `right`, which lie `stride` apart, plus an optional bias [n].
template <class A>
Numbers<A> product(const A& a, const Values& left, const Values& right, std::int64_t n,
                   bool right_is_transposed, const Values* bias = nullptr) {
  const std::int64_t k = left.sizes.back();
  const std::int64_t m = left.sizes.size() == 1 ? 1 : left.sizes[0];
  Numbers<A> out;
  std::vector<Numbers<A>> columns;
  for (std::int64_t j = 0; j < n; ++j) {
    columns.push_back(right_is_transposed ? pick(a, right, j * k, k) : pick(a, right, j, k, n));
  }
  for (std::int64_t i = 0; i < m; ++i) {
    const Numbers<A> row = pick(a, left, i * k, k);
    for (std::int64_t j = 0; j < n; ++j) {
      auto y = a.dot(row, columns[static_cast<std::size_t>(j)]);
      if (bias != nullptr) y = a.add(y, a.number(bias->data[static_cast<std::size_t>(j)]));
      out.push_back(y);
    }
  }
  return out;
}

struct Matmul {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    return product(a, in[0], in[1], in[1].sizes.size() == 1 ? 1 : in[1].sizes[1], false);
  }
};

struct Linear {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    return product(a, in[0], in[1], in[1].sizes[0], true, &in[2]);
  }
};

struct Addmm {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    return product(a, in[1], in[2], in[2].sizes[1], false, &in[0]);
  }
};

struct CrossEntropy {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    Numbers<A> losses;
    for (std::size_t row = 0; row < in[1].data.size(); ++row) {
      const auto log_p = LogSoftmax::of(a, row_of(a, in[0], static_cast<std::int64_t>(row)));
      losses.push_back(a.sub(a.number(0), log_p[static_cast<std::size_t>(in[1].data[row])]));
    }
    return {Mean::of(a, losses)};
  }
};

struct MseLoss {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    const auto count = static_cast<std::int64_t>(in[0].data.size());
    if (count == 0) return {a.number(std::nan(""))};
    Numbers<A> x = pick(a, in[0], 0, count);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = a.sub(x[i], a.number(in[1].data[i]));
    return {a.div(a.dot(x, x), a.number(static_cast<double>(count)))};
  }
};

/// start + weight (end - start), from the nearer end. Where the two terms cancel, the error is that
/// of the larger, not a few roundoffs of what is left.
struct Lerp {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    Numbers<A> out;
    for (std::size_t i = 0; i < in[0].data.size(); ++i) {
      const auto start = a.number(in[0].data[i]), end = a.number(in[1].data[i]);
      const auto weight = a.number(in[2].data[i]), distance = a.sub(end, start);
      out.push_back(in[2].data[i] < 0.5 ? a.add(start, a.mul(weight, distance))
                                        : a.sub(end, a.mul(a.sub(a.number(1), weight), distance)));
    }
    return out;
  }
};

/// A formula for one row, as one for all operands.
template <class Row>
struct Rows {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    return each_row(a, in, Row{});
  }
};

}  // namespace halfgrad::testing::formulas
