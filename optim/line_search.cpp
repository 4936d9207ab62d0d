#include <halfgrad/optim/line_search.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace halfgrad::detail {
namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;

// The minimum in [low, high] of the cubic through two points with their slopes (Nocedal and Wright
// 2006, equation 3.59).
double cubic_minimum(const TrialPoint& a, const TrialPoint& b, double low, double high) {
  const auto& [first, last] = a.t <= b.t ? std::pair(a, b) : std::pair(b, a);
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double t =
      last.t - (last.t - first.t) * ((last.slope + d2 - d1) / (last.slope - first.slope + 2 * d2));
  return std::min(std::max(t, low), high);
}

class StrongWolfe {
 public:
  StrongWolfe(const std::function<TrialPoint(double)>& evaluate, const TrialPoint& start,
              std::int64_t limit)
      : evaluate_(evaluate), start_(start), limit_(limit) {}

  LineSearchResult run(double t, double d_norm, double tolerance_change) {
    find_bracket(t);
    if (!is_done_) zoom(d_norm, tolerance_change);
    return {bracket_[low_], evaluations_};
  }

 private:
  // The first strong Wolfe condition: sufficient decrease.
  bool decreases(const TrialPoint& trial) const {
    return !(trial.loss > start_.loss + kDecrease * trial.t * start_.slope);
  }
  // The second one: curvature.
  bool is_flat(const TrialPoint& trial) const {
    return std::abs(trial.slope) <= -kCurvature * start_.slope;
  }
  TrialPoint next(double t) {
    ++evaluations_;
    return evaluate_(t);
  }
  void sort() {
    low_ = bracket_[0].loss <= bracket_[1].loss ? 0 : 1;
    high_ = 1 - low_;
  }

  // Lengthens the step until a minimum lies between the last two points.
  void find_bracket(double t) {
    TrialPoint previous = start_, trial = next(t);
    for (; iterations_ < limit_; ++iterations_) {
      const bool rises = !decreases(trial) || (iterations_ > 1 && trial.loss >= previous.loss);
      if (!rises && is_flat(trial)) {
        bracket_ = {trial, trial};
        is_done_ = true;
        return;
      }
      if (rises || trial.slope >= 0) {
        bracket_ = {previous, trial};
        return sort();
      }
      t = cubic_minimum(previous, trial, trial.t + 0.01 * (trial.t - previous.t), trial.t * 10);
      previous = std::exchange(trial, next(t));
    }
    bracket_ = {start_, trial};
    sort();
  }

  // Halves the bracket, or better, until a point satisfies both conditions.
  void zoom(double d_norm, double tolerance_change) {
    bool was_near_end = false;
    for (; !is_done_ && iterations_ < limit_; ++iterations_) {
      const auto [least, most] = std::minmax({bracket_[0].t, bracket_[1].t});
      if ((most - least) * d_norm < tolerance_change) return;
      double t = cubic_minimum(bracket_[0], bracket_[1], least, most);
      // A second trial near an end of the bracket moves a tenth of its length inwards.
      const double margin = 0.1 * (most - least);
      const bool is_near_end = std::min(most - t, t - least) < margin;
      const bool moves = is_near_end && (was_near_end || t >= most || t <= least);
      if (moves) t = most - t < t - least ? most - margin : least + margin;
      was_near_end = is_near_end && !moves;
      replace_by(next(t));
    }
  }

  void replace_by(const TrialPoint& trial) {
    if (!decreases(trial) || trial.loss >= bracket_[low_].loss) {
      bracket_[high_] = trial;
      return sort();
    }
    is_done_ = is_flat(trial);
    if (!is_done_ && trial.slope * (bracket_[high_].t - bracket_[low_].t) >= 0) {
      bracket_[high_] = bracket_[low_];
    }
    bracket_[low_] = trial;
  }

  const std::function<TrialPoint(double)>& evaluate_;
  const TrialPoint& start_;
  std::int64_t limit_, iterations_ = 0, evaluations_ = 0;
  std::array<TrialPoint, 2> bracket_{};
  std::size_t low_ = 0, high_ = 1;
  bool is_done_ = false;
};

}  // namespace

LineSearchResult strong_wolfe(const std::function<TrialPoint(double t)>& evaluate,
                              const TrialPoint& start, double t, double d_norm,
                              double tolerance_change, std::int64_t max_evaluations) {
  return StrongWolfe(evaluate, start, max_evaluations).run(t, d_norm, tolerance_change);
}

}  // namespace halfgrad::detail
