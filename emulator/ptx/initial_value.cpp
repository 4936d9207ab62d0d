#include <algorithm>
#include <bit>
#include <cstring>

#include <halfgrad/emulator/ptx/literal.h>
#include <halfgrad/emulator/ptx/module_index.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kMostInitialBytes = std::size_t{1} << 30;

/// PTX ISA, "Initializers": values, addresses of symbols, and nested lists of them.
class InitialValue {
 public:
  InitialValue(Lexer& lexer, const Declaration& declaration, Variable& variable)
      : lexer_(lexer),
        declaration_(declaration),
        variable_(variable),
        element_bytes_(bytes_of(declaration.element)) {}

  void expect() {
    if (lexer_.is("{")) {
      expect_list(0);
    } else {
      expect_element();
    }
  }

 private:
  /// Elements of one entry of dimension `level`.
  std::size_t elements_below(std::size_t level) const {
    std::size_t count = 1;
    for (std::size_t i = level + 1; i < declaration_.dimensions.size(); ++i) {
      count *= declaration_.dimensions[i];
    }
    return count;
  }

  void expect_list(std::size_t level) {
    if (level > declaration_.dimensions.size()) lexer_.fail("fewer nested lists");
    lexer_.expect("{");
    while (!lexer_.is("}")) {
      if (lexer_.is("{")) {
        const std::size_t begin = at_;
        expect_list(level + 1);
        at_ = std::max(at_, begin + elements_below(level) * element_bytes_);
      } else {
        expect_element();
      }
      if (!lexer_.accept(",")) break;
    }
    lexer_.expect("}");
  }

  void expect_element() {
    const std::uint64_t bits = lexer_.is_word() ? expect_symbol(0) : expect_bits();
    put(bits);
  }

  std::uint64_t expect_bits() {
    const Number number = expect_number(lexer_);
    if (lexer_.is("(")) return expect_masked_symbol(number.bits);
    if (number.literal == Operand::Literal::integer) return number.bits;
    const bool single = number.literal == Operand::Literal::f32;
    if (declaration_.element == Type::f64 && single) {
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(number.bits));
      return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    }
    if (declaration_.element == Type::f32 && !single) {
      const auto value = static_cast<float>(std::bit_cast<double>(number.bits));
      return std::bit_cast<std::uint32_t>(value);
    }
    return number.bits;
  }

  /// `0xFF00(symbol)`: the byte of the address that the mask selects.
  std::uint64_t expect_masked_symbol(std::uint64_t mask) {
    lexer_.expect("(");
    const unsigned shift = mask == 0 ? 0 : static_cast<unsigned>(std::countr_zero(mask));
    if (element_bytes_ != 1 || mask >> shift != 0xff) lexer_.fail("a mask of one byte before this");
    expect_symbol(shift);
    lexer_.expect(")");
    return 0;
  }

  /// `name`, `generic(name)`, `name+4`.
  std::uint64_t expect_symbol(unsigned shift) {
    if (element_bytes_ != 8 && element_bytes_ != 1) lexer_.fail("a number");
    Variable::Reference reference;
    reference.offset = at_;
    reference.bytes = element_bytes_;
    reference.shift = shift;
    std::string_view name = lexer_.expect_word("a symbol");
    if (name == "generic" && lexer_.accept("(")) {
      name = lexer_.expect_word("a symbol");
      lexer_.expect(")");
    }
    reference.symbol = std::string(name);
    if (lexer_.is("+") || lexer_.is("-")) {
      reference.addend = static_cast<std::int64_t>(expect_number(lexer_).bits);
    }
    variable_.references.push_back(std::move(reference));
    return 0;
  }

  void put(std::uint64_t bits) {
    const std::size_t end = at_ + element_bytes_;
    const std::size_t capacity = declaration_.unsized ? kMostInitialBytes : declaration_.bytes;
    if (end > capacity || end > kMostInitialBytes) lexer_.fail("fewer initial values");
    if (variable_.initial.size() < end) variable_.initial.resize(end);
    std::memcpy(&variable_.initial[at_], &bits, std::min<std::size_t>(element_bytes_, 8));
    at_ = end;
  }

  Lexer& lexer_;
  const Declaration& declaration_;
  Variable& variable_;
  std::size_t element_bytes_;
  std::size_t at_ = 0;
};

}  // namespace

void expect_initial_value(Lexer& lexer, Declaration& declaration, Variable& variable) {
  InitialValue(lexer, declaration, variable).expect();
  if (declaration.unsized) {
    declaration.unsized = false;
    declaration.bytes = variable.initial.size();
  }
}

}  // namespace halfgrad::emulator
