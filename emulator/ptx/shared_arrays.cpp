#include <halfgrad/emulator/ptx/shared_arrays.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>

namespace halfgrad::emulator {
namespace {

/// The array whose address a register holds: an index in Function::shared_arrays, or one of these.
using Origin = int;
constexpr Origin kUnset = -3;    ///< no statement seen yet
constexpr Origin kMany = -2;     ///< several arrays, or not known
constexpr Origin kNoArray = -1;  ///< not an address in an array, such as an index

Origin joined(Origin a, Origin b) {
  if (a == kUnset || a == b) return b;
  return b == kUnset ? a : kMany;
}

/// The origin of a sum: an address plus an index.
Origin added(Origin a, Origin b) {
  if (a == kUnset || b == kUnset) return kUnset;
  if (a == kNoArray) return b;
  return b == kNoArray ? a : kMany;
}

class Origins {
 public:
  Origins(Function& function,
          const std::function<std::optional<SharedArray>(std::string_view)>& array_named)
      : function_(function), array_named_(array_named) {}

  /// Visits the statements until nothing changes: registers of loops depend on themselves.
  void find() {
    for (bool changes = true; changes;) {
      changes = false;
      for (const Statement& statement : function_.statements) changes |= visit(statement);
    }
  }

  Origin of(const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::reg: {
        const auto found = registers_.find(operand.index);
        return found == registers_.end() ? kUnset : found->second;
      }
      case Operand::Kind::symbol:
        return of_symbol(operand.name);
      case Operand::Kind::address:
        return operand.parts.empty() ? kNoArray : of(operand.parts[0]);
      default:
        return kNoArray;
    }
  }

 private:
  Origin of_symbol(std::string_view name) {
    const auto [found, added] = symbols_.try_emplace(name, kNoArray);
    if (!added) return found->second;
    if (const std::optional<SharedArray> array = array_named_(name)) {
      found->second = static_cast<Origin>(function_.shared_arrays.size());
      function_.shared_arrays.push_back(*array);
    }
    return found->second;
  }

  /// Other instructions give no address of an array, unless one of their sources is one.
  Origin result_of(const Statement& statement) {
    const auto source = [&](std::size_t i) {
      return i < statement.operands.size() ? of(statement.operands[i]) : kNoArray;
    };
    const std::string_view opcode = statement.opcode;
    if (opcode == "mov" || opcode == "cvt" || opcode == "cvta") return source(1);
    if (opcode == "add" || opcode == "or" || opcode == "xor") return added(source(1), source(2));
    if (opcode == "sub" && source(2) == kNoArray) return source(1);
    if (opcode == "selp") return joined(source(1), source(2));
    if (opcode == "ld" || opcode == "atom") return kNoArray;
    const bool sum = opcode == "mad" || opcode == "fma";
    Origin factors = kNoArray;
    for (std::size_t i = 1; i < (sum ? 3 : statement.operands.size()); ++i) {
      factors = added(factors, source(i));
    }
    if (factors != kNoArray) return factors == kUnset ? kUnset : kMany;
    return sum ? source(3) : kNoArray;
  }

  bool visit(const Statement& statement) {
    if (statement.operands.empty()) return false;
    return define(statement.operands[0], result_of(statement));
  }

  bool define(const Operand& operand, Origin origin) {
    bool changes = false;
    for (const Operand& part : operand.parts) {
      if (operand.kind == Operand::Kind::address) break;
      changes |= define(part, origin == kNoArray || origin == kUnset ? origin : kMany);
    }
    if (operand.kind != Operand::Kind::reg) return changes;
    Origin& known = registers_.try_emplace(operand.index, kUnset).first->second;
    const Origin next = joined(known, origin);
    changes |= next != known;
    known = next;
    return changes;
  }

  Function& function_;
  const std::function<std::optional<SharedArray>(std::string_view)>& array_named_;
  std::unordered_map<std::uint32_t, Origin> registers_;
  std::map<std::string_view, Origin, std::less<>> symbols_;
};

bool accesses_shared(const Statement& statement) {
  static constexpr std::array<std::string_view, 4> kOpcodes = {"ld", "st", "atom", "red"};
  return std::find(kOpcodes.begin(), kOpcodes.end(), statement.opcode) != kOpcodes.end() &&
         statement.has("shared");
}

}  // namespace

void find_shared_arrays(
    Function& function,
    const std::function<std::optional<SharedArray>(std::string_view)>& array_named) {
  const auto& statements = function.statements;
  if (std::none_of(statements.begin(), statements.end(), accesses_shared)) return;
  Origins origins(function, array_named);
  origins.find();
  function.array_of.assign(statements.size(), -1);
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (!accesses_shared(statements[i])) continue;
    for (const Operand& operand : statements[i].operands) {
      if (operand.kind == Operand::Kind::address) function.array_of[i] = origins.of(operand);
    }
  }
}

}  // namespace halfgrad::emulator
