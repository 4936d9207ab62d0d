#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/amp/scale_state.h>
#include <halfgrad/amp/step_report.h>
#include <halfgrad/core/array.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// An optimizer's gradients, on any devices, in figures on the scale's.
struct GradientFigures {
  Array nonfinite;  ///< float64 [parameters]: how many elements are inf or NaN
  Array squares;    ///< float64 [parameters]: sum of squares; 0 without a gradient
};
GradientFigures measure(const optim::Optimizer& optimizer, Device device);

/// What one report tells, but for what update() does. Arrays may be undefined where nothing was
/// checked, or not twice.
struct StepEntry {
  bool stepped = false;
  Array found_inf;          ///< float32, 0-dim
  GradientFigures checked;  ///< of the scaled gradients
  Array squares_at_step;    ///< of gradients that were unscaled before: clipped or not
};

/// The last reports, in a ring on the scale's device. Where it stands is known there alone, so that
/// a captured graph may write to it.
class StepLog {
 public:
  StepLog() = default;
  StepLog(std::int64_t capacity, Device device);

  static Shape sizes(std::int64_t capacity);

  bool enabled() const { return rows_.defined(); }
  /// All there is, for a checkpoint.
  const Array& rows() const { return rows_; }

  /// An iteration's entries, before its update() and after. `scale` is what gradients carry.
  void begin(const std::vector<StepEntry>& entries, const ScaleState& state) const;
  void end(std::int64_t entries, const ScaleState& state) const;

  /// The reports in rows(), or in a copy of them: oldest first. One copy, which waits for the
  /// device.
  static std::vector<amp::StepReport> read(const Array& all);

 private:
  Array rows_;  // float64 [capacity + 1, kFields]; the last row counts
};

}  // namespace halfgrad::detail
