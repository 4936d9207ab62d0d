#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <halfgrad/emulator/ptx/instruction.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

struct Frame;
struct Warp;
struct Block;
struct Launch;

/// Context of an executing instruction: the lanes that execute it and their registers.
struct Execution {
  LaneMask mask = 0;
  std::byte* registers = nullptr;  ///< register file of the frame
  Frame* frame = nullptr;
  Warp* warp = nullptr;
  Block* block = nullptr;
  Launch* launch = nullptr;

  /// The 32 values of an operand.
  template <class T>
  T* lanes(Offset offset) const {
    return reinterpret_cast<T*>(registers + offset);
  }
  /// A predicate operand.
  LaneMask& predicate(Offset offset) const { return *lanes<LaneMask>(offset); }
};

/// Computes `f(a, b, ...)` for all lanes and keeps the active lanes' results. f must be defined for
/// any input: inactive lanes compute, too, so that the loop vectorises.
template <class R, class... A, class F, std::size_t... I>
void compute_lanes(Execution& execution, const Instruction& instruction, F f,
                   std::index_sequence<I...>) {
  R* result = execution.lanes<R>(instruction.operands[0]);
  const auto inputs = std::tuple<const A*...>(execution.lanes<A>(instruction.operands[I + 1])...);
  const LaneMask mask = execution.mask;
  R values[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane) values[lane] = f(std::get<I>(inputs)[lane]...);
  if (mask == kAllLanes) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) result[lane] = values[lane];
  } else {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      result[lane] = (mask >> lane & 1) != 0 ? values[lane] : result[lane];
    }
  }
}

/// An Execute for an instruction with one destination and sources of types A...: F is a stateless
/// functor (or the type of a lambda without captures).
template <class F, class R, class... A>
void lanewise(Execution& execution, const Instruction& instruction) {
  compute_lanes<R, A...>(execution, instruction, F{}, std::index_sequence_for<A...>{});
}

}  // namespace halfgrad::emulator
