#include <halfgrad/emulator/simt/pending_registers.h>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

/// Calls f(offset) for the registers that an instruction writes, or reads. The list of a load has
/// the registers that it writes; that of a store, those that it reads.
template <class F>
void each_written(const Instruction& instruction, F f) {
  for (unsigned i = 0; i < instruction.destinations; ++i) f(instruction.operands[i]);
  if (instruction.kind != InstructionClass::load) return;
  for (const Offset offset : instruction.list) f(offset);
}
template <class F>
void each_read(const Instruction& instruction, F f) {
  for (unsigned i = 0; i < instruction.sources; ++i) f(instruction.source(i));
  if (instruction.kind != InstructionClass::store) return;
  for (const Offset offset : instruction.list) f(offset);
}

}  // namespace

void PendingRegisters::add(const Execution& execution, const Instruction& product,
                           unsigned accumulators, std::uint64_t number) {
  for (unsigned i = 0; i < accumulators; ++i) {
    products_[execution.registers + product.list[i]] = {number, execution.frame->function,
                                                        &product};
  }
}

void PendingRegisters::finish(std::uint64_t number) {
  std::erase_if(products_, [&](const auto& entry) { return entry.second.number <= number; });
}

void PendingRegisters::check(const Execution& execution, const Instruction& instruction) {
  Product read;
  each_read(instruction, [&](Offset offset) {
    const auto found = products_.find(execution.registers + offset);
    if (found != products_.end() && found->second.number > read.number) read = found->second;
  });
  const bool moves = instruction.kind == InstructionClass::move;
  each_written(instruction, [&](Offset offset) {
    if (moves && read.number != 0) {
      products_[execution.registers + offset] = read;
    } else {
      products_.erase(execution.registers + offset);
    }
  });
  if (moves || read.number == 0) return;
  // The finding names the product, if this function issued it.
  const bool own = read.function == execution.frame->function;
  report(execution, instruction, first_lane(execution.mask), FindingKind::async_copy,
         "reads a register that a product under way writes: expected wgmma.wait_group before. If "
         "the wait comes first in the source, the compiler moved the read: expected an empty asm "
         "volatile after the wait, with the accumulators as \"+f\" operands",
         0, own ? "a product at " + place_of(execution, *read.instruction) : "");
}

}  // namespace halfgrad::emulator
