#include <halfgrad/emulator/ptx/families.h>
#include <halfgrad/emulator/ptx/instructions/matrix.h>

namespace halfgrad::emulator {

std::span<const OpcodeEntry> matrix_opcodes() {
  static constexpr OpcodeEntry kOpcodes[] = {
      {"mma", decode_mma},
      {"wmma", decode_wmma},
      {"ldmatrix", decode_ldmatrix},
      {"stmatrix", decode_stmatrix},
      {"movmatrix", decode_movmatrix},
      {"wgmma", decode_warpgroup_product},
  };
  return kOpcodes;
}

}  // namespace halfgrad::emulator
