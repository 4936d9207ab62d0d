#pragma once

#include <cstdint>

#include <halfgrad/autograd/ops/shared/class_targets.h>
#include <halfgrad/core/engines/rows.h>
#include <halfgrad/core/math/math.h>

/// Row kernels of cross entropy: the loss of a row of logits x, and its gradient.
namespace halfgrad::detail {

/// logsumexp(x) = log(sum_j exp(x_j)) = m + log(sum_j exp(x_j - m)),  m = max_j x_j
///
/// minus(x_i) subtracts from m first: logsumexp(x) - x_i cancels for large logits.
template <class T>
struct RowLogSumExp {
  T largest, log_of_sum;

  HG_HD T value() const { return largest + log_of_sum; }
  template <class X>
  HG_HD X minus(X x) const {
    return (largest - x) + log_of_sum;
  }
};

template <class Team, class T>
HG_HD RowLogSumExp<T> log_sum_exp(Team& team, Row<const T> x) {
  const T largest = team.max(x.size(), [&](auto i) { return x(i); });
  return {largest,
          math::log(team.sum(x.size(), [&](auto i) { return math::exp(x(i) - largest); }))};
}

/// For a row of class t and weight w:
///     loss = w (lse - x_t),  lse = logsumexp(x)
struct ClassLossRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> x, Row<const T> target, Row<T> loss,
                        Row<T> lse) const {
    const ClassTarget<T> row(target);
    const RowLogSumExp<T> log_sum = log_sum_exp(team, x);
    team.once([&] {
      lse.set(std::int64_t{0}, log_sum.value());
      loss.set(std::int64_t{0}, row.ignored() ? T(0) : row.weight * log_sum.minus(x(row.index)));
    });
  }
};

/// dx_i = dloss w (exp(x_i - lse) - [i = t])
struct ClassGradientRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> dloss, Row<const T> x, Row<const T> target,
                        Row<const T> lse, Row<T> dx) const {
    const ClassTarget<T> row(target);
    if (row.ignored()) {
      team.each(x.size(), [&](auto i) { dx.set(i, T(0)); });
      return;
    }
    const T factor = dloss(std::int64_t{0}) * row.weight;
    const T log_sum = lse(std::int64_t{0});
    team.each(x.size(), [&](auto i) { dx.set(i, factor * math::exp(x(i) - log_sum)); });
    team.once([&] { dx.set(row.index, dx(row.index) - factor); });
  }
};

/// For target probabilities q:
///     loss = sum_i q_i (lse - x_i),  without the terms where q_i = 0
struct SoftLossRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> x, Row<const T> q, Row<T> loss, Row<T> lse) const {
    const RowLogSumExp<T> log_sum = log_sum_exp(team, x);
    const T total = team.sum(x.size(), [&](auto i) {
      const auto p = q(i);
      return select(p == T(0), p, p * log_sum.minus(x(i)));
    });
    team.once([&] {
      lse.set(std::int64_t{0}, log_sum.value());
      loss.set(std::int64_t{0}, total);
    });
  }
};

/// dx_i = dloss (exp(x_i - lse) sum_j q_j - q_i)
/// dx_i = 0 if all q_j are 0, even for an infinite dloss
struct SoftGradientRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> dloss, Row<const T> x, Row<const T> q,
                        Row<const T> lse, Row<T> dx) const {
    const T factor = dloss(std::int64_t{0});
    const T log_sum = lse(std::int64_t{0});
    const T mass = team.sum(q.size(), [&](auto i) { return q(i); });
    team.each(x.size(), [&](auto i) {
      const auto p = q(i);
      const auto dx_i = factor * (math::exp(x(i) - log_sum) * mass - p);
      dx.set(i, mass == T(0) ? select(p == T(0), p, dx_i) : dx_i);
    });
  }
};

}  // namespace halfgrad::detail
