#pragma once

#include <span>
#include <string_view>

#include <halfgrad/emulator/ptx/encoder.h>

namespace halfgrad::emulator {

/// An opcode and the function that decodes it, for every type it has.
struct OpcodeEntry {
  std::string_view opcode;
  Decode decode;
};

// Each list names the opcodes of some pages in ptx/instructions/. An opcode stands in one list.
std::span<const OpcodeEntry> arithmetic_opcodes();  ///< add mul fma min setp selp and shl prmt ...
std::span<const OpcodeEntry> conversion_opcodes();  ///< cvt cvta mov isspacep ...
std::span<const OpcodeEntry> warp_opcodes();        ///< shfl vote match redux activemask elect
std::span<const OpcodeEntry> matrix_opcodes();      ///< ldmatrix stmatrix mma wmma movmatrix
std::span<const OpcodeEntry> memory_opcodes();   ///< ld st atom red cp mbarrier fence prefetch ...
std::span<const OpcodeEntry> texture_opcodes();  ///< tex tld4 txq suld sust suq
std::span<const OpcodeEntry> control_opcodes();  ///< bra call ret exit bar barrier trap nanosleep

/// The decode function of an opcode, or nullptr if no page implements it.
Decode decode_function(std::string_view opcode);

}  // namespace halfgrad::emulator
