#pragma once

#include <cstdint>

#include <halfgrad/autograd/ops/class_targets.h>
#include <halfgrad/core/math.h>
#include <halfgrad/core/rows.h>

/// Cross entropy of a row of logits x, and its gradient.
namespace halfgrad::detail {

/// log(sum_j exp(x_j)) = m + log(sum_j exp(x_j - m)), m the largest. The two stay apart: added up,
/// large logits would round away what a loss is made of.
template <class T>
struct LogTotal {
  T largest, log_of_rest;

  HG_HD T value() const { return largest + log_of_rest; }
  template <class X>
  HG_HD X minus(X x) const {
    return (largest - x) + log_of_rest;
  }
};

template <class Team, class T>
HG_HD LogTotal<T> log_sum_exp(Team& team, Row<const T> x) {
  const T largest = team.max(x.size(), [&](auto i) { return x(i); });
  return {largest,
          math::log(team.sum(x.size(), [&](auto i) { return math::exp(x(i) - largest); }))};
}

/// For a row of class t and weight w: loss = w (lse - x_t), lse = log(sum_j exp(x_j)).
struct ClassLossRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> x, Row<const T> target, Row<T> loss,
                        Row<T> lse) const {
    const ClassTarget<T> row(target);
    const LogTotal<T> log_total = log_sum_exp(team, x);
    team.once([&] {
      lse.set(std::int64_t{0}, log_total.value());
      loss.set(std::int64_t{0}, row.ignored() ? T(0) : row.weight * log_total.minus(x(row.index)));
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
    const T log_total = lse(std::int64_t{0});
    team.each(x.size(), [&](auto i) { dx.set(i, factor * math::exp(x(i) - log_total)); });
    team.once([&] { dx.set(row.index, dx(row.index) - factor); });
  }
};

/// For target probabilities q_i: loss = sum_i q_i (lse - x_i), where q_i = 0 counts nothing.
struct SoftLossRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> x, Row<const T> q, Row<T> loss, Row<T> lse) const {
    const LogTotal<T> log_total = log_sum_exp(team, x);
    const T total = team.sum(x.size(), [&](auto i) {
      const auto p = q(i);
      return select(p == T(0), p, p * log_total.minus(x(i)));
    });
    team.once([&] {
      lse.set(std::int64_t{0}, log_total.value());
      loss.set(std::int64_t{0}, total);
    });
  }
};

/// dx_i = dloss (exp(x_i - lse) sum_j q_j - q_i), and 0 whatever dloss is where all q are 0
struct SoftGradientRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> dloss, Row<const T> x, Row<const T> q,
                        Row<const T> lse, Row<T> dx) const {
    const T factor = dloss(std::int64_t{0});
    const T log_total = lse(std::int64_t{0});
    const T mass = team.sum(q.size(), [&](auto i) { return q(i); });
    team.each(x.size(), [&](auto i) {
      const auto p = q(i);
      const auto dx_i = factor * (math::exp(x(i) - log_total) * mass - p);
      dx.set(i, mass == T(0) ? select(p == T(0), p, dx_i) : dx_i);
    });
  }
};

}  // namespace halfgrad::detail
