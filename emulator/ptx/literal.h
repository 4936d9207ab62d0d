#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <halfgrad/emulator/ptx/lexer.h>
#include <halfgrad/emulator/ptx/syntax.h>

namespace halfgrad::emulator {

/// A number as PTX writes it (PTX ISA, "Constants"): `42`, `-7`, `0x2A`, `052`, `0b101`, `42U`,
/// `0f3F800000` (the bits of a float), `0d3FF0000000000000` (of a double), `1.5`.
struct Number {
  Operand::Literal literal = Operand::Literal::integer;
  std::uint64_t bits = 0;
};

/// The number that a token spells, or nothing.
std::optional<Number> number_in(std::string_view token);

/// Flips the sign.
Number negative(Number number);

/// Reads an optional sign or `~` and a number.
Number expect_number(Lexer& lexer);
/// Reads an integer from 0 to `most`.
std::uint64_t expect_count(Lexer& lexer, std::uint64_t most, const char* what);

}  // namespace halfgrad::emulator
