#include <halfgrad/emulator/ptx/families.h>

namespace halfgrad::emulator {

std::span<const OpcodeEntry> warp_opcodes() { return {}; }

}  // namespace halfgrad::emulator
