#include <halfgrad/emulator/ptx/families.h>

namespace halfgrad::emulator {

std::span<const OpcodeEntry> memory_opcodes() { return {}; }

}  // namespace halfgrad::emulator
