#pragma once

#include <cstddef>

#include <halfgrad/emulator/ptx/encoder.h>
#include <halfgrad/emulator/ptx/instructions/atomic_operations.h>

namespace halfgrad::emulator {

/// The operation that a modifier of the statement names. Throws if none does.
AtomicOperation atomic_operation_of(const Encoder& encoder);

/// Replaces the element at `place` by its combination with the one at `operand`, in one step.
/// Shared memory belongs to one host thread.
using Reduction = void (*)(std::byte* place, const std::byte* operand, bool shared);

/// The reduction of a type; nullptr: PTX has none. f32 flushes subnormals in global memory.
Reduction reduction_of(AtomicOperation operation, Type type);

}  // namespace halfgrad::emulator
