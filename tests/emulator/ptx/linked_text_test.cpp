#include <halfgrad/emulator/ptx/linked_text.h>

#include <array>

#include <halfgrad/emulator/ptx/module.h>

#include <gtest/gtest.h>

namespace halfgrad::emulator {
namespace {

constexpr const char* kHead = ".version 9.0\n.target sm_80\n.address_size 64\n";

std::string first_text() {
  return std::string(kHead) + R"(
.extern .func (.param .b32 result) twice (.param .b32 value);
.extern .global .align 4 .u32 total;
.global .align 1 .b8 $str[2] = {65, 0};
.weak .func both() { ret; }
.visible .entry k() { .loc 1 5 0
 mov.u64 %rd1, $str; ret; }
 .file 1 "a.cu"
)";
}

std::string second_text() {
  return std::string(kHead) + R"(
.visible .global .align 4 .u32 total = 7;
.global .align 1 .b8 $str[2] = {66, 0}; // $str
.weak .func both() { ret; }
.visible .func (.param .b32 result) twice (.param .b32 value) { ret; }
.visible .entry k2() { .loc 1 9 0, function_name $L__info_string0, inlined_at 1 5 30
 mov.u64 %rd1, $str+1; mov.u64 %rd2, "$str"; ret; }
 .file 1 "b.cu"
)";
}

TEST(LinkedText, EachTextKeepsItsOwnSymbols) {
  const std::array<std::string, 2> texts{first_text(), second_text()};
  const std::string linked = link_texts(texts);
  EXPECT_NE(linked.find("mov.u64 %rd1, $str; ret;"), std::string::npos);
  EXPECT_NE(linked.find("mov.u64 %rd1, $str$1+1; mov.u64 %rd2, \"$str\";"), std::string::npos);
  EXPECT_NE(linked.find("// $str\n"), std::string::npos);
  Module module(linked);
  auto& variables = module.variables();
  ASSERT_EQ(variables.count("$str$1"), 1u);
  EXPECT_EQ(variables.at("$str").initial.at(0), std::byte{65});
  EXPECT_EQ(variables.at("$str$1").initial.at(0), std::byte{66});
}

TEST(LinkedText, DefinitionTakesThePlaceOfTheDeclaration) {
  const std::array<std::string, 2> texts{first_text(), second_text()};
  Module module(link_texts(texts));
  EXPECT_FALSE(module.variables().at("total").external);
  EXPECT_EQ(module.variables().at("total").initial.at(0), std::byte{7});
  EXPECT_EQ(module.kernel_names(), (std::vector<std::string>{"k", "k2"}));
}

TEST(LinkedText, FileNumbersAreDistinct) {
  const std::array<std::string, 2> texts{first_text(), second_text()};
  const std::string linked = link_texts(texts);
  EXPECT_NE(linked.find(".loc 2 9 0, function_name $L__info_string0, inlined_at 2 5 30"),
            std::string::npos);
  Module module(linked);
  EXPECT_EQ(module.file_name(1), "a.cu");
  EXPECT_EQ(module.file_name(2), "b.cu");
}

TEST(LinkedText, StrongFunctionsHaveOneBody) {
  const std::array<std::string, 2> texts{second_text(), second_text()};
  EXPECT_THROW(Module{link_texts(texts)}, std::runtime_error);
}

}  // namespace
}  // namespace halfgrad::emulator
