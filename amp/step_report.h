#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>

#include <halfgrad/amp/scale_update.h>

namespace halfgrad::amp {

class ParameterNames;

/// One optimizer in one iteration, from its check to update(). GradScaler::reports() copies the
/// reports from the device. The fields that next() needs are exact: applied to a log, next()
/// reproduces every scale in it.
struct StepReport {
  std::int64_t step = 0;                ///< the iteration: number of earlier update() calls
  std::int64_t optimizer = 0;           ///< in the order of their checks in the iteration; -1: none
  double scale = 0;                     ///< the loss's factor
  double next_scale = 0;                ///< after update()
  bool found_inf = false;               ///< in this optimizer's gradients
  bool stepped = false;                 ///< step() was called, not unscale_() alone
  ScaleEvent event = ScaleEvent::none;  ///< the iteration's, whichever optimizer caused it
  std::int32_t good_steps = 0;          ///< the growth tracker after update()
  std::int32_t bad_steps = 0;           ///< after update(), counted up to the hysteresis
  std::int64_t nonfinite = 0;           ///< number of elements that were inf or NaN
  std::int64_t first_bad_parameter = -1;  ///< counted through the optimizer's groups; -1: none
  double grad_norm = 0;    ///< 2-norm of the gradients, unscaled, when they were checked
  double clip_factor = 1;  ///< norm at step() / norm at unscale_(): below 1 after clipping
  /// The sum of the losses of one element that scale() got in the iteration, before the scale: the
  /// loss of the batch if micro-batches divide theirs. Empty if there was none.
  std::optional<double> loss = {};
  std::int64_t nonfinite_parameters = 0;  ///< number of parameters with such elements

  bool applied() const { return stepped && !found_inf; }
  bool skipped() const { return stepped && found_inf; }
};

/// One sentence: "step 7: skipped, 3 elements inf or NaN, the first in parameter 2; the scale backs
/// off from 65536 to 32768".
std::string explain(const StepReport& report);
/// The same sentence with names: "the first in encoder.2.weight".
std::string explain(const StepReport& report, const ParameterNames& names);

/// Writes a line of names, then a line for each report. Every value reads back exactly; a loss that
/// is not there is an empty cell.
void write_csv(std::ostream& out, std::span<const StepReport> reports);

/// Writes an array of objects with the same names; values that are not finite become null.
void write_json(std::ostream& out, std::span<const StepReport> reports);

}  // namespace halfgrad::amp
