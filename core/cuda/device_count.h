#pragma once

namespace halfgrad::detail {

/// How many GPUs this process may use; 0 where there is none, or no driver for it.
int cuda_device_count() noexcept;

}  // namespace halfgrad::detail
