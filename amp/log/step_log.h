#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/amp/scale_state.h>
#include <halfgrad/amp/step_report.h>
#include <halfgrad/core/array.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// Figures of an optimizer's gradients, which may be on any devices, on the scale's device.
struct GradientFigures {
  Array nonfinite;  ///< float64 [parameters]: number of elements that are inf or NaN
  Array squares;    ///< float64 [parameters]: sum of squares; 0 without a gradient
};
GradientFigures measure(const optim::Optimizer& optimizer, Device device);

/// The contents of a report before update(). Arrays are undefined if nothing was checked;
/// squares_at_step also if unscale_() was not called before step().
struct StepEntry {
  bool stepped = false;
  Array found_inf{};          ///< float32, 0-dim
  GradientFigures checked{};  ///< figures of the scaled gradients
  Array squares_at_step{};    ///< at step(), of gradients that unscale_() had unscaled
};

/// The last reports, in a ring buffer on the scale's device. Its position is stored there too, so
/// that a captured graph may write to it.
class StepLog {
 public:
  StepLog() = default;
  StepLog(std::int64_t capacity, Device device);

  static Shape sizes(std::int64_t capacity);
  bool enabled() const { return rows_.defined(); }
  /// The whole log, for a checkpoint.
  const Array& rows() const { return rows_; }

  /// Adds a loss of one element, on any device, to the sum of this iteration.
  void add_loss(const Array& loss) const;
  /// Forgets the losses of this iteration.
  void drop_losses() const;

  /// Write the reports of an iteration: begin() before its update(), while the scale is that of the
  /// gradients, and end() after it.
  void begin(const std::vector<StepEntry>& entries, const ScaleState& state) const;
  void end(std::int64_t entries, const ScaleState& state) const;

  /// The reports in rows(), or in a copy of them, oldest first. Waits for the device.
  static std::vector<amp::StepReport> read(const Array& rows);

 private:
  Array rows_;  // float64 [capacity + 1, kFields]; the last row holds counters
};

}  // namespace halfgrad::detail
