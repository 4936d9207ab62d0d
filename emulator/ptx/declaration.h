#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <halfgrad/emulator/ptx/lexer.h>
#include <halfgrad/emulator/ptx/type.h>

namespace halfgrad::emulator {

/// A variable or parameter as PTX declares it (PTX ISA, "Variables"), without its state space:
/// `.align 16 .b8 name[24]`, `.v4 .f32 name`, `.u64 .ptr .global .align 4 name`, `.b8 name[]`.
struct Declaration {
  std::string_view name;
  Type element = Type::none;
  std::size_t vector = 1;               ///< 4 for `.v4`
  std::vector<std::size_t> dimensions;  ///< elements of a vector type are the last dimension
  std::size_t bytes = 0;                ///< 0 if unsized
  std::size_t alignment = 1;
  bool unsized = false;  ///< `name[]`
  bool managed = false;  ///< `.attribute(.managed)`
};

/// Reads a declaration, up to what follows its name and dimensions.
Declaration expect_declaration(Lexer& lexer);
/// Reads the name and dimensions after a comma: `.u32 a, b[2]` declares both with one type.
Declaration expect_declaration_like(Lexer& lexer, const Declaration& previous);

/// Reads declarations up to the semicolon, and calls f with each after its name and dimensions.
template <class F>
void expect_declarations(Lexer& lexer, F f) {
  Declaration declaration = expect_declaration(lexer);
  f(declaration);
  while (lexer.accept(",")) {
    declaration = expect_declaration_like(lexer, declaration);
    f(declaration);
  }
  lexer.expect(";");
}

/// The smallest multiple of `alignment` that is at least `value`.
constexpr std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace halfgrad::emulator
