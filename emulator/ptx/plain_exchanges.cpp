#include <halfgrad/emulator/ptx/plain_exchanges.h>

#include <unordered_map>

#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>

namespace halfgrad::emulator {
namespace {

using Counts = std::unordered_map<std::uint32_t, unsigned>;

void count(Counts& counts, const Operand& operand) {
  if (operand.kind == Operand::Kind::reg) ++counts[operand.index];
  for (const Operand& part : operand.parts) count(counts, part);
}

bool is_exchange(const Statement& statement) {
  return statement.opcode == "atom" && statement.has("exch") && !statement.operands.empty();
}

}  // namespace

void mark_plain_exchanges(Function& function) {
  bool any = false;
  for (const Statement& statement : function.statements) any = any || is_exchange(statement);
  if (!any) return;
  Counts counts;
  for (const Statement& statement : function.statements) {
    for (const Operand& operand : statement.operands) count(counts, operand);
    if (statement.guarded) ++counts[statement.guard];
  }
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    const Statement& statement = function.statements[i];
    if (!is_exchange(statement) || function.code[i].execute == nullptr) continue;
    if (function.unknown.count(static_cast<std::uint32_t>(i)) != 0) continue;
    const Operand& destination = statement.operands[0];
    const bool is_unread =
        destination.kind == Operand::Kind::sink ||
        (destination.kind == Operand::Kind::reg && counts[destination.index] == 1);
    if (is_unread) mark_plain_exchange(function.code[i]);
  }
}

}  // namespace halfgrad::emulator
