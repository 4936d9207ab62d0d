#include <halfgrad/emulator/ptx/families.h>

namespace halfgrad::emulator {

std::span<const OpcodeEntry> control_opcodes() { return {}; }

}  // namespace halfgrad::emulator
