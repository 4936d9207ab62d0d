#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include <halfgrad/testing/formulas/numbers.h>

/// Formulas of matrix products and of scatter_add.
namespace halfgrad::testing::formulas {

/// left [m, k] @ right [k, n], or [n, k] if it is transposed, plus an optional bias [n].
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

inline Values matrix_of_batch(const Values& x, std::int64_t i) {
  const std::int64_t count = x.sizes[1] * x.sizes[2];
  const auto first = x.data.begin() + i * count;
  return {{x.sizes[1], x.sizes[2]}, {first, first + count}};
}

struct Bmm {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    Numbers<A> out;
    for (std::int64_t i = 0; i < in[0].sizes[0]; ++i) {
      const Numbers<A> one = Matmul{}(a, {matrix_of_batch(in[0], i), matrix_of_batch(in[1], i)});
      out.insert(out.end(), one.begin(), one.end());
    }
    return out;
  }
};

struct Outer {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    Numbers<A> out;
    for (const double x : in[0].data) {
      for (const double y : in[1].data) out.push_back(a.mul(a.number(x), a.number(y)));
    }
    return out;
  }
};

struct Linear {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    return product(a, in[0], in[1], in[1].sizes[0], true, &in[2]);
  }
};

struct LinearRelu {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    Numbers<A> out = Linear{}(a, in);
    for (auto& each : out) each = a.at_least(each, 0);
    return out;
  }
};

/// x (1 + tanh(u)) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3); 1 + tanh(u) = 2 / (1 + e^-2u). Where
/// |x| > 10 the tanh is 1 or -1 in any dtype, and x^3 may overflow.
inline constexpr auto kGeluTanh = [](const auto& a, const auto& argument) {
  const auto z = a.clamp(argument, -10, 10), one = a.number(1);
  const auto cubic = a.mul(a.constant(0.044715), a.mul(z, a.mul(z, z)));
  const auto u = a.mul(a.constant(std::sqrt(2 / std::numbers::pi)), a.add(z, cubic));
  const auto e = a.exp(a.mul(a.number(-2), u));
  const auto twice = a.either(a.div(a.number(2), a.add(one, e)), a.add(one, a.tanh(u)));
  const auto x = a.clamp(argument, -10, std::numeric_limits<double>::infinity());
  return a.mul(x, a.mul(a.number(0.5), twice));
};

/// A kernel may store the argument of gelu in the dtype of the output.
struct LinearGelu {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    Numbers<A> out = Linear{}(a, in);
    for (auto& each : out) each = kGeluTanh(a, a.stored(each));
    return out;
  }
};

struct Addmm {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    return product(a, in[1], in[2], in[2].sizes[1], false, &in[0]);
  }
};

struct Baddbmm {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    Numbers<A> out;
    for (std::int64_t i = 0; i < in[1].sizes[0]; ++i) {
      const Numbers<A> one =
          Addmm{}(a, {in[0], matrix_of_batch(in[1], i), matrix_of_batch(in[2], i)});
      out.insert(out.end(), one.begin(), one.end());
    }
    return out;
  }
};

/// Sums each element and the values added to it, in any order.
struct ScatterAdd {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    const std::int64_t rows = in[0].sizes[0], columns = in[0].sizes[1], added = in[1].sizes[1];
    Numbers<A> out;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::vector<Numbers<A>> terms;
      for (const auto& each : row_of(a, in[0], row)) terms.push_back({each});
      for (std::int64_t i = row * added; i < (row + 1) * added; ++i) {
        const auto at = static_cast<std::size_t>(i);
        terms[static_cast<std::size_t>(in[1].data[at])].push_back(a.number(in[2].data[at]));
      }
      for (std::int64_t i = 0; i < columns; ++i) {
        out.push_back(a.sum(terms[static_cast<std::size_t>(i)]));
      }
    }
    return out;
  }
};

}  // namespace halfgrad::testing::formulas
