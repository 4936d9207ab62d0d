#pragma once

#include <halfgrad/testing/formulas/rows.h>

/// Formulas of losses: the mean over the elements or rows. A kernel may store each loss in the
/// dtype of the output before it takes the mean, as PyTorch's kernels do.
namespace halfgrad::testing::formulas {

/// The mean of F(a, x, target) over all elements.
template <class F>
struct MeanOf {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    Numbers<A> losses = Each<F>{}(a, in);
    for (auto& each : losses) each = a.stored(each);
    return {Mean::of(a, losses)};
  }
};

/// The mean of -F(a, row)[class of the row].
template <class F>
struct MeanOfPicked {
  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    Numbers<A> losses;
    for (std::size_t row = 0; row < in[1].data.size(); ++row) {
      const auto scores = F{}(a, row_of(a, in[0], static_cast<std::int64_t>(row)), in);
      losses.push_back(a.stored(a.neg(scores[static_cast<std::size_t>(in[1].data[row])])));
    }
    return {Mean::of(a, losses)};
  }
};

struct Itself {
  template <class A>
  Numbers<A> operator()(const A&, const Numbers<A>& x, const std::vector<Values>&) const {
    return x;
  }
};

using CrossEntropy = MeanOfPicked<LogSoftmax>;
using NllLoss = MeanOfPicked<Itself>;

inline constexpr auto kAbsoluteDifference = [](const auto& a, const auto& x, const auto& target) {
  return a.abs(a.sub(x, target));
};

inline constexpr auto kSquaredDifference = [](const auto& a, const auto& x, const auto& target) {
  const auto d = a.sub(x, target);
  return a.mul(d, d);
};

/// d^2 / 2 up to |d| = 1, |d| - 1/2 above: smooth_l1_loss with beta 1, huber_loss with delta 1.
inline constexpr auto kSmoothDifference = [](const auto& a, const auto& x, const auto& target) {
  const auto half = a.number(0.5), d = a.abs(a.sub(x, target));
  return a.value(d) <= 1 ? a.mul(half, a.mul(d, d)) : a.sub(d, half);
};

/// -(t log p + (1 - t) log(1 - p)), where each logarithm is at least -100.
inline constexpr auto kBinaryCrossEntropy = [](const auto& a, const auto& p, const auto& t) {
  const auto log_p = a.at_least(a.log(p), -100), log_rest = a.at_least(a.log1p(a.neg(p)), -100);
  return a.sub(a.mul(a.sub(t, a.number(1)), log_rest), a.mul(t, log_p));
};

/// Two formulas that kernels use; the second cancels where t is 1:
///
///     PyTorch:     (1 - t) x + log(1 + e^-x)
///     TensorFlow:  max(x, 0) - t x + log(1 + e^-|x|)
inline constexpr auto kLogitsCrossEntropy = [](const auto& a, const auto& x, const auto& t) {
  const bool negative = a.value(x) < 0;
  const auto zero = a.number(0), tail = a.log1p(a.exp(a.neg(a.abs(x))));
  const auto softplus_of_minus = a.add(negative ? a.neg(x) : zero, tail);
  return a.either(a.add(a.mul(a.sub(a.number(1), t), x), softplus_of_minus),
                  a.add(a.sub(negative ? zero : x, a.mul(t, x)), tail));
};

/// t log t - t x, where 0 log 0 = 0.
inline constexpr auto kKullbackLeibler = [](const auto& a, const auto& x, const auto& t) {
  const auto entropy = a.value(t) == 0 ? a.number(0) : a.mul(t, a.log(t));
  return a.sub(entropy, a.mul(t, x));
};

}  // namespace halfgrad::testing::formulas
