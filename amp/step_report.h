#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

#include <halfgrad/amp/scale_update.h>

namespace halfgrad::amp {

/// What became of one optimizer in one iteration, from its check to update(). GradScaler::reports()
/// copies them from the device. The fields that next() needs are exact: run over a log, it gives
/// every scale in it.
struct StepReport {
  std::int64_t step = 0;                ///< the iteration: how many update() came before
  std::int64_t optimizer = 0;           ///< in the order of their checks in the iteration; -1: none
  double scale = 0;                     ///< that the loss was multiplied by
  double next_scale = 0;                ///< after update()
  bool found_inf = false;               ///< in this optimizer's gradients
  bool stepped = false;                 ///< step() was called, not unscale_() alone
  ScaleEvent event = ScaleEvent::none;  ///< of the iteration, whichever optimizer caused it
  std::int32_t good_steps = 0;          ///< the growth tracker after update()
  std::int32_t bad_steps = 0;           ///< after update(), counted up to the hysteresis
  std::int64_t nonfinite = 0;           ///< how many elements were inf or NaN
  std::int64_t first_bad_parameter = -1;  ///< counted through the optimizer's groups; -1: none
  double grad_norm = 0;    ///< 2-norm of the gradients, unscaled, when they were checked
  double clip_factor = 1;  ///< the norm at step() over that at unscale_(): what clipping left

  bool applied() const { return stepped && !found_inf; }
  bool skipped() const { return stepped && found_inf; }
};

/// One sentence: "step 7: skipped, 3 elements inf or NaN, the first in parameter 2; the scale backs
/// off from 65536 to 32768".
std::string explain(const StepReport& report);

/// A line of names, then one for each report. Numbers read back as they were.
void write_csv(std::ostream& out, std::span<const StepReport> reports);

/// An array of objects with the same names; null for what is not finite.
void write_json(std::ostream& out, std::span<const StepReport> reports);

}  // namespace halfgrad::amp
