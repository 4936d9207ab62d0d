#pragma once

#include <halfgrad/emulator/ptx/encoder.h>
#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

// Decode functions of the pages about lanes that work together: shuffle.cpp, vote.cpp, match.cpp,
// warp_reduction.cpp and warp_members.cpp.
void decode_shuffle(Encoder& encoder);
void decode_vote(Encoder& encoder);
void decode_match(Encoder& encoder);
void decode_warp_reduction(Encoder& encoder);
void decode_active_mask(Encoder& encoder);
void decode_elect(Encoder& encoder);

/// Appends statement operand i as the member mask of a `*.sync` instruction. The scheduler then
/// waits for the lanes that the mask names, and executes for exactly these.
void member_mask(Encoder& encoder, unsigned i);
/// Appends all lanes of the warp as the member mask, for `.aligned` instructions without a mask
/// operand.
void all_lanes_are_members(Encoder& encoder);

/// Whether the instruction is a shfl. Two of one mode have the same `execute`.
bool is_shuffle(const Instruction& instruction);

/// Whether the instruction is a match.sync.
bool is_match(const Instruction& instruction);

/// Reports lanes that miss from an instruction that needs the whole warp.
void check_whole_warp(const Execution& execution, const Instruction& instruction);

/// Keeps the values of active lanes; inactive lanes' registers stay as they are.
template <class T>
void write_lanes(T* result, const T (&values)[kWarpSize], LaneMask mask) {
  if (mask == kAllLanes) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) result[lane] = values[lane];
    return;
  }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    result[lane] = (mask >> lane & 1) != 0 ? values[lane] : result[lane];
  }
}

/// Gives all active lanes one value.
template <class T>
void broadcast(T* result, T value, LaneMask mask) {
  T values[kWarpSize];
  for (T& one : values) one = value;
  write_lanes(result, values, mask);
}

/// Sets a predicate of active lanes to the bits of `value`.
inline void write_predicate(LaneMask& result, LaneMask value, LaneMask mask) {
  result = (result & ~mask) | (value & mask);
}

}  // namespace halfgrad::emulator
