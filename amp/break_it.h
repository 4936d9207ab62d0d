#pragma once

#include <cstdint>

#include <halfgrad/core/hd.h>

/// Bugs that other loss scalers are suspected to have shipped, to be put into this one on purpose:
/// docs/labs.md. The build of the tests compiles the sources concerned once more with
/// HALFGRAD_BREAK=<bug>, and expects a test to fail. Elsewhere broken() is false.
namespace halfgrad::detail {

enum class Bug : std::uint8_t {
  none,
  flashlight_growth,       // the scale, not the good steps, is compared with the interval
  scale_before_gradients,  // DeepSpeed: gradients are divided by the scale they will carry next
  sum_is_one,              // FairScale: found_infs are summed, and 1 is bad
  verdict_discarded,       // FairScale: the combined found_inf is thrown away
  loss_dtype,              // FSDP, MindSpore: the scaled loss has the loss's dtype
  min_scale_lost,          // jmp: forgotten when the state is saved and loaded
  cumulative_hysteresis,   // Megatron-LM: good steps do not make bad ones be forgotten
  unlimited_growth,        // Keras: the scale may become inf
  late_growth,             // flax: on the good step after the interval's last
  late_first_growth,       // DeepSpeed: so in the first window after a bad step
  tracker_kept,            // nnabla: the counter goes on after growth
  stale_gradients,         // Paddle: NaN gradients of a skipped step are added to
  unscale_stops_early,     // Flashlight: gradients after the first bad one stay scaled
  factors_swapped,         // FSDP: the back-off factor comes before the growth factor
  bad_batch_repeated,      // nnabla: a bad batch is tried again until it is good
  scale_of_next_loss,      // RoundPipe's guide: the loss is divided by the scale after update()
};

#if !defined(HALFGRAD_BREAK)
#define HALFGRAD_BREAK none
#endif

inline constexpr Bug kPlanted = Bug::HALFGRAD_BREAK;

HG_HD constexpr bool broken(Bug bug) { return kPlanted != Bug::none && bug == kPlanted; }

}  // namespace halfgrad::detail
