#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/autograd/graph/shadow_weight.h>
#include <halfgrad/core/engines/multi_tensor.h>
#include <halfgrad/core/math/math.h>
#include <halfgrad/core/numbers/overflow_limit.h>
#include <halfgrad/optim/optimizer.h>

/// The part that all optimizers share: it runs a formula f(parameter, gradient, state...) over all
/// parameters of a group in one pass. The pass also unscales the gradients and honours found_inf.
/// With float32 masters it updates those and writes the 16-bit weights.
///
/// Bytes that a pass moves per element; memory bandwidth bounds it on every device (r read, w
/// written; the gradient is written only if it was still scaled):
///
///                             gradient   (master) parameter  moments    weight  sum
///   Adam, float32             4 r (4 w)  4 r 4 w             8 r 8 w            28 (32)
///   Adam, 16 bit, masters     2 r (2 w)  4 r 4 w             8 r 8 w    2 w     28 (30)
///   SGD momentum, float32     4 r (4 w)  4 r 4 w             4 r 4 w            20 (24)
///   SGD momentum, masters     2 r (2 w)  4 r 4 w             4 r 4 w    2 w     20 (22)
///   Adam, shadow              2 r        4 r 4 w             8 r 8 w    2 w     28
/// With a shadow, autocast does not cast the parameter, which would take 4 r and 2 w more. amsgrad
/// moves 8 more. At 3.35 TB/s (H100 SXM, data sheet) 30 bytes take 9.0 ps.
namespace halfgrad::detail {

/// The operands of a formula, in order: parameter, gradient and the state of the optimizer.
inline constexpr unsigned kParameter = 0, kGradient = 1, kState = 2;

template <class Formula>
struct UnscaledFormula {
  static constexpr unsigned kWrites = Formula::kWrites | operands(kGradient);
  static constexpr unsigned kReads = operands_read<Formula>() | operands(kGradient);

  Formula formula;
  float inv_scale;

  template <class T, class... State>
  HG_HD void operator()(T& parameter, T& gradient, State&... state) const {
    gradient = rounded_product(gradient, T(inv_scale));
    formula(parameter, gradient, state...);
  }
};

template <class Update>
struct Unscaled {
  Update update;
  const float* inv_scale;

  HG_HD auto make() const {
    return UnscaledFormula<decltype(update.make())>{update.make(), *inv_scale};
  }
};

/// Multiplies the gradient by both factors of a StepControl, each rounded, so that the bits are
/// those of unscaling and clipping in place.
template <class Formula, bool kWritesGradient>
struct ClippedFormula {
  static constexpr unsigned kWrites =
      Formula::kWrites | (kWritesGradient ? operands(kGradient) : 0U);
  static constexpr unsigned kReads = UnscaledFormula<Formula>::kReads;

  Formula formula;
  float inv_scale, clip;

  template <class T, class... State>
  HG_HD void operator()(T& parameter, T& gradient, State&... state) const {
    gradient = rounded_product(rounded_product(gradient, T(inv_scale)), T(clip));
    formula(parameter, gradient, state...);
  }
};

template <class Update, bool kWritesGradient>
struct Clipped {
  Update update;
  const float* factors;

  HG_HD auto make() const {
    return ClippedFormula<decltype(update.make()), kWritesGradient>{update.make(), factors[0],
                                                                    factors[1]};
  }
};

/// Runs the formula on the master, the operand after weight and gradient.
template <class Formula>
struct MasterFormula {
  static constexpr unsigned kWeight = 0, kMaster = 2;  // the state follows the master
  static constexpr unsigned kWrites =
      operands(kWeight, kMaster) | (Formula::kWrites & operands_from(kState)) << 1;
  static constexpr unsigned kReads = operands_from(kGradient);

  Formula formula;
  double limit;  // magnitudes >= limit become infinite as weights
  std::int64_t* overflows;

  template <class T, class... State>
  HG_HD void operator()(T& weight, T& gradient, T& master, State&... state) const {
    formula(master, gradient, state...);
    weight = master;
    const mask_t<T> lost = math::abs(master) >= T(limit);
    const mask_t<T> finite = math::isfinite(master);
    add_count(overflows, lost & finite);
  }
};

template <class Update>
struct ForMaster {
  Update update;
  double limit;
  std::int64_t* overflows;

  HG_HD auto make() const {
    return MasterFormula<decltype(update.make())>{update.make(), limit, overflows};
  }
};

inline const float* skip_flag(const optim::StepControl& control) {
  return control.found_inf != nullptr ? control.found_inf->data_as<float>() : nullptr;
}

/// Runs the formula on the parameter, then writes it to its shadow
/// (autograd/graph/shadow_weight.h), the operand after parameter and gradient.
template <class Formula>
struct ShadowFormula {
  static constexpr unsigned kShadow = 2;  // the state follows the shadow
  static constexpr unsigned kWrites =
      operands(kParameter, kShadow) | (Formula::kWrites & operands_from(kState)) << 1;
  static constexpr unsigned kReads = operands_from(kParameter) & ~operands(kShadow);

  Formula formula;

  template <class T, class... State>
  HG_HD void operator()(T& parameter, T& gradient, T& shadow, State&... state) const {
    formula(parameter, gradient, state...);
    shadow = parameter;
  }
};

template <class Update>
struct ForShadow {
  Update update;

  HG_HD auto make() const { return ShadowFormula<decltype(update.make())>{update.make()}; }
};

template <class Update, std::size_t N>
void update_parameters(const std::vector<TensorUpdate<Update, N>>& updates,
                       const optim::StepControl& control) {
  if (control.inv_scale == nullptr) {
    multi_tensor(updates, skip_flag(control));
  } else {
    std::vector<TensorUpdate<Unscaled<Update>, N>> unscaled;
    unscaled.reserve(updates.size());
    for (const auto& [update, operands] : updates) {
      unscaled.push_back({{update, control.inv_scale->data_as<float>()}, operands});
    }
    multi_tensor(unscaled, skip_flag(control));
    for (const auto& tensor : updates) tensor.operands[1]->storage()->bump_version();
  }
  for (const auto& tensor : updates) tensor.operands[0]->storage()->bump_version();
}

/// Updates under a StepControl with `factors`. Writes the gradients too, if kWritesGradient.
template <bool kWritesGradient, class Update, std::size_t N>
void update_clipped(const std::vector<TensorUpdate<Update, N>>& updates,
                    const optim::StepControl& control) {
  std::vector<TensorUpdate<Clipped<Update, kWritesGradient>, N>> clipped;
  clipped.reserve(updates.size());
  for (const auto& [update, operands] : updates) {
    clipped.push_back({{update, control.factors->data_as<float>()}, operands});
  }
  multi_tensor(clipped, skip_flag(control));
  for (const auto& tensor : updates) {
    if (kWritesGradient) tensor.operands[kGradient]->storage()->bump_version();
    tensor.operands[kParameter]->storage()->bump_version();
  }
}

/// The elements of a narrow gradient that the pass reads, or null. It multiplies them by the
/// control's factors, if there are any; without factors, only a pass on the CPU reads them.
const Array* elements_to_read(const Tensor& gradient, const optim::StepControl& control);

std::vector<Tensor> params_with_gradient(const optim::ParamGroup& group);

/// The step count in `state`; adds one of 0 if there is none yet.
const Array& step_count(optim::ParamState& state, const Tensor& param);

/// The moment of that name, in the dtype of the update; adds one of `initial` if there is none yet.
const Array& moment(optim::ParamState& state, const char* name, const Tensor& param,
                    double initial = 0);

/// A group's updates by one formula, with kMoments arrays of state for each parameter.
template <class Update, std::size_t kMoments>
class ParameterUpdates {
 public:
  using Moments = std::array<const Array*, kMoments>;

  explicit ParameterUpdates(const optim::StepControl& control) : control_(control) {}

  /// Adds the update of a parameter that has a gradient. `state` may hold its master.
  void add(const Tensor& param, const optim::ParamState& state, const Update& update,
           const Moments& moments) {
    const Array* const weight = &param.array();
    const Tensor grad = param.grad();
    const Array* const elements = elements_to_read(grad, control_);
    const bool stays_narrow = elements != nullptr;
    const Array* const gradient = stays_narrow ? elements : &grad.array();
    const Array* const shadow = stays_narrow ? shadow_to_write(param, elements->dtype()) : nullptr;
    const auto master = state.find(kMaster);
    std::apply(
        [&](const auto*... moment) {
          if (stays_narrow) {
            narrow_.push_back({{update}, {weight, gradient, shadow, moment...}});
            narrow_params_.push_back(param);
          } else if (master == state.end()) {
            plain_.push_back({update, {weight, gradient, moment...}});
          } else {
            auto* const overflows = state.at(kOverflows).data_as<std::int64_t>();
            mastered_.push_back({{update, overflow_limit(param.dtype()), overflows},
                                 {weight, gradient, &master->second, moment...}});
          }
        },
        moments);
  }

  void run() const {
    if (control_.clip != nullptr) update_clipped<true>(plain_, control_);
    if (control_.clip == nullptr) update_parameters(plain_, control_);
    update_parameters(mastered_, control_);
    if (control_.factors != nullptr) update_clipped<false>(narrow_, control_);
    if (control_.factors == nullptr) update_parameters(narrow_, control_);
    for (const Tensor& param : narrow_params_) {
      shadow_was_written(param);
      if (control_.clip != nullptr) set_factors(param.grad(), *control_.factors);
    }
  }

 private:
  const optim::StepControl& control_;
  std::vector<TensorUpdate<ForShadow<Update>, kMoments + 3>> narrow_;
  std::vector<Tensor> narrow_params_;
  std::vector<TensorUpdate<Update, kMoments + 2>> plain_;
  std::vector<TensorUpdate<ForMaster<Update>, kMoments + 3>> mastered_;
};

}  // namespace halfgrad::detail
