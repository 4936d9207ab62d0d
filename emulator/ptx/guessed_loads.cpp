#include <halfgrad/emulator/ptx/guessed_loads.h>

#include <set>

#include <halfgrad/emulator/ptx/instructions/memory_form.h>

namespace halfgrad::emulator {
namespace {

using Registers = std::set<std::uint32_t>;

/// Adds the registers of the operand. Returns whether one is new.
bool add(Registers& registers, const Operand& operand) {
  if (operand.kind == Operand::Kind::reg) return registers.insert(operand.index).second;
  if (operand.kind != Operand::Kind::vector) return false;
  bool added = false;
  for (const Operand& part : operand.parts) added |= add(registers, part);
  return added;
}

bool contains(const Registers& registers, const Operand& operand) {
  return operand.kind == Operand::Kind::reg && registers.count(operand.index) != 0;
}

bool is_move(const Statement& statement) {
  return statement.opcode == "mov" && statement.operands.size() == 2;
}

/// Registers whose values reach the comparison of a compare-and-swap by moves.
Registers compared_registers(const Function& function) {
  Registers compared;
  for (const Statement& statement : function.statements) {
    const bool swap = statement.opcode == "atom" && statement.has("cas");
    if (swap && statement.operands.size() >= 4) add(compared, statement.operands[2]);
  }
  for (bool more = !compared.empty(); more;) {
    more = false;
    for (const Statement& statement : function.statements) {
      if (!is_move(statement) || !contains(compared, statement.operands[0])) continue;
      more |= add(compared, statement.operands[1]);
    }
  }
  return compared;
}

}  // namespace

void relax_guessed_loads(Function& function) {
  const Registers compared = compared_registers(function);
  if (compared.empty()) return;
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    const Statement& statement = function.statements[i];
    if (statement.opcode != "ld" || statement.has("nc") || statement.has("param")) continue;
    if (function.code[i].execute == nullptr || function.unknown.count(unsigned(i)) != 0) continue;
    if (!contains(compared, statement.operands[0])) continue;
    MemoryOptions options = function.code[i].options<MemoryOptions>();
    if (options.order != Order::weak) continue;
    options.order = Order::relaxed;
    function.code[i].set_options(options);
  }
}

}  // namespace halfgrad::emulator
