#pragma once

#include <halfgrad/emulator/ptx/function_builder.h>

namespace halfgrad::emulator {

/// Makes loads relaxed that read only what an atomic compare-and-swap is to compare with, as in
///
///     old = *address;
///     do { guess = old; old = atomicCAS(address, guess, f(guess)); } while (old != guess);
///
/// The swap itself finds out whether the value is current, so the load needs no order (CUDA C++
/// Programming Guide, "Atomic Functions", builds a product of atomics this way). Call before
/// registers have their places.
void relax_guessed_loads(Function& function);

}  // namespace halfgrad::emulator
