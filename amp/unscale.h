#pragma once

#include <cstdint>
#include <span>

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// The values that must be finite: the gradients as they are, or after unscaling.
enum class Check : std::uint8_t { scaled, unscaled };

/// Sets found_inf (float32, 0-dim) to 1 if a gradient holds an inf or a NaN; else leaves it alone.
/// Gradients are floating point, of any strides, on any devices: inv_scale is copied there, and
/// found_inf back. The host waits only if some of them are on a GPU and others on the CPU.
void check_finite(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
                  Check check);

/// Does the same, and multiplies every gradient by inv_scale in place, finite or not.
void unscale(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
             Check check);

/// out = a if a is not 0, else b: not 0 if either is not. All are float32, 0-dim, on one device.
void combine_found_inf(const Array& out, const Array& a, const Array& b);

}  // namespace halfgrad::detail
