#include <halfgrad/emulator/ptx/lexer.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace halfgrad::emulator {
namespace {

std::vector<std::string> tokens(std::string_view text) {
  std::vector<std::string> result;
  for (Lexer lexer(text); !lexer.at_end();) result.emplace_back(lexer.take().text);
  return result;
}

using Words = std::vector<std::string>;

TEST(Lexer, WordsKeepTheirDotsAndColons) {
  EXPECT_EQ(tokens("@!%p1 ld.global.L2::128B.v4.b32 {%r1,_}, [%rd2+-16];"),
            (Words{"@", "!", "%p1", "ld.global.L2::128B.v4.b32", "{", "%r1", ",", "_", "}", ",",
                   "[", "%rd2", "+", "-", "16", "]", ";"}));
  EXPECT_EQ(tokens("mov.u32 %r1,%tid.x;"), (Words{"mov.u32", "%r1", ",", "%tid.x", ";"}));
}

TEST(Lexer, DirectivesNeedNoSpaces) {
  EXPECT_EQ(tokens(".reg.b32 f;"), (Words{".reg", ".b32", "f", ";"}));
  EXPECT_EQ(tokens(".reg .pred%p<4>;"), (Words{".reg", ".pred", "%p", "<", "4", ">", ";"}));
  EXPECT_EQ(tokens(".param.align 8.b8 a[2]"),
            (Words{".param", ".align", "8.b8", "a", "[", "2", "]"}));
}

TEST(Lexer, NumbersOfEveryBase) {
  EXPECT_EQ(
      tokens("0x1E+4 0f3F800000 0dBFF0000000000000 1.5e-3 42U 0b101"),
      (Words{"0x1E", "+", "4", "0f3F800000", "0dBFF0000000000000", "1.5e-3", "42U", "0b101"}));
}

TEST(Lexer, LabelsEndAtTheColon) {
  EXPECT_EQ(tokens("$L__BB0_1:ret;"), (Words{"$L__BB0_1", ":", "ret", ";"}));
}

TEST(Lexer, CommentsAndStrings) {
  EXPECT_EQ(tokens("a /* { \" */ b // c\n \"x;\\\"y\" d /*"),
            (Words{"a", "b", "\"x;\\\"y\"", "d"}));
}

TEST(Lexer, LinesAreCountedThroughCommentsStringsAndBraces) {
  Lexer lexer("a /* \n\n */ \"\n\" {\n // }\n \"}\" \n} b");
  EXPECT_EQ(lexer.take().line, 1u);
  EXPECT_EQ(lexer.take().line, 3u);
  lexer.skip_braces();
  EXPECT_EQ(lexer.ahead().text, "b");
  EXPECT_EQ(lexer.ahead().line, 7u);
}

TEST(Lexer, BracesThatNobodyCloses) {
  Lexer lexer("\n{ { }");
  EXPECT_THROW(
      {
        try {
          lexer.skip_braces();
        } catch (const std::runtime_error& error) {
          EXPECT_STREQ(error.what(), "line 2: expected a '}' for this '{'");
          throw;
        }
      },
      std::runtime_error);
}

TEST(Lexer, AnErrorNamesTheLineAndTheNextToken) {
  Lexer lexer("\n\n foo");
  try {
    lexer.expect(";");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "line 3: expected ';', got 'foo'");
  }
}

}  // namespace
}  // namespace halfgrad::emulator
