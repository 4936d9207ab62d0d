#pragma once

namespace halfgrad::emulator {

/// Begins `Allocation::made_by` of memory that belongs to a captured graph: no leak.
inline constexpr const char* kGraphMemory = "a graph's ";

}  // namespace halfgrad::emulator
