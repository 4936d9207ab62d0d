#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <halfgrad/emulator/memory/texture_table.h>
#include <halfgrad/emulator/ptx/encoder.h>
#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

// Decode functions of texture_opcodes(), each in the page of its family.
void decode_texture(Encoder& encoder);        ///< tex, tld4
void decode_texture_query(Encoder& encoder);  ///< txq, suq
void decode_surface_load(Encoder& encoder);   ///< suld
void decode_surface_store(Encoder& encoder);  ///< sust

/// The geometry that an instruction names: .1d, .2d, .3d, .a1d, .a2d, .cube or .acube.
ImageShape geometry_of(const Encoder& encoder);

/// The address operand `[handle, {x, y}]`: appends the handle as a source and returns the
/// coordinates. Throws for another form, or for fewer than `count` coordinates.
std::span<const Operand> handle_and_coordinates(Encoder& encoder, const Operand& operand,
                                                unsigned count);

/// The object of a handle. Ends the kernel if there is none, or if it is of the other kind.
const TextureObject& object_of(Execution& execution, const Instruction& instruction,
                               std::uint64_t handle, bool is_surface);

/// Calls f(part, object) for each handle that active lanes hold, with the lanes that hold it.
template <class F>
void each_object(Execution& execution, const Instruction& instruction, bool is_surface, F f) {
  const auto* handles = execution.lanes<std::uint64_t>(instruction.source(0));
  for (LaneMask left = execution.mask; left != 0;) {
    const std::uint64_t handle = handles[first_lane(left)];
    LaneMask same = 0;
    each_lane(left, [&](unsigned lane) {
      if (handles[lane] == handle) same |= LaneMask{1} << lane;
    });
    Execution part = execution;
    part.mask = same;
    f(part, object_of(part, instruction, handle, is_surface));
    left &= ~same;
  }
}

}  // namespace halfgrad::emulator
