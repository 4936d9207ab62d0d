#include <halfgrad/emulator/ptx/function_builder.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfgrad/emulator/ptx/encoder.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {
namespace {

/// An Offset that a family kept outside of operands and list would stay a slot's number.
void check_slots_are_operands(const Instruction& instruction, std::span<const Offset> slots,
                              const Statement& statement) {
  const auto begin = instruction.operands.begin();
  const auto end = begin + instruction.destinations + instruction.sources;
  for (const Offset slot : slots) {
    if (slot == instruction.guard || std::find(begin, end, slot) != end) continue;
    const auto& list = instruction.list;
    if (std::find(list.begin(), list.end(), slot) != list.end()) continue;
    throw std::logic_error("the page of " + std::string(statement.opcode) +
                           " keeps an Offset outside of operands and list");
  }
}

}  // namespace

unsigned slot_bytes(Type type) { return type == Type::pred ? 0 : std::max(2u, bytes_of(type)); }

std::uint32_t FunctionBuilder::add_registers(unsigned bytes, std::uint32_t count) {
  const auto first = static_cast<std::uint32_t>(slots.size());
  slots.resize(slots.size() + count, {static_cast<std::uint8_t>(bytes), false});
  return first;
}

Offset FunctionBuilder::scratch(unsigned bytes) {
  const auto [found, added] = scratch_.try_emplace(bytes, 0);
  if (added) found->second = add_registers(bytes, 1);
  return found->second;
}

Offset FunctionBuilder::constant(Type type, std::uint64_t bits) {
  const unsigned bytes = slot_bytes(type);
  if (bytes == 0) {
    bits = bits != 0 ? kAllLanes : 0;
  } else if (bytes < 8) {
    bits &= (1ull << (8 * bytes)) - 1;
  }
  const auto [found, added] = constants_.try_emplace({bytes, bits}, 0);
  if (added) {
    found->second = add_registers(bytes, 1);
    slots.back().fixed = true;
    const Type kept = bytes_of(type) == 1 ? Type::b16 : type;
    function.constants.push_back({found->second, kept, bits});
  }
  return found->second;
}

Offset FunctionBuilder::special(Special special, unsigned bytes, std::uint64_t addend) {
  const auto [found, added] = specials_.try_emplace({special, bytes, addend}, 0);
  if (added) {
    found->second = add_registers(bytes, 1);
    slots.back().fixed = true;
    function.specials.push_back({found->second, special, bytes == 8, addend});
  }
  return found->second;
}

Offset FunctionBuilder::clock(ClockRegister clock) {
  const Offset slot = add_registers(bytes_of(clock), 1);
  samples.emplace_back(clock, slot);
  return slot;
}

Offset FunctionBuilder::carry() {
  if (!carry_) carry_ = add_registers(0, 1);
  return *carry_;
}

std::span<const Offset> FunctionBuilder::keep(std::span<const Offset> offsets) {
  return function.lists.emplace_back(offsets.begin(), offsets.end());
}

SymbolAddress FunctionBuilder::address_of(std::string_view name) const {
  const LocalSymbol* symbol = scopes.find_symbol(name);
  if (symbol == nullptr) return symbols.address_of(name);
  switch (symbol->kind) {
    case LocalSymbol::Kind::local:
      return {Special::local_begin, symbol->address};
    case LocalSymbol::Kind::dynamic_shared:
      return {Special::dynamic_smem_begin, 0};
    default:
      return {std::nullopt, symbol->address};
  }
}

void FunctionBuilder::forget_statement() {
  statement_used_.clear();
  statement_defined_.clear();
  samples.clear();
}

void FunctionBuilder::add(Instruction instruction, Statement statement) {
  const auto wanted_clocks = std::exchange(samples, {});
  auto statement_used = std::exchange(statement_used_, {});
  auto statement_defined = std::exchange(statement_defined_, {});
  for (const auto& [clock, slot] : wanted_clocks) {
    Instruction sample;
    sample.guard = instruction.guard;
    sample.guard_negated = instruction.guard_negated;
    sample.destinations = 1;
    sample.operands[0] = slot;
    sample_clock(clock, sample);
    define(slot);
    append(sample, statement);
  }
  statement_used_ = std::move(statement_used);
  statement_defined_ = std::move(statement_defined);
  append(instruction, std::move(statement));
}

void FunctionBuilder::append(Instruction instruction, Statement statement) {
  if (instruction.guard != kNoOffset) use(instruction.guard);
  check_slots_are_operands(instruction, statement_used_, statement);
  check_slots_are_operands(instruction, statement_defined_, statement);
  used.insert(used.end(), statement_used_.begin(), statement_used_.end());
  defined.insert(defined.end(), statement_defined_.begin(), statement_defined_.end());
  statement_used_.clear();
  statement_defined_.clear();
  accesses.push_back({used.size(), defined.size()});
  instruction.index = static_cast<std::uint32_t>(function.code.size());
  function.code.push_back(instruction);
  function.statements.push_back(std::move(statement));
}

}  // namespace halfgrad::emulator
