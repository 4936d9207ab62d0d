#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>

#include <halfgrad/emulator/ptx/instruction.h>
#include <halfgrad/emulator/ptx/syntax.h>

namespace halfgrad::emulator {

struct FunctionBuilder;  // ptx/function_builder.h: registers, constants and lists of one function

/// Thrown for an instruction or a form of one that the emulator does not know. A kernel with one
/// ends the launch with the statement's text if it is reached, never with a wrong result.
struct UnknownInstruction : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Turns one statement into one instruction. A family's decode function names its operands and sets
/// `instruction.execute`. Every member throws UnknownInstruction if an operand does not fit.
///
/// Registers whose values are never needed at the same time share a place, which is known after the
/// last statement of a function. So an Offset belongs into `instruction.operands` or
/// `instruction.list`, where it is corrected then, and nowhere else. A destination never shares a
/// place with a source of the same instruction, unless the statement names the same register.
///
/// Control flow needs no operands from its family: `bra`, `brx.idx` and `call` set
/// `instruction.control`, and the decoder of functions resolves labels, tables and calls. `ret` of
/// a kernel becomes Control::exit.
class Encoder {
 public:
  Encoder(FunctionBuilder& function, const Statement& statement)
      : statement(statement), function_(function) {}

  const Statement& statement;
  Instruction instruction;

  /// Number of operands in the statement.
  unsigned operands() const { return static_cast<unsigned>(statement.operands.size()); }

  /// Appends statement operand i as the next destination. The register's size must be that of
  /// `type` (of 8-bit types: at least 16 bits); `_` gets a scratch register.
  void destination(unsigned i, Type type);
  /// Appends statement operand i as the next source: a register of the size of `type`, an immediate
  /// (converted to `type`, copied to all lanes), a special register, or the address of a symbol.
  void source(unsigned i, Type type);
  /// Overloads for an operand that is part of another one (an element of a vector, half of a pair).
  void destination(const Operand& operand, Type type);
  void source(const Operand& operand, Type type);
  /// One destination and n sources of one type: the form of most arithmetic.
  void operands_of(Type result, std::initializer_list<Type> sources);

  /// Appends an address `[base + offset]`: the base as a source of 32 or 64 bits, the offset as
  /// `instruction.immediate`. Returns the bytes of the base: 4 or 8.
  unsigned address(unsigned i);
  unsigned address(const Operand& operand);

  /// Sets `instruction.list`; the span is kept with the function.
  void list(std::span<const Offset> offsets);
  /// Offsets for use in a list.
  Offset destination_offset(const Operand& operand, Type type);
  Offset source_offset(const Operand& operand, Type type);
  Offset constant(Type type, std::uint64_t bits);
  /// Bytes of the register that the operand names (2, 4, 8, 16), 0 if it is not a register.
  unsigned register_bytes(const Operand& operand) const;
  /// The carry flag of add.cc and similar instructions, a hidden predicate; append it to the
  /// operands.
  Offset carry();

  [[noreturn]] void unknown(const std::string& why) const;

 private:
  FunctionBuilder& function_;
};

/// Decodes the statements of one family of opcodes.
using Decode = void (*)(Encoder& encoder);

}  // namespace halfgrad::emulator
