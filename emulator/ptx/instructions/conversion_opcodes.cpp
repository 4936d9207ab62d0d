#include <halfgrad/emulator/ptx/families.h>

namespace halfgrad::emulator {

std::span<const OpcodeEntry> conversion_opcodes() { return {}; }

}  // namespace halfgrad::emulator
