#include <array>

#include <halfgrad/emulator/ptx/families.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>

namespace halfgrad::emulator {

std::span<const OpcodeEntry> memory_opcodes() {
  static constexpr std::array kOpcodes{
      OpcodeEntry{"ld", decode_load},
      OpcodeEntry{"ldu", decode_load},
      OpcodeEntry{"st", decode_store},
  };
  return kOpcodes;
}

}  // namespace halfgrad::emulator
