#pragma once

#include <halfgrad/emulator/ptx/function_builder.h>

namespace halfgrad::emulator {

/// Finds the atomic exchanges whose old value no instruction reads. `atomicExch(&count, 0)` is such
/// a store: it may be the first write to its memory. Call before registers have their places.
void mark_plain_exchanges(Function& function);

}  // namespace halfgrad::emulator
