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
#include <halfgrad/optim/late_updates.h>
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
///   Adam, narrow float32      4 r        4 r 4 w             8 r 8 w    4 w     32
/// "shadow": a float32 parameter whose gradient is still in 16 bits. The pass also writes the
/// 16-bit copy that autocast reads (shadow_weight.h). So autocast need not cast the parameter: a
/// cast would take 4 r and 2 w more. "narrow float32": a float32 gradient in the same pass, which
/// stores the parameter twice. amsgrad moves 8 bytes more. At 3.35 TB/s (H100 SXM, data sheet) 30
/// bytes take 9.0 ps.
namespace halfgrad::detail {

/// The operands of a formula, in order: parameter, gradient and the state of the optimizer.
inline constexpr unsigned kParameter = 0, kGradient = 1, kState = 2;

/// Multiplies the gradient by 1 / scale and by the factor of clipping, each rounded, so that the
/// bits are those of unscaling and clipping in place.
template <class Formula, bool kWritesGradient>
struct ScaledFormula {
  static constexpr unsigned kWrites =
      Formula::kWrites | (kWritesGradient ? operands(kGradient) : 0U);
  static constexpr unsigned kReads = operands_read<Formula>() | operands(kGradient);

  Formula formula;
  float inv_scale, clip;

  template <class T, class... State>
  HG_HD void operator()(T& parameter, T& gradient, State&... state) const {
    gradient = rounded_product(rounded_product(gradient, T(inv_scale)), T(clip));
    formula(parameter, gradient, state...);
  }
};

template <class Update, bool kWritesGradient = true>
struct Scaled {
  Update update;
  const float* inv_scale;  // null: 1
  const float* clip;       // null: 1

  HG_HD auto make() const {
    return ScaledFormula<decltype(update.make()), kWritesGradient>{
        update.make(), inv_scale != nullptr ? *inv_scale : 1, clip != nullptr ? *clip : 1};
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

/// The element of a 0-dim float32 array, or null.
inline const float* float_in(const Array* array) {
  return array != nullptr ? array->data_as<float>() : nullptr;
}
inline const float* skip_flag(const optim::StepControl& control) {
  return float_in(control.found_inf);
}

/// The states of the parameters of a list of updates, in the same order.
using States = std::vector<const optim::ParamState*>;

/// Runs the updates, unless found_inf. With control.late they may run on its stream.
template <class Update, std::size_t N>
void run_updates(const std::vector<TensorUpdate<Update, N>>& updates, const States& states,
                 const optim::StepControl& control) {
  if (control.late == nullptr) return multi_tensor(updates, skip_flag(control));
  std::vector<LateUpdates::Item> items;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    items.push_back({updates[i].operands, states[i]});
  }
  control.late->run(items, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    multi_tensor(std::vector(updates.begin() + begin, updates.begin() + end), skip_flag(control));
  });
}

/// Runs the updates. Unscales and clips the gradients in place, as the control says. `states` may
/// be empty without control.late.
template <class Update, std::size_t N>
void update_parameters(const std::vector<TensorUpdate<Update, N>>& updates, const States& states,
                       const optim::StepControl& control) {
  if (control.inv_scale == nullptr) {
    run_updates(updates, states, control);
  } else {
    std::vector<TensorUpdate<Scaled<Update>, N>> scaled;
    scaled.reserve(updates.size());
    for (const auto& [update, operands] : updates) {
      scaled.push_back({{update, float_in(control.inv_scale), float_in(control.clip)}, operands});
    }
    run_updates(scaled, states, control);
    for (const auto& tensor : updates) tensor.operands[kGradient]->storage()->bump_version();
  }
  for (const auto& tensor : updates) tensor.operands[kParameter]->storage()->bump_version();
}

/// The elements of a narrow gradient, and the factors by which the pass multiplies them. Null if
/// the pass has to read and write the gradient itself.
GradientOperands operands_to_read(const Tensor& gradient, const optim::StepControl& control);

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
    const auto [elements, factors] = operands_to_read(grad, control_);
    const Array* const gradient = elements != nullptr ? elements : &grad.array();
    const bool is_reduced = elements != nullptr && elements->dtype() != kFloat;
    const bool stays_narrow = is_reduced || factors != nullptr;
    const float* const inv_scale = float_in(factors);
    const float* const clip = factors != nullptr ? inv_scale + 1 : nullptr;
    // In the pass of 16-bit gradients, a float32 one has no shadow: the weight is stored twice.
    const Array* const shadow = is_reduced ? shadow_to_write(param, elements->dtype()) : weight;
    if (control_.late != nullptr && factors != nullptr) control_.late->add_constant(*factors);
    const auto master = state.find(kMaster);
    std::apply(
        [&](const auto*... moment) {
          if (stays_narrow) {
            narrow_.push_back({{{update}, inv_scale, clip}, {weight, gradient, shadow, moment...}});
            narrow_params_.push_back(param);
            narrow_states_.push_back(&state);
            if (is_reduced) shadowed_.push_back(param);
          } else if (master == state.end()) {
            plain_.push_back({update, {weight, gradient, moment...}});
            plain_states_.push_back(&state);
          } else {
            auto* const overflows = state.at(kOverflows).data_as<std::int64_t>();
            mastered_.push_back({{update, overflow_limit(param.dtype()), overflows},
                                 {weight, gradient, &master->second, moment...}});
            mastered_states_.push_back(&state);
          }
        },
        moments);
  }

  void run() const {
    update_parameters(plain_, plain_states_, control_);
    update_parameters(mastered_, mastered_states_, control_);
    run_updates(narrow_, narrow_states_, control_);
    for (const Tensor& param : narrow_params_) param.array().storage()->bump_version();
    for (const Tensor& param : shadowed_) shadow_was_written(param);
    if (control_.clip == nullptr) return;
    for (const Tensor& param : narrow_params_) set_factors(param.grad(), *control_.factors);
  }

 private:
  const optim::StepControl& control_;
  std::vector<TensorUpdate<Scaled<ForShadow<Update>, false>, kMoments + 3>> narrow_;
  std::vector<Tensor> narrow_params_, shadowed_;
  std::vector<TensorUpdate<Update, kMoments + 2>> plain_;
  std::vector<TensorUpdate<ForMaster<Update>, kMoments + 3>> mastered_;
  States narrow_states_, plain_states_, mastered_states_;
};

}  // namespace halfgrad::detail
