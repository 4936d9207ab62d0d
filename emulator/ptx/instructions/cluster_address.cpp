// mapa, getctarank (PTX ISA, "Data Movement and Conversion Instructions"). A cluster has one block,
// so an address of block 0 of the cluster is the address itself.
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>

namespace halfgrad::emulator {
namespace {

template <class T>
void map_address(Execution& execution, const Instruction& instruction) {
  T* result = execution.lanes<T>(instruction.operands[0]);
  const T* address = execution.lanes<T>(instruction.source(0));
  const auto* rank = execution.lanes<std::uint32_t>(instruction.source(1));
  each_lane(execution.mask, [&](unsigned lane) {
    if (rank[lane] != 0) {
      abort_kernel(
          execution, instruction, lane, FindingKind::out_of_bounds,
          "mapa asks for block " + std::to_string(rank[lane]) + " of a cluster that has one block");
    }
    result[lane] = address[lane];
  });
}

void rank_of_block(Execution& execution, const Instruction& instruction) {
  auto* result = execution.lanes<std::uint32_t>(instruction.operands[0]);
  each_lane(execution.mask, [&](unsigned lane) { result[lane] = 0; });
}

}  // namespace

void decode_map_address(Encoder& encoder) {
  const Type type = encoder.statement.type();
  encoder.operands_of(type, {type, Type::u32});
  encoder.instruction.execute =
      bytes_of(type) == 4 ? map_address<std::uint32_t> : map_address<std::uint64_t>;
}

void decode_rank_of_block(Encoder& encoder) {
  encoder.operands_of(Type::u32, {encoder.statement.type()});
  encoder.instruction.execute = rank_of_block;
}

}  // namespace halfgrad::emulator
