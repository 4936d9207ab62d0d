#pragma once

#include <cstdint>
#include <span>

#include <halfgrad/amp/scale_update.h>
#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// A GradScaler's state on the device of the first loss. The host reads and writes it only when the
/// user asks: an iteration never waits for the device.
struct ScaleState {
  enum Counter : std::uint8_t { steps, skipped_steps, growths, backoffs, kCounters };

  ScaleState() = default;
  ScaleState(const amp::LossScale& first, Device device);

  bool initialized() const { return scale.defined(); }
  void set(const amp::LossScale& value) const;
  /// Waits for the device.
  amp::LossScale read() const;
  /// Sets `scale` and inv_scale from one element of any dtype. The next update_scale() still starts
  /// from next_scale.
  void set_scale(const Array& value) const;
  /// Sets next_scale, too: the next update_scale() starts from `value`.
  void reset_scale(const Array& value) const;

  Array scale;           ///< float32, 0-dim: scale of the present losses and gradients
  Array next_scale;      ///< float32, 0-dim: the result of the last update; see amp::LossScale
  Array inv_scale;       ///< float32, 0-dim: 1 / scale, computed in double
  Array growth_tracker;  ///< int32, 0-dim: good steps in a row since the scale last grew
  Array bad_steps;       ///< int32, 0-dim: bad steps in a row, counted up to the hysteresis
  Array event;           ///< int32, 0-dim: amp::ScaleEvent of the last update
  Array counters;        ///< int64 [kCounters]
};

/// amp::next() on the device. The iteration was bad if any of `found_infs` is not 0; NaN is not 0.
void update_scale(const ScaleState& state, std::span<const Array> found_infs,
                  const amp::GradScalerOptions& options);

}  // namespace halfgrad::detail
