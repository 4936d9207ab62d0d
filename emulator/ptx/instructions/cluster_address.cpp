// mapa, getctarank (PTX ISA, "Data Movement and Conversion Instructions").
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/memory/cluster_address.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

/// The address of the same place in the shared memory of block `rank`. `generic`: addresses have a
/// window.
template <class T, bool generic>
void map_address(Execution& execution, const Instruction& instruction) {
  T* result = execution.lanes<T>(instruction.operands[0]);
  const T* address = execution.lanes<T>(instruction.source(0));
  const auto* rank = execution.lanes<std::uint32_t>(instruction.source(1));
  const std::size_t blocks = execution.block->cluster.size();
  each_lane(execution.mask, [&](unsigned lane) {
    const std::uint64_t from = address[lane];
    if (rank[lane] >= blocks) {
      abort_kernel(execution, instruction, lane, FindingKind::out_of_bounds,
                   "mapa asks for block " + std::to_string(rank[lane]) + " of a cluster of " +
                       std::to_string(blocks));
    }
    if (generic && (from & kWindowMask) != kSharedWindow) {
      abort_kernel(execution, instruction, lane, FindingKind::out_of_bounds,
                   "mapa expects an address of shared memory");
    }
    const std::uint64_t mapped = cluster_address(rank[lane], from);
    result[lane] = static_cast<T>(generic ? kSharedWindow | mapped : mapped);
  });
}

template <class T, bool generic>
void rank_of_block(Execution& execution, const Instruction& instruction) {
  auto* result = execution.lanes<std::uint32_t>(instruction.operands[0]);
  const T* address = execution.lanes<T>(instruction.source(0));
  each_lane(execution.mask, [&](unsigned lane) {
    const std::uint64_t from = address[lane] & ~(generic ? kWindowMask : 0);
    const std::uint64_t rank = from >> kRankShift;
    result[lane] = rank == 0 ? execution.block->rank : static_cast<std::uint32_t>(rank - 1);
  });
}

/// Calls f.operator()<T, generic>() for the form of the statement.
template <class F>
Execute with_form(const Encoder& encoder, Type type, F f) {
  const bool generic = !encoder.statement.has("shared::cluster");
  if (bytes_of(type) == 4) {
    if (generic) encoder.unknown("a generic address of 32 bits");
    return f.template operator()<std::uint32_t, false>();
  }
  return generic ? f.template operator()<std::uint64_t, true>()
                 : f.template operator()<std::uint64_t, false>();
}

}  // namespace

/// mapa{.shared::cluster}.type d, a, rank;
void decode_map_address(Encoder& encoder) {
  const Type type = encoder.statement.type();
  encoder.operands_of(type, {type, Type::u32});
  encoder.instruction.execute = with_form(
      encoder, type, []<class T, bool generic> { return Execute{map_address<T, generic>}; });
}

/// getctarank{.shared::cluster}.type d, a;
void decode_rank_of_block(Encoder& encoder) {
  const Type type = encoder.statement.type();
  encoder.operands_of(Type::u32, {type});
  encoder.instruction.execute = with_form(
      encoder, type, []<class T, bool generic> { return Execute{rank_of_block<T, generic>}; });
}

}  // namespace halfgrad::emulator
