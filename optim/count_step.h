#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Adds one to `count` (int64, 0-dim) where found_inf (float32, 0-dim) is not 0, on their device.
void count_skipped(const Array& count, const Array& found_inf);

}  // namespace halfgrad::detail
