#include <halfgrad/emulator/ptx/statement_parser.h>

#include <gtest/gtest.h>

namespace halfgrad::emulator {
namespace {

using OperandKind = Operand::Kind;

class StatementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    scopes_.add_registers("%p", 0, 4);
    scopes_.add_registers("%r", 10, 100);
    scopes_.add_registers("%rd", 200, 100);
    scopes_.add_register("f", 300);
  }

  Statement parse(std::string_view text) {
    Lexer lexer(text);
    StatementParser parser(lexer, scopes_);
    return lexer.is("@") ? parser.expect_guarded_statement()
                         : parser.expect_statement(lexer.take());
  }

  std::string error(std::string_view text) {
    try {
      parse(text);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no error";
  }

  Scopes scopes_;
};

TEST_F(StatementTest, OpcodeModifiersAndRegisters) {
  const Statement s = parse("add.sat.s32 %r1, %r99, f;");
  EXPECT_EQ(s.opcode, "add");
  EXPECT_TRUE(s.has("sat"));
  EXPECT_FALSE(s.has("cc"));
  EXPECT_EQ(s.type(), Type::s32);
  ASSERT_EQ(s.operands.size(), 3u);
  EXPECT_EQ(s.operands[0].index, 11u);
  EXPECT_EQ(s.operands[1].index, 109u);
  EXPECT_EQ(s.operands[2].index, 300u);
  EXPECT_EQ(s.text, "add.sat.s32 %r1, %r99, f;");
}

TEST_F(StatementTest, TypesCountFromTheEnd) {
  const Statement s = parse("cvt.rn.satfinite.f32.s16 %r1, %r2;");
  EXPECT_EQ(s.type(0), Type::s16);
  EXPECT_EQ(s.type(1), Type::f32);
  EXPECT_EQ(s.type(2), Type::none);
}

TEST_F(StatementTest, SpacesAndCommentsOfInlineAssembly) {
  const Statement s = parse("\n\t @ ! %p3\tadd .sat/* x */.s32\n{ } , ( f ) ,[ %rd1 + 4 ] ;");
  EXPECT_TRUE(s.guarded);
  EXPECT_TRUE(s.guard_negated);
  EXPECT_EQ(s.guard, 3u);
  EXPECT_EQ(s.opcode, "add");
  EXPECT_EQ(s.modifiers, (std::vector<std::string_view>{"sat", "s32"}));
  ASSERT_EQ(s.operands.size(), 3u);
  EXPECT_TRUE(s.operands[0].parts.empty());
  EXPECT_EQ(s.operands[1].parts.at(0).index, 300u);
  EXPECT_EQ(s.operands[2].offset, 4);
}

TEST_F(StatementTest, Addresses) {
  const auto address = [&](std::string_view text) {
    const Statement s = parse(text);
    EXPECT_EQ(s.operands.at(0).kind, OperandKind::address);
    return s.operands.at(0);
  };
  EXPECT_EQ(address("ld [%rd3];").parts[0].index, 203u);
  EXPECT_EQ(address("ld [%rd3+-16];").offset, -16);
  EXPECT_EQ(address("ld [%rd3-16];").offset, -16);
  EXPECT_EQ(address("ld [name];").parts[0].name, "name");
  EXPECT_EQ(address("ld [name+0x10];").offset, 16);
  EXPECT_EQ(address("ld [name+0x10];").parts[0].offset, 0);
  EXPECT_EQ(address("ld [64];").parts[0].bits, 64u);
  const Operand tensor = address("cp [%rd1, {%r1, %r2}];");
  ASSERT_EQ(tensor.parts.size(), 2u);
  EXPECT_EQ(tensor.parts[1].parts.size(), 2u);
}

TEST_F(StatementTest, VectorsPairsSinksAndNegation) {
  const Statement s = parse("shfl.sync.b32 %r1|_, {%r1,_,-5}, !%p1, _|%p2;");
  EXPECT_EQ(s.operands[0].kind, OperandKind::pair);
  EXPECT_EQ(s.operands[0].parts[1].kind, OperandKind::sink);
  EXPECT_EQ(s.operands[1].parts[2].bits, 0 - 5ull);
  EXPECT_TRUE(s.operands[2].negated);
  EXPECT_EQ(s.operands[3].parts[0].kind, OperandKind::sink);
  EXPECT_EQ(s.operands[3].parts[1].index, 2u);
  const Statement texture = parse("tex.2d {%r1, _}|%p2, [%rd1, {%r1, %r2}];");
  ASSERT_EQ(texture.operands[0].kind, OperandKind::pair);
  EXPECT_EQ(texture.operands[0].parts[0].parts.size(), 2u);
  EXPECT_EQ(texture.operands[0].parts[1].index, 2u);
}

TEST_F(StatementTest, SpecialRegistersSymbolsAndParts) {
  const Statement s = parse("mov %tid.x, sym+8, %laneid, %r5.b0, WARP_SZ, %q1, sym;");
  EXPECT_EQ(s.operands[0].kind, OperandKind::special);
  EXPECT_EQ(s.operands[0].name, "%tid.x");
  EXPECT_EQ(s.operands[1].kind, OperandKind::symbol);
  EXPECT_EQ(s.operands[1].offset, 8);
  EXPECT_EQ(s.operands[2].name, "%laneid");
  EXPECT_EQ(s.operands[3].kind, OperandKind::reg);
  EXPECT_EQ(s.operands[3].name, "b0");
  EXPECT_EQ(s.operands[4].bits, 32u);
  EXPECT_EQ(s.operands[5].kind, OperandKind::special) << "an undeclared register";
  EXPECT_EQ(s.operands[6].offset, 0);
}

TEST_F(StatementTest, QualifiersThatSayNothing) {
  const Statement s = parse("ld.shared::cta.param::entry.shared::cluster.L2::128B.b32 %r1, [%r2];");
  EXPECT_EQ(s.modifiers, (std::vector<std::string_view>{"shared", "param", "shared::cluster",
                                                        "L2::128B", "b32"}));
}

TEST_F(StatementTest, NamesOutsideOfARangeAreOthers) {
  EXPECT_EQ(parse("mov %r100;").operands[0].kind, OperandKind::special);
  EXPECT_EQ(parse("mov %r01;").operands[0].kind, OperandKind::special);
  EXPECT_EQ(parse("mov %r99999999999;").operands[0].kind, OperandKind::special);
}

TEST_F(StatementTest, Errors) {
  EXPECT_EQ(error("add %r1, ;"), "line 1: expected a number, got ';'");
  EXPECT_EQ(error("add %r1"), "line 1: expected ';', got the end of the text");
  EXPECT_EQ(error("\nadd [%r1;"), "line 2: expected ']', got ';'");
  EXPECT_EQ(error("add {{{{{{{{{{1}}}}}}}}}};"), "line 1: expected fewer nested operands, got '{'");
  EXPECT_EQ(error("@%q add;"), "line 1: unknown predicate %q");
  EXPECT_EQ(error("add..s32 %r1;"), "line 1: expected a modifier before this, got '%r1'");
}

TEST(Scopes, InnerNamesHideOuterOnes) {
  Scopes scopes;
  scopes.add_register("p", 1);
  scopes.add_registers("%r", 10, 2);
  scopes.open();
  scopes.add_register("p", 2);
  scopes.add_register("%r1", 3);
  EXPECT_EQ(scopes.find_register("p"), 2u);
  EXPECT_EQ(scopes.find_register("%r1"), 3u);
  EXPECT_EQ(scopes.find_register("%r0"), 10u);
  scopes.close();
  EXPECT_EQ(scopes.find_register("p"), 1u);
  EXPECT_EQ(scopes.find_register("%r1"), 11u);
  EXPECT_EQ(scopes.find_register("%r2"), std::nullopt);
}

}  // namespace
}  // namespace halfgrad::emulator
