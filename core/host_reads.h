#pragma once

#include <cstdint>

#include <halfgrad/core/language.h>

namespace halfgrad::detail {

/// How often this process has asked an array for its item(), which on a GPU waits: how a test on
/// the CPU sees that a training step would not.
std::int64_t host_reads();

}  // namespace halfgrad::detail
