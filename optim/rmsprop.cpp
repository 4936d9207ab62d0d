#include <halfgrad/optim/rmsprop.h>

#include <array>
#include <utility>

#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/check_option.h>
#include <halfgrad/optim/formula_update.h>

namespace halfgrad::optim {
namespace {

template <bool kWithMomentum, bool kCentered>
struct RMSpropFormula {
  static constexpr unsigned kWrites = detail::kFormulaWrites;

  detail::GroupOptions options;

  HG_HD static RMSpropFormula make(const detail::GroupOptions& options, double) {
    return {options};
  }

  // `rest` is momentum_buffer and grad_avg, as far as the options need them.
  template <class T, class... Rest>
  HG_HD void operator()(T& parameter, T gradient, T& v, Rest&... rest) const {
    const T g = detail::penalized(options, parameter, gradient);
    v = detail::average_square(v, g, options.alpha, 1 - options.alpha);
    const T variance = center(v, g, rest...);
    const T direction = g / (math::sqrt(variance) + T(options.eps));
    parameter = math::multiply_add(T(-options.lr), accumulate(direction, rest...), parameter);
  }

 private:
  template <class T, class... Rest>
  HG_HD T center(T v, T g, Rest&... rest) const {
    if constexpr (kCentered) {
      T& a = last(rest...);
      a = detail::move_toward(a, g, 1 - options.alpha);
      return math::maximum(math::multiply_add(-a, a, v), T(0));
    } else {
      return v;
    }
  }

  template <class T, class... Rest>
  HG_HD T accumulate(T direction, Rest&... rest) const {
    if constexpr (kWithMomentum) {
      T& b = first(rest...);
      b = math::multiply_add(T(options.momentum), b, direction);
      return b;
    } else {
      return direction;
    }
  }

  template <class T, class... Rest>
  HG_HD static T& first(T& x, Rest&...) {
    return x;
  }
  template <class T>
  HG_HD static T& last(T& x) {
    return x;
  }
  template <class T>
  HG_HD static T& last(T&, T& x) {
    return x;
  }
};

ParamGroup to_group(const RMSpropArguments& options) {
  return {.lr = options.lr,
          .momentum = options.momentum,
          .eps = options.eps,
          .weight_decay = options.weight_decay,
          .maximize = options.maximize,
          .alpha = options.alpha,
          .centered = options.centered};
}

}  // namespace

RMSprop::RMSprop(std::vector<Tensor> params, const RMSpropArguments& options)
    : FormulaOptimizer("RMSprop", to_group(options)) {
  add_params(std::move(params));
}

RMSprop::RMSprop(std::vector<ParamGroup> groups, const RMSpropArguments& options)
    : FormulaOptimizer("RMSprop", to_group(options)) {
  add_param_groups(std::move(groups));
}

void RMSprop::check_options(const ParamGroup& group) const {
  FormulaOptimizer::check_options(group);
  detail::check_option(group.alpha >= 0, name(), "alpha >= 0", group.alpha.value());
}

std::vector<StateEntry> RMSprop::state_entries(const ParamGroup& group) const {
  return {{"step"},
          {"square_avg"},
          {"momentum_buffer", group.momentum.value() > 0},
          {"grad_avg", group.centered.value()}};
}

void RMSprop::update(const ParamGroup& group, const detail::GroupOptions* options,
                     const StepControl& control) {
  const auto run = [&]<bool kWithMomentum, bool kCentered>(const auto& moments) {
    detail::update_by<RMSpropFormula<kWithMomentum, kCentered>>(*this, group, options, control,
                                                                moments);
  };
  const bool with_momentum = group.momentum.value() > 0, centered = group.centered.value();
  if (with_momentum && centered) {
    run.template operator()<true, true>(std::array{"square_avg", "momentum_buffer", "grad_avg"});
  } else if (with_momentum) {
    run.template operator()<true, false>(std::array{"square_avg", "momentum_buffer"});
  } else if (centered) {
    run.template operator()<false, true>(std::array{"square_avg", "grad_avg"});
  } else {
    run.template operator()<false, false>(std::array{"square_avg"});
  }
}

}  // namespace halfgrad::optim
