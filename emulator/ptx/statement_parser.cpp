#include <halfgrad/emulator/ptx/statement_parser.h>

#include <string>
#include <utility>

#include <halfgrad/emulator/ptx/literal.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kDeepestOperand = 8;

/// A sub-qualifier that says nothing more: a cluster has one block.
std::string_view without_qualifier(std::string_view modifier) {
  if (modifier == "shared::cta") return "shared";
  if (modifier == "param::entry" || modifier == "param::func") return "param";
  return modifier;
}

Operand immediate(const Number& number) {
  Operand operand;
  operand.kind = Operand::Kind::immediate;
  operand.literal = number.literal;
  operand.bits = number.bits;
  return operand;
}

}  // namespace

void StatementParser::split_opcode(std::string_view word, Statement& statement) {
  bool first = statement.opcode.empty();
  if (!first) word.remove_prefix(1);  // a dot
  while (true) {
    const std::size_t dot = word.find('.');
    const std::string_view part = word.substr(0, dot);
    if (part.empty()) lexer_.fail("a modifier before this");
    if (first) {
      statement.opcode = part;
    } else {
      statement.modifiers.push_back(without_qualifier(part));
    }
    first = false;
    if (dot == std::string_view::npos) return;
    word.remove_prefix(dot + 1);
  }
}

Statement StatementParser::expect_statement(const Token& opcode) {
  Statement statement;
  statement.location.ptx_line = opcode.line;
  statement.modifiers.reserve(4);
  statement.operands.reserve(4);
  split_opcode(opcode.text, statement);
  while (lexer_.is_word() && lexer_.ahead().text[0] == '.') {
    split_opcode(lexer_.take().text, statement);
  }
  if (!lexer_.is(";")) {
    do {
      statement.operands.push_back(expect_operand(0));
    } while (lexer_.accept(","));
  }
  lexer_.expect(";");
  statement.text = lexer_.text().substr(opcode.begin, lexer_.position() - opcode.begin);
  return statement;
}

Statement StatementParser::expect_guarded_statement() {
  const Token at = lexer_.take();
  const bool negated = lexer_.accept("!");
  const Token name = lexer_.ahead();
  const auto guard = scopes_.find_register(lexer_.expect_word("a predicate"));
  if (!guard) fail_at_line(name.line, "unknown predicate " + std::string(name.text.substr(0, 60)));
  if (!lexer_.is_word()) lexer_.fail("an instruction");
  Statement statement = expect_statement(lexer_.take());
  statement.guarded = true;
  statement.guard_negated = negated;
  statement.guard = *guard;
  statement.text = lexer_.text().substr(at.begin, lexer_.position() - at.begin);
  return statement;
}

Operand StatementParser::expect_operand(unsigned depth) {
  if (depth > kDeepestOperand) lexer_.fail("fewer nested operands");
  if (lexer_.accept("!")) {
    Operand operand = expect_operand(depth + 1);
    operand.negated = !operand.negated;
    return operand;
  }
  if (lexer_.is("[")) return expect_address(depth);
  if (lexer_.accept("(")) return expect_list(")", depth);
  const bool vector = lexer_.accept("{");
  if (!vector && !lexer_.is_word()) return immediate(expect_number(lexer_));
  Operand first = vector ? expect_list("}", depth) : expect_name();
  if (!lexer_.accept("|")) return first;
  Operand pair;
  pair.kind = Operand::Kind::pair;
  pair.parts.push_back(std::move(first));
  pair.parts.push_back(expect_operand(depth + 1));
  return pair;
}

Operand StatementParser::expect_address(unsigned depth) {
  lexer_.expect("[");
  Operand address;
  address.kind = Operand::Kind::address;
  address.parts.push_back(expect_operand(depth + 1));
  Operand& base = address.parts.front();
  if (lexer_.is("+") || lexer_.is("-")) {
    address.offset = static_cast<std::int64_t>(expect_number(lexer_).bits);
  } else if (base.kind == Operand::Kind::symbol) {
    address.offset = std::exchange(base.offset, 0);
  }
  while (lexer_.accept(",")) address.parts.push_back(expect_operand(depth + 1));
  lexer_.expect("]");
  return address;
}

Operand StatementParser::expect_list(const char* close, unsigned depth) {
  Operand list;
  list.kind = Operand::Kind::vector;
  if (lexer_.accept(close)) return list;
  do {
    list.parts.push_back(expect_operand(depth + 1));
  } while (lexer_.accept(","));
  lexer_.expect(close);
  return list;
}

Operand StatementParser::expect_name() {
  const std::string_view name = lexer_.take().text;
  if (name == "WARP_SZ") return immediate({{}, 32});
  Operand operand;
  if (name == "_") {
    operand.kind = Operand::Kind::sink;
  } else if (const auto index = scopes_.find_register(name)) {
    operand.kind = Operand::Kind::reg;
    operand.index = *index;
  } else if (name[0] == '%' || name.find('.') != std::string_view::npos) {
    const std::size_t dot = name.rfind('.');
    const auto whole =
        dot == std::string_view::npos ? std::nullopt : scopes_.find_register(name.substr(0, dot));
    operand.kind = whole ? Operand::Kind::reg : Operand::Kind::special;
    operand.index = whole.value_or(0);
    operand.name = whole ? name.substr(dot + 1) : name;
  } else {
    operand.kind = Operand::Kind::symbol;
    operand.name = name;
    if (lexer_.is("+") || lexer_.is("-")) {
      operand.offset = static_cast<std::int64_t>(expect_number(lexer_).bits);
    }
  }
  return operand;
}

}  // namespace halfgrad::emulator
