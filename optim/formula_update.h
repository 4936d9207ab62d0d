#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <halfgrad/optim/parameter_update.h>

/// The part that optimizers share whose update is one formula of the parameter, its gradient, some
/// moments, the group's options and the step count:
///
///   struct Formula {
///     static constexpr unsigned kWrites = kFormulaWrites;
///     HG_HD static Formula make(const GroupOptions& options, double t);  // t = 1 at first
///     template <class T> HG_HD void operator()(T& parameter, T gradient, T& moment...) const;
///   };
///
/// make() runs once for each chunk of elements, so it is the place for powers. Write a product that
/// is added as math::multiply_add. Otherwise nvcc fuses it in one kernel of a formula but not in
/// another, and a step with masters would differ by a rounding from one without.
namespace halfgrad::detail {

inline constexpr unsigned kFormulaWrites = operands(kParameter) | operands_from(kState);

/// a + weight * (b - a), computed from the nearer of a and b: it is exact at both ends.
template <class T>
HG_HD T move_toward(T a, T b, double weight) {
  const T distance = b - a;
  return weight < 0.5 ? math::multiply_add(T(weight), distance, a)
                      : math::multiply_add(T(weight - 1), distance, b);
}

/// decay * v + weight * g^2
template <class T>
HG_HD T average_square(T v, T g, double decay, double weight) {
  return math::multiply_add(T(decay), v, T(weight) * g * g);
}

/// The gradient with the options `maximize` and `weight_decay`, unless the decay is decoupled.
template <class T>
HG_HD T penalized(const GroupOptions& options, T parameter, T gradient) {
  const T g = options.maximize ? -gradient : gradient;
  const bool adds_decay = options.weight_decay != 0 && !options.decoupled_weight_decay;
  return adds_decay ? math::multiply_add(T(options.weight_decay), parameter, g) : g;
}

/// The factor of a parameter under decoupled weight decay (Loshchilov and Hutter 2019).
HG_HD inline double decay_factor(const GroupOptions& options) {
  return options.decoupled_weight_decay ? math::multiply_add(-options.lr, options.weight_decay, 1.0)
                                        : 1;
}

/// The formula of one parameter, made on the device from options and step count, which counts this
/// update already.
template <class Formula>
struct FormulaUpdate {
  const GroupOptions* options;
  const float* step;

  HG_HD Formula make() const { return Formula::make(*options, static_cast<double>(*step)); }
};

/// Adds one to each step count, unless the step is skipped.
void count_steps(const std::vector<const Array*>& steps, const optim::StepControl& control);

/// Counts the step of each parameter that has a gradient, unless a kernel has counted it, and
/// updates the parameter by `Formula`. `names` are the moments in the order of the formula; a new
/// moment is filled with `initial`.
template <class Formula, std::size_t kMoments>
void update_by(optim::Optimizer& optimizer, const optim::ParamGroup& group,
               const GroupOptions* options, const optim::StepControl& control,
               const std::array<const char*, kMoments>& names, double initial = 0) {
  std::vector<const Array*> steps;
  ParameterUpdates<FormulaUpdate<Formula>, kMoments> updates(control);
  for (const Tensor& param : params_with_gradient(group)) {
    optim::ParamState& state = optimizer.state(param);
    steps.push_back(&step_count(state, param));
    std::array<const Array*, kMoments> moments;
    for (std::size_t i = 0; i < kMoments; ++i)
      moments[i] = &moment(state, names[i], param, initial);
    updates.add(param, state, {options, steps.back()->data_as<float>()}, moments);
  }
  if (control.corrections == nullptr) count_steps(steps, control);
  updates.run();
}

}  // namespace halfgrad::detail
