#include <halfgrad/emulator/ptx/families.h>
#include <halfgrad/emulator/ptx/instructions/warp.h>

namespace halfgrad::emulator {

std::span<const OpcodeEntry> warp_opcodes() {
  static constexpr OpcodeEntry kOpcodes[] = {
      {"shfl", decode_shuffle},         {"vote", decode_vote},   {"match", decode_match},
      {"redux", decode_warp_reduction}, {"elect", decode_elect}, {"activemask", decode_active_mask},
  };
  return kOpcodes;
}

}  // namespace halfgrad::emulator
