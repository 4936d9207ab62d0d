// st.async, red.async (PTX ISA, "Data Movement and Conversion Instructions: st.async" and "Parallel
// Synchronization and Communication Instructions: red.async"). A store lands when its mbarrier's
// phase completes; a reduction is done when it is issued, the earliest time that the ISA allows.
#include <cstring>
#include <vector>

#include <halfgrad/emulator/ptx/instructions/barrier_copies.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/ptx/instructions/reductions.h>

namespace halfgrad::emulator {
namespace {

constexpr std::string_view kWords[] = {
    "async", "mbarrier::complete_tx::bytes", "add", "min", "max", "and", "or", "xor", "inc", "dec"};

/// Sources: the address, then the mbarrier. The registers of the value are in `list`.
struct AsyncOptions {
  Reduction reduction = nullptr;  ///< nullptr: a store
  std::int16_t barrier_offset = 0;
  std::uint8_t element_bytes = 4, count = 1;
  std::uint8_t to_bytes = 4, barrier_bytes = 4;  ///< bytes of the base addresses
};

/// A lane's elements in the order of memory.
std::vector<std::byte> values_of(const Execution& execution, const Instruction& instruction,
                                 const AsyncOptions& options, unsigned lane) {
  std::vector<std::byte> data(std::size_t{options.element_bytes} * options.count);
  for (unsigned i = 0; i < options.count; ++i) {
    const std::byte* const lanes = execution.registers + instruction.list[i];
    std::memcpy(data.data() + i * options.element_bytes, lanes + lane * options.element_bytes,
                options.element_bytes);
  }
  return data;
}

void execute_async(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<AsyncOptions>();
  const LaneAddresses to = addresses_of(execution, instruction, 0, options.to_bytes);
  const LaneAddresses barriers =
      addresses_of(execution, instruction, 1, options.barrier_bytes, options.barrier_offset);
  each_lane(execution.mask, [&](unsigned lane) {
    const auto data = values_of(execution, instruction, options, lane);
    const auto bytes = static_cast<std::uint32_t>(data.size());
    if (options.reduction == nullptr) {
      issue_copy(execution, instruction, lane, bytes, to[lane], barriers[lane], data,
                 SignalPath::store);
      return;
    }
    each_piece(execution, instruction, lane,
               {.space = Space::shared,
                .kind = AccessKind::store,
                .alignment = static_cast<std::uint8_t>(bytes),
                .asynchronous = true},
               to[lane], bytes, data.data(), [&](std::byte* place, std::uint32_t, std::uint32_t) {
                 options.reduction(place, data.data(), true);
               });
    complete_bytes(execution, instruction, lane, to[lane], barriers[lane], bytes,
                   SignalPath::store);
  });
}

}  // namespace

/// st.async{.v2, .v4}.type [a], b, [mbarrier];  red.async.op.type [a], b, [mbarrier];
void decode_cluster_store(Encoder& encoder) {
  const MemoryForm form = memory_form(encoder, kWords);
  const Statement& statement = encoder.statement;
  if (encoder.operands() != 3 || !statement.has("mbarrier::complete_tx::bytes")) {
    encoder.unknown("expected an address, a value and an mbarrier");
  }
  AsyncOptions options;
  options.element_bytes = static_cast<std::uint8_t>(bytes_of(form.type));
  options.count = form.count;
  const auto elements = elements_of(statement.operands[1]);
  if ((options.element_bytes != 4 && options.element_bytes != 8) ||
      elements.size() != options.count || options.element_bytes * options.count > 16) {
    encoder.unknown("expected elements of 4 or 8 bytes, at most 16 bytes together");
  }
  if (statement.opcode == "red") {
    options.reduction = reduction_of(atomic_operation_of(encoder), form.type);
    const bool floats = form.type == Type::f32 || form.type == Type::f64;
    if (options.reduction == nullptr || floats || options.count != 1) {
      encoder.unknown("unknown type of this reduction");
    }
  }
  options.to_bytes = static_cast<std::uint8_t>(encoder.address(0));
  const std::int64_t to_offset = encoder.instruction.immediate;
  options.barrier_bytes = static_cast<std::uint8_t>(encoder.address(2));
  options.barrier_offset = static_cast<std::int16_t>(encoder.instruction.immediate);
  if (options.barrier_offset != encoder.instruction.immediate) {
    encoder.unknown("an offset that is too large");
  }
  encoder.instruction.immediate = to_offset;
  std::vector<Offset> list;
  for (const Operand& element : elements) {
    list.push_back(encoder.source_offset(element, form.type));
  }
  encoder.list(list);
  encoder.instruction.set_options(options);
  encoder.instruction.kind = InstructionClass::async_copy;
  encoder.instruction.execute = execute_async;
}

}  // namespace halfgrad::emulator
