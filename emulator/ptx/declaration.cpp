#include <halfgrad/emulator/ptx/declaration.h>

#include <algorithm>
#include <string>

#include <halfgrad/emulator/ptx/literal.h>
#include <halfgrad/emulator/ptx/syntax.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 40;

bool is_state_space(std::string_view word) {
  return word == ".global" || word == ".shared" || word == ".const" || word == ".local" ||
         word == ".param" || word == ".generic";
}

bool is_opaque(std::string_view word) {
  return word == ".texref" || word == ".surfref" || word == ".samplerref";
}

std::size_t expect_alignment(Lexer& lexer) {
  const std::size_t alignment = expect_count(lexer, 1 << 20, "an alignment");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) lexer.fail("a power of 2 before this");
  return alignment;
}

/// `.attribute(.managed)`, `.attribute(.unified(0x1, 0x2))`; returns whether it names `managed`.
bool expect_attribute(Lexer& lexer) {
  lexer.expect("(");
  bool managed = false;
  for (unsigned open = 1; open > 0;) {
    if (lexer.at_end()) lexer.fail("')'");
    if (lexer.is("(")) ++open;
    if (lexer.is(")")) --open;
    managed |= lexer.take().text == ".managed";
  }
  return managed;
}

/// The words before the name.
void expect_specifiers(Lexer& lexer, Declaration& declaration) {
  std::size_t alignment = 0;
  bool pointer = false;
  while (lexer.is_word() && lexer.ahead().text[0] == '.') {
    const std::string_view word = lexer.ahead().text;
    const Type type = is_opaque(word) ? Type::b64 : type_named(word.substr(1));
    if (type != Type::none && declaration.element == Type::none) {
      declaration.element = type;
    } else if (word == ".v2" || word == ".v4" || word == ".v8") {
      declaration.vector = static_cast<std::size_t>(word[2] - '0');
    } else if (word == ".ptr") {
      pointer = true;
    } else if (word == ".attribute") {
      lexer.take();
      declaration.managed |= expect_attribute(lexer);
      continue;
    } else if (word == ".align") {
      lexer.take();
      const std::size_t found = expect_alignment(lexer);
      if (!pointer) alignment = found;  // otherwise it is that of what the pointer points to
      continue;
    } else if (!is_state_space(word)) {
      lexer.fail("a type");
    }
    lexer.take();
  }
  if (declaration.element == Type::none) lexer.fail("a type");
  const std::size_t natural = bytes_of(declaration.element) * declaration.vector;
  declaration.alignment = alignment != 0 ? alignment : natural;
}

}  // namespace

Declaration expect_declaration(Lexer& lexer) {
  Declaration specifiers;
  expect_specifiers(lexer, specifiers);
  return expect_declaration_like(lexer, specifiers);
}

Declaration expect_declaration_like(Lexer& lexer, const Declaration& previous) {
  Declaration declaration;
  declaration.element = previous.element;
  declaration.vector = previous.vector;
  declaration.alignment = previous.alignment;
  declaration.managed = previous.managed;
  declaration.name = lexer.expect_word("a name");
  declaration.bytes = bytes_of(declaration.element);
  const auto add_dimension = [&](std::size_t count) {
    declaration.dimensions.push_back(count);
    if (count != 0 && declaration.bytes > kMostBytes / count) lexer.fail("a smaller array");
    declaration.bytes *= count;
  };
  while (lexer.accept("[")) {
    if (lexer.is("]")) {
      declaration.unsized = true;
      declaration.dimensions.push_back(0);
    } else {
      add_dimension(expect_count(lexer, kMostBytes, "a number of elements"));
    }
    lexer.expect("]");
  }
  if (declaration.vector != 1) add_dimension(declaration.vector);
  if (declaration.unsized) declaration.bytes = 0;
  return declaration;
}

}  // namespace halfgrad::emulator
