#pragma once

#include <halfgrad/emulator/ptx/encoder.h>
#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

/// Appends statement operands [first, first + n) as predicate sources. Bit i of
/// `instruction.bytes[15]` remembers `!p` of source i.
inline void predicate_sources(Encoder& encoder, unsigned first, unsigned n) {
  for (unsigned i = first; i < first + n; ++i) {
    const unsigned source = encoder.instruction.sources;
    if (encoder.statement.operands[i].negated) {
      encoder.instruction.bytes[15] |= static_cast<std::uint8_t>(1u << source);
    }
    encoder.source(i, Type::pred);
  }
}

/// Source i, a predicate that may be negated.
inline LaneMask source_predicate(const Execution& execution, const Instruction& instruction,
                                 unsigned i) {
  const LaneMask negated = 0u - (instruction.bytes[15] >> i & 1u);
  return execution.predicate(instruction.source(i)) ^ negated;
}

/// Writes the active lanes of a predicate.
inline void set_predicate(Execution& execution, Offset offset, LaneMask value) {
  LaneMask& predicate = execution.predicate(offset);
  predicate = (predicate & ~execution.mask) | (value & execution.mask);
}

}  // namespace halfgrad::emulator
