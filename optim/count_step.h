#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Adds one to `skipped` where found_inf (float32, 0-dim) is not 0, else to `executed` if that is
/// defined. The counters are int64, 0-dim, on found_inf's device.
void count_step(const Array& found_inf, const Array& skipped, const Array& executed = {});

}  // namespace halfgrad::detail
