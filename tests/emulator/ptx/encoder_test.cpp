#include <halfgrad/emulator/ptx/encoder.h>

#include <bit>

#include <gtest/gtest.h>

#include <halfgrad/emulator/ptx/function_builder.h>
#include <halfgrad/emulator/ptx/statement_parser.h>

namespace halfgrad::emulator {
namespace {

struct NoSymbols : SymbolTable {
  SymbolAddress address_of(std::string_view name) override {
    if (name == "variable") return {std::nullopt, 0x1000};
    throw UnknownInstruction("unknown symbol " + std::string(name));
  }
};

class EncoderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    builder_.scopes.add_register("%p1", builder_.add_registers(0, 1));
    builder_.scopes.add_register("%h1", builder_.add_registers(2, 1));
    builder_.scopes.add_register("%r1", builder_.add_registers(4, 1));
    builder_.scopes.add_register("%d1", builder_.add_registers(8, 1));
    builder_.scopes.add_symbol("local", {LocalSymbol::Kind::local, 24, {}});
  }

  /// `statement` as the parser reads it; lives as long as the test.
  Encoder encoder(std::string_view text) {
    Lexer lexer(text);
    StatementParser parser(lexer, builder_.scopes);
    statements_.push_back(parser.expect_statement(lexer.take()));
    return Encoder(builder_, statements_.back());
  }

  /// The bits of the constant that operand 0 becomes as a source of that type.
  std::uint64_t immediate(const std::string& text, Type type) {
    texts_.push_back("mov " + text + ";");
    Encoder e = encoder(texts_.back());
    const Offset slot = e.source_offset(e.statement.operands[0], type);
    for (const auto& constant : function_.constants) {
      if (constant.offset == slot) return constant.bits;
    }
    ADD_FAILURE() << text << " is no constant";
    return 0;
  }

  std::string refusal(std::string_view text, Type destination, Type source) {
    try {
      Encoder e = encoder(text);
      e.operands_of(destination, {source});
    } catch (const UnknownInstruction& error) {
      return error.what();
    }
    return "no error";
  }

  NoSymbols symbols_;
  Function function_;
  FunctionBuilder builder_{function_, symbols_};
  std::deque<Statement> statements_;
  std::deque<std::string> texts_;
};

TEST_F(EncoderTest, IntegerImmediatesHaveTheBytesOfTheType) {
  EXPECT_EQ(immediate("-1", Type::s16), 0xffffu);
  EXPECT_EQ(immediate("-2", Type::b32), 0xfffffffeu);
  EXPECT_EQ(immediate("-3", Type::u64), 0 - 3ull);
  EXPECT_EQ(immediate("-4", Type::u8), 0xfffcu) << "8-bit values lie in 16 bits";
  EXPECT_EQ(immediate("0x12345678", Type::u16), 0x5678u);
}

TEST_F(EncoderTest, PredicateImmediatesAreMasks) {
  EXPECT_EQ(immediate("0", Type::pred), 0u);
  EXPECT_EQ(immediate("1", Type::pred), 0xffffffffu);
  EXPECT_EQ(immediate("-1", Type::pred), 0xffffffffu);
}

TEST_F(EncoderTest, FloatImmediates) {
  EXPECT_EQ(immediate("0f3F800000", Type::f32), 0x3f800000u);
  EXPECT_EQ(immediate("0f3F800000", Type::b32), 0x3f800000u);
  EXPECT_EQ(immediate("0f3F800000", Type::f64), std::bit_cast<std::uint64_t>(1.0));
  EXPECT_EQ(immediate("0d3FF0000000000000", Type::f64), std::bit_cast<std::uint64_t>(1.0));
  EXPECT_EQ(immediate("0d3FF0000000000000", Type::b64), std::bit_cast<std::uint64_t>(1.0));
  EXPECT_EQ(immediate("0.1", Type::f32), std::bit_cast<std::uint32_t>(0.1f));
  EXPECT_EQ(immediate("-3", Type::f32), std::bit_cast<std::uint32_t>(-3.0f));
  EXPECT_EQ(immediate("3", Type::f64), std::bit_cast<std::uint64_t>(3.0));
  EXPECT_THROW(immediate("0f3F800000", Type::f16), UnknownInstruction);
  EXPECT_THROW(immediate("0f3F800000", Type::s64), UnknownInstruction);
  EXPECT_THROW(immediate("1.5", Type::s32), UnknownInstruction);
}

TEST_F(EncoderTest, EqualConstantsShareAPlace) {
  Encoder e = encoder("mov 1;");
  EXPECT_EQ(e.constant(Type::u32, 1), e.constant(Type::b32, 1));
  EXPECT_NE(e.constant(Type::u32, 1), e.constant(Type::u64, 1));
  EXPECT_NE(e.constant(Type::u32, ~0u), e.constant(Type::pred, 1));
}

TEST_F(EncoderTest, RegistersMustHaveTheSizeOfTheType) {
  EXPECT_EQ(refusal("mov %r1, %r1;", Type::f32, Type::b32), "no error");
  EXPECT_EQ(refusal("mov %r1, %r1;", Type::u8, Type::s8), "no error");
  EXPECT_EQ(refusal("mov %h1, %h1;", Type::f16, Type::bf16), "no error");
  EXPECT_EQ(refusal("mov %r1, %h1;", Type::b32, Type::b32), "expected a source of another size");
  EXPECT_EQ(refusal("mov %d1, %r1;", Type::b32, Type::b32),
            "expected a destination of another size");
  EXPECT_EQ(refusal("mov %p1, %r1;", Type::b32, Type::b32),
            "expected a destination of another size");
  EXPECT_EQ(refusal("mov %r1, %p1;", Type::b32, Type::u8), "expected a source of another size");
  EXPECT_EQ(refusal("mov %r1, %r1;", Type::none, Type::b32), "expected a type");
  EXPECT_EQ(refusal("mov 5, %r1;", Type::b32, Type::b32), "expected a register as the destination");
  EXPECT_EQ(refusal("mov %r1, %r1.b0;", Type::b32, Type::b32), "a part of a register");
  EXPECT_EQ(refusal("mov %r1;", Type::b32, Type::b32), "expected 2 operands, got 1");
  EXPECT_EQ(refusal("mov %r1, %r7;", Type::b32, Type::b32), "unknown register %r7");
  EXPECT_EQ(refusal("mov %r1, [%r1];", Type::b32, Type::b32), "expected a source of another kind");
}

TEST_F(EncoderTest, SpecialRegisters) {
  EXPECT_EQ(refusal("mov %r1, %tid.x;", Type::b32, Type::u32), "no error");
  EXPECT_EQ(refusal("mov %d1, %gridid;", Type::b64, Type::u64), "no error");
  EXPECT_EQ(refusal("mov %h1, %tid.x;", Type::b16, Type::u16),
            "expected a special register of another size");
  ASSERT_EQ(function_.specials.size(), 2u);
  EXPECT_EQ(function_.specials[0].special, Special::tid_x);
  EXPECT_FALSE(function_.specials[0].wide);
  EXPECT_TRUE(function_.specials[1].wide);
}

TEST_F(EncoderTest, ClocksAreSampledBefore) {
  EXPECT_EQ(refusal("mov %d1, %clock64;", Type::b64, Type::u64), "no error");
  EXPECT_EQ(builder_.samples.size(), 1u);
  EXPECT_EQ(refusal("mov %r1, %clock64;", Type::b32, Type::u32),
            "expected a special register of another size");
}

TEST_F(EncoderTest, AddressesOfSymbols) {
  EXPECT_EQ(immediate("variable+4", Type::u64), 0x1004u);
  EXPECT_EQ(refusal("mov %d1, local+2;", Type::b64, Type::u64), "no error");
  EXPECT_EQ(function_.specials.at(0).special, Special::local_begin);
  EXPECT_EQ(function_.specials.at(0).addend, 26u);
  EXPECT_EQ(refusal("mov %d1, nothing;", Type::b64, Type::u64), "unknown symbol nothing");
  EXPECT_EQ(refusal("mov %h1, variable;", Type::b16, Type::u16),
            "expected an address of 32 or 64 bits");
}

TEST_F(EncoderTest, AddressesInBrackets) {
  const auto address = [&](const char* text) {
    Encoder e = encoder(text);
    const unsigned bytes = e.address(0);
    EXPECT_EQ(e.instruction.sources, 1);
    return std::pair(bytes, e.instruction.immediate);
  };
  EXPECT_EQ(address("ld [%d1-8];"), (std::pair<unsigned, std::int64_t>(8, -8)));
  EXPECT_EQ(address("ld [%r1+8];"), (std::pair<unsigned, std::int64_t>(4, 8)));
  EXPECT_EQ(address("ld [variable+8];"), (std::pair<unsigned, std::int64_t>(8, 0x1008)));
  EXPECT_EQ(address("ld [32];"), (std::pair<unsigned, std::int64_t>(8, 32)));
  EXPECT_EQ(address("ld [local];"), (std::pair<unsigned, std::int64_t>(8, 24)));
  EXPECT_THROW(address("ld [%h1];"), UnknownInstruction);
  EXPECT_THROW(address("ld %d1;"), UnknownInstruction);
  EXPECT_THROW(address("ld ;"), UnknownInstruction);
}

TEST_F(EncoderTest, SinksAndTheCarryFlag) {
  Encoder e = encoder("add _, 1, 2;");
  e.operands_of(Type::u32, {Type::u32, Type::u32});
  EXPECT_EQ(e.instruction.destinations, 1);
  EXPECT_EQ(e.instruction.sources, 2);
  EXPECT_EQ(builder_.slots[e.instruction.operands[0]].bytes, 4u);
  EXPECT_EQ(e.carry(), e.carry());
}

TEST_F(EncoderTest, MistakesOfAFamilyAreErrors) {
  Encoder late = encoder("add %r1, %r1;");
  late.source(1, Type::u32);
  EXPECT_THROW(late.destination(0, Type::u32), std::logic_error);

  Encoder elsewhere = encoder("add %r1, %r1;");
  elsewhere.instruction.immediate =
      elsewhere.source_offset(elsewhere.statement.operands[1], Type::u32);
  EXPECT_THROW(builder_.add(elsewhere.instruction, elsewhere.statement), std::logic_error);
}

}  // namespace
}  // namespace halfgrad::emulator
