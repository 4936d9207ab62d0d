#pragma once

#include <cstdint>

#include <halfgrad/core/engines/rows.h>
#include <halfgrad/core/math/math.h>

/// Row kernels of layer_norm (kCentred) and rms_norm, and of their gradients.
namespace halfgrad::detail {

/// y_i = n_i w_i + b_i,  n_i = (x_i - mu) r,  r = 1 / sqrt(mean((x - mu)^2) + eps)
///
/// mu is the row's mean, or 0 for rms_norm. `statistics` receives mu and r.
template <bool kCentred>
struct NormalizeRow {
  double eps;

  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> x, Row<const T> weight, Row<const T> bias,
                        Row<T> y, Row<T> statistics) const {
    const std::int64_t n = x.size();
    const T count = static_cast<T>(n);
    const T mu = kCentred ? team.sum(n, [&](auto i) { return x(i); }) / count : T(0);
    const T variance = team.sum(n, [&](auto i) { return (x(i) - mu) * (x(i) - mu); }) / count;
    const T r = math::rsqrt(variance + static_cast<T>(eps));
    team.each(n, [&](auto i) { y.set(i, (x(i) - mu) * r * weight(i) + bias(i)); });
    team.once([&] {
      statistics.set(std::int64_t{0}, mu);
      statistics.set(std::int64_t{1}, r);
    });
  }
};

/// dx_i = r (g_i - mean(g) - n_i mean(g n)),  g = dy w, without mean(g) for rms_norm
/// dw_i = dy_i n_i, to be summed over the rows afterwards
template <bool kCentred>
struct NormalizeGradientRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> dy, Row<const T> x, Row<const T> weight,
                        Row<const T> statistics, Row<T> dx, Row<T> dw) const {
    const std::int64_t n = x.size();
    const T count = static_cast<T>(n);
    const T mu = statistics(std::int64_t{0});
    const T r = statistics(std::int64_t{1});
    team.each(n, [&](auto i) { dw.set(i, dy(i) * ((x(i) - mu) * r)); });
    const T mean = kCentred ? team.sum(n, [&](auto i) { return dy(i) * weight(i); }) / count : T(0);
    const T slope = team.sum(n, [&](auto i) { return dw(i) * weight(i); }) / count;
    team.each(n,
              [&](auto i) { dx.set(i, r * (dy(i) * weight(i) - mean - (x(i) - mu) * r * slope)); });
  }
};

}  // namespace halfgrad::detail
