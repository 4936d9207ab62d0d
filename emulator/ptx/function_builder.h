#pragma once

#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <halfgrad/emulator/ptx/function.h>
#include <halfgrad/emulator/ptx/scopes.h>
#include <halfgrad/emulator/ptx/special_registers.h>

namespace halfgrad::emulator {

/// The address of a symbol: a constant, or a special register plus a constant.
struct SymbolAddress {
  std::optional<Special> base;
  std::uint64_t value = 0;
};

/// Finds symbols outside of a function: variables of the module, shared memory and functions.
struct SymbolTable {
  /// Throws UnknownInstruction if there is no such symbol.
  virtual SymbolAddress address_of(std::string_view name) = 0;
  virtual ~SymbolTable() = default;
};

/// Registers, constants and lists of a function while its statements are decoded.
///
/// Each register, constant and special register is a slot. Until the function's end, an Offset is
/// the number of a slot; then place_registers() gives slots their places and corrects the
/// instructions.
struct FunctionBuilder {
  struct Slot {
    std::uint8_t bytes = 0;  ///< a lane's; 0: a predicate
    bool fixed = false;      ///< a constant or special register, which keeps its place
  };
  /// Slots that an instruction reads and writes, in `used` and `defined`.
  struct Accesses {
    std::size_t used_end = 0, defined_end = 0;
  };

  FunctionBuilder(Function& function, SymbolTable& symbols)
      : function(function), symbols(symbols) {}

  std::uint32_t add_registers(unsigned bytes, std::uint32_t count);
  Offset scratch(unsigned bytes);
  Offset constant(Type type, std::uint64_t bits);
  Offset special(Special special, unsigned bytes, std::uint64_t addend = 0);
  /// A register that an instruction before the current one fills with the time.
  Offset clock(ClockRegister clock);
  Offset carry();
  std::span<const Offset> keep(std::span<const Offset> offsets);

  /// The address of a symbol as an operand names it. Throws UnknownInstruction.
  SymbolAddress address_of(std::string_view name) const;

  /// Notes that the current statement reads or writes a slot.
  void use(Offset slot) { statement_used_.push_back(slot); }
  void define(Offset slot) { statement_defined_.push_back(slot); }
  /// Discards the slots and clock samples of the current statement, which became an unknown
  /// instruction.
  void forget_statement();
  /// Appends the instruction and its statement, after the instructions that sample clocks for it.
  void add(Instruction instruction, Statement statement);

  Function& function;
  SymbolTable& symbols;
  Scopes scopes;
  std::vector<Slot> slots;
  std::vector<Offset> used, defined;
  std::vector<Accesses> accesses;  ///< each instruction's
  std::vector<std::pair<ClockRegister, Offset>>
      samples;  ///< clocks that the current statement reads

 private:
  void append(Instruction instruction, Statement statement);

  std::vector<Offset> statement_used_, statement_defined_;
  std::map<std::pair<unsigned, std::uint64_t>, Offset> constants_;
  std::map<std::tuple<Special, unsigned, std::uint64_t>, Offset> specials_;
  std::map<unsigned, Offset> scratch_;
  std::optional<Offset> carry_;
};

/// Bytes that a register needs for a value of that type: at least 2; 0 for a predicate.
unsigned slot_bytes(Type type);

}  // namespace halfgrad::emulator
