#pragma once

#include <halfgrad/emulator/ptx/lexer.h>
#include <halfgrad/emulator/ptx/scopes.h>
#include <halfgrad/emulator/ptx/syntax.h>

namespace halfgrad::emulator {

/// Reads instructions (PTX ISA, "Instruction Statements" and "Instruction Operands").
class StatementParser {
 public:
  StatementParser(Lexer& lexer, const Scopes& scopes) : lexer_(lexer), scopes_(scopes) {}

  /// Reads what follows the word `opcode`, up to and with the semicolon.
  Statement expect_statement(const Token& opcode);
  /// Reads `@p` or `@!p`, and the rest of the statement.
  Statement expect_guarded_statement();

 private:
  void split_opcode(std::string_view word, Statement& statement);
  Operand expect_operand(unsigned depth);
  Operand expect_address(unsigned depth);
  Operand expect_list(const char* close, unsigned depth);
  Operand expect_name();

  Lexer& lexer_;
  const Scopes& scopes_;
};

}  // namespace halfgrad::emulator
