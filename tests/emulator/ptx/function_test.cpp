#include <halfgrad/emulator/ptx/function.h>

#include <algorithm>

#include "ptx_module.h"

namespace halfgrad::emulator {
namespace {

/// A module with its variables placed, and its kernel `k`.
struct Decoded {
  explicit Decoded(const std::string& text) : module(text) {
    module.place(memory);
    kernel = module.kernel("k");
  }
  const Function& main() const { return *kernel->main; }

  Memory memory;
  Module module;
  const Kernel* kernel = nullptr;
};

std::vector<std::uint32_t> targets(const Function& function) {
  std::vector<std::uint32_t> result;
  for (const Instruction& instruction : function.code) {
    if (instruction.control == Control::branch) result.push_back(instruction.target);
  }
  return result;
}

TEST(Function, LabelsOfNestedScopes) {
  const Decoded decoded(kernel_text(R"(
    .reg .pred p;
    $top: bra $end;
    {
      .reg .pred p;
      again: @p bra again;
      { bra again; bra $top; }
    }
    again: @!p bra.uni again;
    $end: ret;)"));
  EXPECT_EQ(targets(decoded.main()), (std::vector<std::uint32_t>{5, 1, 1, 0, 4}));
  EXPECT_NE(decoded.main().code[1].guard, kNoOffset);
  EXPECT_FALSE(decoded.main().code[1].guard_negated);
  EXPECT_TRUE(decoded.main().code[4].guard_negated);
}

TEST(Function, AKernelReturnsByExit) {
  const Decoded decoded(kernel_text("ret;"));
  ASSERT_EQ(decoded.main().code.size(), 2u);
  EXPECT_EQ(decoded.main().code[0].control, Control::exit);
  EXPECT_EQ(decoded.main().code[1].control, Control::exit) << "at the closing brace";
}

TEST(Function, TablesOfLabels) {
  const Decoded decoded(kernel_text(R"(
    .reg .b32 i;
    brx.idx i, table;
    a: ret;
    table: .branchtargets a, b,
      a;
    b: ret;)"));
  EXPECT_EQ(decoded.main().code[0].control, Control::branch_indexed);
  EXPECT_EQ(decoded.main().branch_tables.at(0), (std::vector<std::uint32_t>{1, 2, 1}));
  EXPECT_EQ(decoded.main().code[0].sources, 1);
}

const char* const kCalled = R"(
.extern .func outside();
.func h() { .local .b8 x[20]; }
.func g() { .local .b8 x[100]; call h; ret; }
.func (.param .b32 result) f(.param .b64 a, .param .align 4 .b8 b[12])
{ .reg .b64 r; .param .b8 c[5]; ld.param.b64 r, [a]; st.param.b32 [result], 0; ret; }
.alias name_of_g, g;
)";

TEST(Function, CallsAndTheirParameters) {
  const Decoded decoded(kernel_text(R"(
    .reg .b64 %rd<2>;
    .local .b8 x[10];
    { // callseq 0
      .param .b64 param0;
      .param .align 4 .b8 param1[12];
      .param .b32 retval0;
      call.uni (retval0), f, (param0, param1);
    }
    {
      .param .b32 retval0;
      call.uni name_of_g;
      call outside, ();
    })",
                                    kCalled, ".param .b64 kernel_parameter"));
  const Function& main = decoded.main();
  EXPECT_TRUE(main.unknown.empty());
  ASSERT_EQ(main.calls.size(), 3u);
  const Call& call = main.calls[0];
  ASSERT_NE(call.callee, nullptr);
  EXPECT_EQ(call.callee->name, "f");
  ASSERT_EQ(call.arguments.size(), 2u);
  EXPECT_EQ(call.arguments[1].offset, 8u);
  EXPECT_EQ(call.results.at(0).offset, 20u);
  EXPECT_EQ(main.calls[1].callee->name, "g");
  EXPECT_EQ(main.calls[2].callee, nullptr);
  EXPECT_EQ(main.calls[2].name, "outside");
  EXPECT_EQ(main.parameter_bytes, 32u) << "24 bytes, the second block reuses the first one's";
  EXPECT_EQ(main.launch_parameter_bytes, 8u);
}

TEST(Function, ParametersOfFunctions) {
  const Decoded decoded(kernel_text(R"(
    .param .b64 a; .param .align 4 .b8 b[12]; .param .b32 r;
    call (r), f, (a, b);)",
                                    kCalled));
  const Function& f = *decoded.main().calls.at(0).callee;
  EXPECT_EQ(f.results.at(0).offset, 0u);
  EXPECT_EQ(f.parameters.at(0).offset, 8u);
  EXPECT_EQ(f.parameters.at(1).offset, 16u);
  EXPECT_EQ(f.parameter_bytes, 48u) << "28 bytes, and 5 of the variable c";
  EXPECT_EQ(f.launch_parameter_bytes, 0u);
  EXPECT_EQ(f.first_counter, decoded.main().code.size());
  EXPECT_EQ(decoded.kernel->instruction_count, decoded.main().code.size() + f.code.size());
}

TEST(Function, LocalMemoryOfTheDeepestCalls) {
  const Decoded decoded(kernel_text(".local .b8 x[10]; call g; call h;", kCalled));
  EXPECT_FALSE(decoded.kernel->recursive);
  EXPECT_EQ(decoded.kernel->local_bytes, 16u + 112u + 32u);
}

TEST(Function, Recursion) {
  const Decoded decoded(
      kernel_text("call a;", ".func b(); .func a() { call b; } .func b() { call a; }"));
  EXPECT_TRUE(decoded.kernel->recursive);
  EXPECT_EQ(decoded.kernel->functions.size(), 3u);
}

TEST(Function, IndirectCallsReachEveryFunction) {
  const Decoded decoded(kernel_text(R"(
    .reg .b64 %rd<2>;
    .param .b32 retval0;
    prototype_1 : .callprototype (.param .b32 _) _ () ;
    call (retval0), %rd1, (), prototype_1;
    call (retval0), %rd1, prototype_1;)",
                                    kCalled));
  const auto& calls = decoded.main().calls;
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_NE(calls[0].address, kNoOffset);
  EXPECT_EQ(calls[0].address, decoded.main().code[0].source(0));
  EXPECT_EQ(calls[1].name, "");
  EXPECT_EQ(decoded.kernel->functions.size(), 4u) << "k, f, g and h";
  const Function* f = decoded.kernel->functions[1];
  EXPECT_EQ(Module::function_at(*decoded.kernel, f->address), f);
  EXPECT_EQ(Module::function_at(*decoded.kernel, decoded.main().address), nullptr);
  EXPECT_EQ(Module::function_at(*decoded.kernel, 0), nullptr);
}

TEST(Function, SharedMemory) {
  const Decoded decoded(kernel_text(R"(
    .shared .align 2 .b8 a[3];
    .extern .shared .align 64 .b8 dynamic[];
    .shared .f64 b;
    .reg .b32 r;
    ld.shared.b32 r, [used+4];
    ld.shared.b32 r, [used];
    ld.shared.b32 r, [b];
    ld.shared.b32 r, [dynamic+12];)",
                                    ".shared .b32 unused[100]; .shared .align 32 .b32 used[2];"));
  EXPECT_TRUE(decoded.main().unknown.empty());
  EXPECT_EQ(decoded.kernel->static_shared_bytes, 40u) << "a at 0, b at 8, used at 32";
  EXPECT_EQ(decoded.kernel->dynamic_shared_alignment, 64u);
  EXPECT_EQ(decoded.main().code[0].immediate, 36);
  EXPECT_EQ(decoded.main().code[2].immediate, 8);
  EXPECT_EQ(decoded.main().code[3].immediate, 12);
  EXPECT_EQ(decoded.main().specials.at(0).special, Special::dynamic_smem_begin);
}

TEST(Function, LinesOfInlinedFunctions) {
  const Decoded decoded(kernel_text(R"(
    .loc 1 10 0
    bar.sync 0;
    .loc 2 20 5, function_name $L__info_string0, inlined_at 1 11 3
    bar.sync 0;
    .loc 3 30 7, function_name $L__info_string1+4, inlined_at 2 20 5
    bar.sync 0;)"));
  const auto& statements = decoded.main().statements;
  EXPECT_EQ(statements[0].location.line, 10u);
  EXPECT_EQ(statements[0].location.inlined_line, 0u);
  EXPECT_EQ(statements[0].location.ptx_line, 9u);
  EXPECT_EQ(statements[1].location.file, 2u);
  EXPECT_EQ(statements[1].location.inlined_line, 11u);
  EXPECT_EQ(statements[2].location.line, 30u);
  EXPECT_EQ(statements[2].location.inlined_file, 1u);
  EXPECT_EQ(statements[2].location.inlined_line, 11u) << "the outermost call";
}

TEST(Function, AClockIsSampledBeforeTheInstructionThatReadsIt) {
  const Decoded decoded(kernel_text(R"(
    .reg .pred p; .reg .b64 t;
    @!p mov.u64 t, %clock64;
    bra next;
    next: ret;)"));
  const auto& code = decoded.main().code;
  ASSERT_EQ(code.size(), 5u) << "sample, mov, bra, ret and the end";
  EXPECT_EQ(code[0].operands[0], code[1].source(0));
  EXPECT_EQ(code[0].guard, code[1].guard);
  EXPECT_TRUE(code[0].guard_negated);
  EXPECT_EQ(code[2].target, 3u);
  EXPECT_EQ(decoded.main().statements[0].text, decoded.main().statements[1].text);
}

TEST(Function, AnUnknownInstructionWaitsToBeReached) {
  const Decoded decoded(kernel_text(R"(
    .reg .b32 %r<2>;
    frobnicate.b32 %r1, {%r0, 1}, [%r0];
    ld.global.b32 %r1, [%rd5];
    ret;)"));
  const Function& main = decoded.main();
  ASSERT_EQ(main.unknown.size(), 2u);
  EXPECT_EQ(main.unknown.at(0), "unknown opcode frobnicate");
  EXPECT_NE(main.code[0].execute, nullptr);
  EXPECT_EQ(main.code[0].control, Control::none);
  EXPECT_EQ(main.statements[0].text, "frobnicate.b32 %r1, {%r0, 1}, [%r0];");
}

TEST(Function, ErrorsNameTheLine) {
  const auto error = [](const char* body) { return error_of(kernel_text(body)); };
  EXPECT_EQ(error("bra nowhere;"), "line 7: unknown label nowhere");
  EXPECT_EQ(error("\na: ret;\na: ret;"), "line 9: label a stands twice");
  EXPECT_EQ(error(".reg .b32 i; brx.idx i, t;"), "line 7: unknown table of labels t");
  EXPECT_EQ(error("t: .branchtargets a; .reg .b32 i; brx.idx i, t;"), "line 7: unknown label a");
  EXPECT_EQ(error(".reg .b32 r; @r ret;"), "line 7: expected a predicate after '@'");
  EXPECT_EQ(error(".reg .v2 .b32 r;"), "line 7: expected the type of a scalar register, got '.v2'");
  EXPECT_EQ(error(".reg .b32 r<999999999>;"),
            "line 7: expected a number of registers of at most 4194304, got '999999999'");
  EXPECT_EQ(error(".maxnreg 3;"),
            "line 7: expected an instruction or a directive of a function, got '.maxnreg'");
  EXPECT_EQ(error("5;"), "line 7: expected an instruction, got '5'");
  EXPECT_EQ(error_of(kernel_text(".param .b64 a; call f, (a);", ".func f(.param .b32 x) { ret; }")),
            "line 7: expected the arguments and results that f declares");
}

}  // namespace
}  // namespace halfgrad::emulator
