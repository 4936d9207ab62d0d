#pragma once

#include <halfgrad/emulator/ptx/encoder.h>

namespace halfgrad::emulator {

// Decode functions of memory_opcodes(), each in the page of its family.
void decode_load(Encoder& encoder);   ///< ld, ldu
void decode_store(Encoder& encoder);  ///< st

}  // namespace halfgrad::emulator
