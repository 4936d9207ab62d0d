#pragma once

#include <cstdint>

#include <halfgrad/core/engines/rows.h>
#include <halfgrad/core/math/math.h>

/// Row kernels of softmax and log_softmax, and of their gradients.
namespace halfgrad::detail {

/// y_i = exp(x_i - m) / sum_j exp(x_j - m),  m = max_j x_j, so no exponential exceeds 1
struct SoftmaxRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> x, Row<T> y) const {
    const std::int64_t n = x.size();
    const T largest = team.max(n, [&](auto i) { return x(i); });
    team.each(n, [&](auto i) { y.set(i, math::exp(x(i) - largest)); });
    const T total = team.sum(n, [&](auto i) { return y(i); });
    team.each(n, [&](auto i) { y.set(i, y(i) / total); });
  }
};

/// dx_i = y_i (dy_i - sum_j dy_j y_j)
struct SoftmaxGradientRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> dy, Row<const T> y, Row<T> dx) const {
    const T mean = team.sum(y.size(), [&](auto i) { return dy(i) * y(i); });
    team.each(y.size(), [&](auto i) { dx.set(i, y(i) * (dy(i) - mean)); });
  }
};

/// y_i = x_i - m - log(sum_j exp(x_j - m)),  m = max_j x_j
struct LogSoftmaxRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> x, Row<T> y) const {
    const std::int64_t n = x.size();
    const T largest = team.max(n, [&](auto i) { return x(i); });
    const T total = team.sum(n, [&](auto i) { return math::exp(x(i) - largest); });
    const T log_total = math::log(total);
    team.each(n, [&](auto i) { y.set(i, (x(i) - largest) - log_total); });
  }
};

/// dx_i = dy_i - exp(y_i) sum_j dy_j
struct LogSoftmaxGradientRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> dy, Row<const T> y, Row<T> dx) const {
    const T total = team.sum(y.size(), [&](auto i) { return dy(i); });
    team.each(y.size(), [&](auto i) { dx.set(i, dy(i) - math::exp(y(i)) * total); });
  }
};

}  // namespace halfgrad::detail
