#pragma once

#include <cstdint>
#include <span>

#include <halfgrad/amp/scale_update.h>
#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// What a GradScaler knows, on the device where the first loss was. The host writes and reads it
/// only where the user asks: an iteration never waits for the device.
struct ScaleState {
  enum Counter : std::uint8_t { steps, skipped_steps, growths, backoffs, kCounters };

  ScaleState() = default;
  ScaleState(const amp::LossScale& first, Device device);

  bool initialized() const { return scale.defined(); }
  void set(const amp::LossScale& value) const;
  /// Waits for the device.
  amp::LossScale read() const;
  /// From one number; stored in float32.
  void set_scale(const Array& value) const;

  Array scale;           ///< float32, 0-dim
  Array next_scale;      ///< float32, 0-dim: see amp::LossScale
  Array inv_scale;       ///< float32, 0-dim: 1 / scale, computed in double
  Array growth_tracker;  ///< int32, 0-dim: good steps since the scale last grew or a step was bad
  Array bad_steps;       ///< int32, 0-dim: bad steps in a row, counted up to the hysteresis
  Array event;           ///< int32, 0-dim: amp::ScaleEvent of the last update
  Array counters;        ///< int64 [kCounters]
};

/// Which numbers must be finite: gradients as they are, or as they will be once unscaled.
enum class Check : std::uint8_t { scaled, unscaled };

/// Sets found_inf (float32, 0-dim) to 1 if a gradient holds an inf or a NaN; else leaves it alone.
/// Gradients are floating point, of any strides, on any devices; inv_scale and found_inf are copied
/// there and back. The host waits where one of them lies on a GPU and another on the CPU.
void check_finite(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
                  Check check);

/// The same, and multiplies the gradients by inv_scale in place, finite or not.
void unscale(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
             Check check);

/// Counts a step as executed or skipped.
void count_step(const ScaleState& state, const Array& found_inf);

/// amp::next() on the device, with the verdict that any found_inf is not 0, NaN included.
void update_scale(const ScaleState& state, std::span<const Array> found_infs,
                  const amp::GradScalerOptions& options);

}  // namespace halfgrad::detail
