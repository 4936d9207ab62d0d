#pragma once

#include <halfgrad/emulator/memory/allocations.h>

namespace halfgrad::emulator {

/// Begins `Allocation::made_by` of memory that belongs to a captured graph: no leak.
inline constexpr const char* kGraphMemory = "a graph's ";
/// The pool of memory that a graph's allocation nodes make. All devices may access it here.
inline constexpr PoolId kGraphPool = 1;
/// Whether kernels on the device may access memory of the pool. Memory of a pool that was destroyed
/// may be accessed by all.
bool pool_is_accessible(PoolId pool, int device);

}  // namespace halfgrad::emulator
