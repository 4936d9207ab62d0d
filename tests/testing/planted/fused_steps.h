#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <halfgrad/tests/testing/planted/calls.h>

/// Whole steps of optimizers under a loss scaler, right ones and ones with a usual mistake.
namespace halfgrad::testing::planted {

enum FusedMistake : int {
  reciprocal_scale = -1,  // right
  skips_nothing = 1,
  counts_skipped_step = 2,
  unscales_twice = 3,
  unscales_after_decay = 4,
  writes_state_on_skip = 5,
  blends = 6,
  old_step = 7,
  multiplies_by_scale = 8,
  no_decay = 9,
  corrects_early_steps_only = 10,
  counts_in_16_bits = 11,
};

constexpr float kDecay = 0.1F;

/// The gradient, with decay unless it is decoupled.
inline float unscaled(const Calls& c, I i, float scale, bool decays, int mistake) {
  const float grad = c.x(1, i), decay = decays && mistake != no_decay ? kDecay * c.x(0, i) : 0;
  switch (mistake) {
    case reciprocal_scale:
      return grad * (1 / scale) + decay;
    case unscales_twice:
      return grad / scale / scale + decay;
    case unscales_after_decay:
      return (grad + decay) / scale;
    case multiplies_by_scale:
      return grad * scale + decay;
    default:
      return grad / scale + decay;
  }
}

/// Writes a result, or what it was before a step that is skipped.
inline void put(const Calls& c, int output, int operand, I i, float value, float found_inf,
                int mistake) {
  const float before = c.x(operand, i);
  const bool skip = found_inf == 1 && mistake != skips_nothing &&
                    !(mistake == writes_state_on_skip && output > 0);
  if (mistake == blends) value = found_inf * before + (1 - found_inf) * value;
  c.y(output, i, skip && mistake != blends ? before : value);
}

inline void fused_sgd_step(const Calls& c, int mistake) {
  const float scale = c.x(3, 0), found_inf = c.x(4, 0);
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float g = unscaled(c, i, scale, true, mistake);
    const float buffer = 0.9F * c.x(2, i) + g;
    put(c, 1, 2, i, buffer, found_inf, mistake);
    put(c, 0, 0, i, c.x(0, i) - 0.01F * buffer, found_inf, mistake);
  }
}

/// The number of the step, as the bias corrections use it.
inline float corrected_step(float before, int mistake) {
  const float step = before + 1;
  if (mistake == old_step) return before;
  if (mistake == corrects_early_steps_only && step > 1000) return 1e6F;
  return mistake == counts_in_16_bits ? static_cast<std::int16_t>(static_cast<int>(step)) : step;
}

inline void fused_adam(const Calls& c, int mistake, bool decoupled) {
  const float scale = c.x(5, 0), found_inf = c.x(6, 0), before = c.x(4, 0);
  const float step = before + 1, used = corrected_step(before, mistake);
  const bool by_powf = mistake == reciprocal_scale;
  const auto correction = [&](double beta) {
    return by_powf ? 1 - std::pow(static_cast<float>(beta), used)
                   : static_cast<float>(1 - std::pow(beta, used));
  };
  const float correction1 = correction(0.9), correction2 = std::sqrt(correction(0.999));
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float g = unscaled(c, i, scale, !decoupled, mistake);
    const float m = c.x(2, i) + 0.1F * (g - c.x(2, i)), v = 0.999F * c.x(3, i) + 0.001F * g * g;
    float p = c.x(0, i);
    if (decoupled && mistake != no_decay) p -= 0.001F * kDecay * p;
    p -= 0.001F / correction1 * m / (std::sqrt(v) / correction2 + 1e-8F);
    put(c, 0, 0, i, p, found_inf, mistake);
    put(c, 1, 2, i, m, found_inf, mistake);
    put(c, 2, 3, i, v, found_inf, mistake);
  }
  const bool counts = found_inf == 0 || mistake == counts_skipped_step || mistake == skips_nothing;
  c.y(3, 0, counts ? step : before);
}
inline void fused_adam_step(const Calls& c, int mistake) { fused_adam(c, mistake, false); }
inline void fused_adamw_step(const Calls& c, int mistake) { fused_adam(c, mistake, true); }

inline std::vector<BackwardKernel> fused_steps() {
  constexpr bool kOnlyInFloat32 = true;
  std::vector<BackwardKernel> all;
  const auto add = [&](const char* op, void (*run)(const Calls&, int)) {
    all.insert(all.end(), {{op, 0, "right", run},
                           {op, reciprocal_scale, "multiplies by 1 / scale", run},
                           {op, skips_nothing, "skips nothing", run},
                           {op, unscales_twice, "unscales twice", run},
                           {op, writes_state_on_skip, "writes states of a skipped step", run},
                           {op, blends, "multiplies a skipped step by 0", run},
                           {op, multiplies_by_scale, "multiplies by the scale", run}});
  };
  add("fused_sgd_step", fused_sgd_step);
  add("fused_adam_step", fused_adam_step);
  add("fused_adamw_step", fused_adamw_step);
  const char *const sgd = "fused_sgd_step", *const adam = "fused_adam_step",
                    *const adamw = "fused_adamw_step";
  all.insert(all.end(), {{sgd, unscales_after_decay, "unscales after the decay", fused_sgd_step},
                         {sgd, no_decay, "no decay", fused_sgd_step},
                         {adam, unscales_after_decay, "unscales after the decay", fused_adam_step},
                         {adam, counts_skipped_step, "counts a skipped step", fused_adam_step},
                         {adam, old_step, "corrects by the step before", fused_adam_step},
                         {adam, corrects_early_steps_only, "corrects the first 1000 steps only",
                          fused_adam_step, kOnlyInFloat32},
                         {adam, counts_in_16_bits, "counts steps in 16 bits", fused_adam_step},
                         {adamw, counts_skipped_step, "counts a skipped step", fused_adamw_step},
                         {adamw, no_decay, "no decay", fused_adamw_step, kOnlyInFloat32}});
  return all;
}

}  // namespace halfgrad::testing::planted
