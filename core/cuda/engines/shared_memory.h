#pragma once

#include <cstddef>

#include <halfgrad/core/cuda/engines/launch.h>

namespace halfgrad::detail {

/// Lets `kernel` have `bytes` of dynamic shared memory on the device of the launch: more than 48
/// KiB need it. Asks the driver only if no call before has asked for as much.
void allow_shared_memory(const Launch& launch, const void* kernel, std::size_t bytes);

}  // namespace halfgrad::detail
