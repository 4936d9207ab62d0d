#include <halfgrad/amp/loss_scalers/loss_scalers.h>

#include <limits>
#include <string>

#include <halfgrad/core/fail.h>

namespace halfgrad::amp {
namespace {

using Growth = ScaleRule::Growth;
using Forgives = ScaleRule::Forgives;

constexpr LossScaler kLossScalers[] = {
    {"PyTorch", "torch.amp.GradScaler, and those of FairScale and OneFlow", {}},
    {"FSDP",
     "ShardedGradScaler on the CPU: growth is not checked for inf",
     {.rule = {.grows_to_infinity = true}}},
    {"RoundPipe",
     "GradScaler with update(is_async=True): PyTorch's, one iteration late",
     {.rule = {.one_step_late = true}}},
    {"Apex", "apex.amp LossScaler", {.max_scale = 0x1p24}},
    {"Apex fp16_utils",
     "DynamicLossScaler",
     {.init_scale = 0x1p32,
      .growth_interval = 1000,
      .min_scale = 1,
      .rule = {.grows_to_infinity = true}}},
    {"Apex hysteresis",
     "csrc/update_scale_hysteresis.cu: the caller's constants, here PyTorch's, hysteresis 2",
     {.hysteresis = 2}},
    {"Megatron-LM",
     "DynamicGradScaler: bad steps are forgotten when the scale grows, not by good steps",
     {.init_scale = 0x1p32,
      .growth_interval = 1000,
      .min_scale = 1,
      .hysteresis = 2,
      .rule = {.forgives = Forgives::growth, .grows_to_infinity = true}}},
    {"DeepSpeed",
     "DynamicLossScaler: the first window after the start or a bad step is 1001 long",
     {.growth_interval = 1000,
      .min_scale = 1,
      .hysteresis = 2,
      .rule = {.after_bad_step = -1, .forgives = Forgives::growth, .grows_to_infinity = true}}},
    {"ColossalAI",
     "DynamicGradScaler with the limits of its fp16 mixin",
     {.growth_interval = 1000,
      .min_scale = 1,
      .max_scale = 0x1p32,
      .hysteresis = 2,
      .rule = {.forgives = Forgives::growth}}},
    {"Keras",
     "LossScaleOptimizer: no floor and no cap",
     {.init_scale = 0x1p15, .rule = {.grows_to_infinity = true}}},
    {"jmp",
     "DynamicLossScale: the caller's scale, here 2^15",
     {.init_scale = 0x1p15, .min_scale = 1}},
    {"flax",
     "DynamicScale: every window is 2001 long",
     {.min_scale = std::numeric_limits<float>::min(),
      .max_scale = std::numeric_limits<float>::max(),
      .rule = {.after_bad_step = -1, .after_growth = -1}}},
    {"Paddle", "paddle.amp.GradScaler", {.rule = {.grows_to_infinity = true}}},
    {"Paddle AmpScaler",
     "with decr_every_n_nan_or_inf 2, as its docstring says",
     {.init_scale = 0x1p15,
      .growth_interval = 1000,
      .hysteresis = 2,
      .rule = {.forgives = Forgives::good_step_or_backoff, .grows_to_infinity = true}}},
    {"MindSpore",
     "amp.DynamicLossScaler: the caller's constants, here 2^15 and a window of 2000",
     {.init_scale = 0x1p15, .min_scale = 1}},
    {"MindSpore manager",
     "DynamicLossScaleManager: raises after more than 1000 bad steps in a row",
     {.init_scale = 0x1p24, .min_scale = 1, .rule = {.grows_to_infinity = true}}},
    {"MXNet",
     "amp LossScaler: one iteration late",
     {.max_scale = 0x1p24, .rule = {.one_step_late = true}}},
    {"Flashlight",
     "DynamicScaler: compares the scale with the interval; fatal below 1e-4",
     {.init_scale = 4096,
      .min_scale = 1e-4,
      .max_scale = 32000,
      .rule = {.growth = Growth::by_two}}},
    {"nnabla",
     "AutoLossScalingUpdater with its two misspelt names corrected; repeats a bad step until it is "
     "good",
     {.init_scale = 8,
      .rule = {.after_bad_step = -2, .after_growth = -1, .grows_to_infinity = true}}},
    {"OpenSeq2Seq", "'backoff'", {.init_scale = 0x1p24, .min_scale = 1, .max_scale = 0x1p24}},
    {"Chainer",
     "loss_scaling(): the caller's constants, here 2^16 and an interval of 1000",
     {.growth_interval = 1000, .rule = {.growth = Growth::every_step, .grows_to_infinity = true}}},
};

}  // namespace

std::span<const LossScaler> loss_scalers() { return kLossScalers; }

const LossScaler& loss_scaler(std::string_view name) {
  std::string names;
  for (const LossScaler& scaler : kLossScalers) {
    if (scaler.name == name) return scaler;
    names += (names.empty() ? "" : ", ") + std::string(scaler.name);
  }
  halfgrad::detail::fail("loss_scaler", "expected one of {}, got {}", names, name);
}

}  // namespace halfgrad::amp
