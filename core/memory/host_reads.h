#pragma once

#include <cstdint>

#include <halfgrad/core/language.h>

namespace halfgrad::detail {

/// Number of item() calls of this process. On a GPU each of them waits, so a test on the CPU uses
/// the count to check that a training step would not wait.
std::int64_t host_reads();

}  // namespace halfgrad::detail
