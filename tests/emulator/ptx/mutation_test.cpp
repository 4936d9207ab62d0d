#include <halfgrad/emulator/ptx/mutation.h>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

const std::string kFiles =
    ".file 1 \"/src/kernels/reduce.cu\"\n"
    ".file 2 \"/usr/local/cuda/targets/x86_64-linux/include/crt/math_functions.hpp\"\n";

/// A kernel with `statement` at line 31 of reduce.cu, between `before` and the store of %r2.
std::string at_line_31(const std::string& before, const std::string& statement,
                       const std::string& after = "") {
  return kernel(before + "\n.loc 1 31 3\n" + statement + "\n.loc 1 32 3\n" + after + kStoreResult,
                kFiles);
}

struct Change {
  MutantKind kind;
  std::string before, statement, after;
  std::uint32_t result, mutated;  ///< word that thread 70 of 128 stores
};

// Floats: 70 is 0x428c0000, 3 is 0x40400000.
const Change kChanges[] = {
    {MutantKind::bound, "", "setp.lt.u32 %p1, %r1, 70;", "selp.u32 %r2, 1, 0, %p1;", 0, 1},
    {MutantKind::bound, "", "setp.ge.s32 %p1, %r1, 70;", "selp.u32 %r2, 1, 0, %p1;", 1, 0},
    {MutantKind::bound, "", "setp.hi.u32 %p1, %r1, 70;", "selp.u32 %r2, 1, 0, %p1;", 0, 1},
    {MutantKind::bound, "", "set.le.u32.s32 %r2, %r1, 70;", "", 0xffffffff, 0},
    {MutantKind::threshold, "cvt.rn.f32.u32 %r3, %r1;", "setp.gt.f32 %p1, %r3, 0f428C0000;",
     "selp.u32 %r2, 1, 0, %p1;", 0, 1},
    {MutantKind::threshold, "cvt.rn.f32.u32 %r3, %r1;", "setp.leu.f32 %p1, %r3, 0f428C0000;",
     "selp.u32 %r2, 1, 0, %p1;", 1, 0},
    {MutantKind::sign, "cvt.rn.f32.u32 %r3, %r1;", "add.f32 %r3, %r3, 0f40400000;",
     "cvt.rni.u32.f32 %r2, %r3;", 73, 67},
    {MutantKind::sign, "cvt.rn.f32.u32 %r3, %r1;", "sub.f32 %r3, %r3, 0f40400000;",
     "cvt.rni.u32.f32 %r2, %r3;", 67, 73},
    {MutantKind::sign, "cvt.rn.f32.u32 %r3, %r1;", "fma.rn.f32 %r3, %r3, %r3, 0f40400000;",
     "cvt.rni.u32.f32 %r2, %r3;", 4903, 4897},
    {MutantKind::sign, "cvt.rn.f32.u32 %r3, %r1;", "fma.rz.f32 %r3, %r3, %r3, 0f40400000;",
     "cvt.rni.u32.f32 %r2, %r3;", 4903, 4897},
    // Halves: 2 is 0x4000, 3 is 0x4200, 1 is 0x3c00; 2 * 3 + 1 and 2 * 3 - 1 are 0x4700 and 0x4500.
    {MutantKind::sign, "mov.u32 %r3, 0x40004000; mov.u32 %r4, 0x42004200; mov.u32 %r5, 0x3c003c00;",
     "fma.rn.f16x2 %r2, %r3, %r4, %r5;", "", 0x47004700, 0x45004500},
    {MutantKind::extremum, "", "min.u32 %r2, %r1, 3;", "", 3, 70},
    {MutantKind::extremum, "cvt.rn.f32.u32 %r3, %r1;", "max.f32 %r3, %r3, 0f40400000;",
     "cvt.rni.u32.f32 %r2, %r3;", 70, 3},
    {MutantKind::store, ".shared .align 4 .b8 x[4]; mov.u32 %r3, x; st.shared.u32 [%r3], 9;",
     "st.shared.u32 [%r3], 5;", "ld.shared.u32 %r2, [%r3];", 5, 9},
    {MutantKind::store, "mov.u32 %r2, 5; add.u64 %rd2, %rd1, 4000;",
     "red.global.add.u32 [%rd2], 1;", "bar.sync 0; ld.global.u32 %r2, [%rd2];", 128, 0},
};

TEST(Mutants, ChangeTheLineOfTheirKind) {
  for (const Change& change : kChanges) {
    const std::string text = at_line_31(change.before, change.statement, change.after);
    SmallGpu right, wrong, elsewhere, other_kind;
    wrong.mutant = Mutant{{"reduce.cu", 31}, change.kind};
    elsewhere.mutant = Mutant{{"reduce.cu", 30}, change.kind};
    other_kind.mutant = Mutant{{"reduce.cu", 31}, MutantKind::barrier};
    for (SmallGpu* gpu : {&right, &wrong, &elsewhere, &other_kind}) {
      gpu->launch(text, {1}, {128});
      EXPECT_FALSE(gpu->findings.has_errors()) << change.statement;
    }
    EXPECT_EQ(right.word(70), change.result) << change.statement;
    EXPECT_EQ(wrong.word(70), change.mutated) << change.statement;
    EXPECT_EQ(elsewhere.word(70), change.result) << change.statement;
    EXPECT_EQ(other_kind.word(70), change.result) << change.statement;
  }
}

TEST(Mutants, ABarrierThatIsLeftOutIsARace) {
  const std::string text = at_line_31(R"(
    .shared .align 4 .b8 buffer[512];
    mov.u32 %r3, buffer;
    shl.b32 %r4, %r1, 2;
    add.u32 %r5, %r3, %r4;
    st.shared.u32 [%r5], %r1;
  )",
                                      "bar.sync 0;", R"(
    sub.u32 %r6, 508, %r4;
    add.u32 %r7, %r3, %r6;
    ld.shared.u32 %r2, [%r7];
  )");
  for (const bool mutates : {false, true}) {
    SmallGpu gpu;
    gpu.settings.check_race = true;
    if (mutates) gpu.mutant = parse_mutant("barrier:kernels/reduce.cu:31");
    gpu.launch(text, {1}, {128});
    EXPECT_EQ(gpu.found(FindingKind::race).empty(), !mutates);
  }
}

TEST(Mutants, AWaitForAnMbarrierEndsAtOnce) {
  // Nothing arrives: without the mutant the loop never ends.
  const std::string text = at_line_31(R"(
    .shared .align 8 .b8 ready[8];
    mov.u32 %r3, ready;
    mbarrier.init.shared.b64 [%r3], 1;
  again:
  )",
                                      "mbarrier.test_wait.parity.shared.b64 %p1, [%r3], 0;",
                                      "@!%p1 bra again;\nmov.u32 %r2, 7;\n");
  SmallGpu gpu;
  gpu.mutant = Mutant{{"reduce.cu", 31}, MutantKind::barrier};
  gpu.launch(text, {1}, {1});
  EXPECT_EQ(gpu.word(0), 7u);
}

TEST(Mutants, ALineOfACudaHeaderCountsAsTheLineThatCallsIt) {
  const std::string text = kernel(
      "$info:\n.loc 2 800 1, function_name $info, inlined_at 1 40 9\nmin.u32 %r2, %r1, 3;\n" +
          std::string(kStoreResult),
      kFiles);
  for (const Mutant& mutant : {Mutant{{"reduce.cu", 40}, MutantKind::extremum},
                               Mutant{{"math_functions.hpp", 800}, MutantKind::extremum}}) {
    SmallGpu gpu;
    gpu.mutant = mutant;
    gpu.launch(text, {1}, {128});
    EXPECT_EQ(gpu.word(70), mutant.at.line == 40 ? 70u : 3u);
  }
}

TEST(Mutants, LeaveKernelsOfCudaHeadersAlone) {
  const std::string text = kernel(
      "$info:\n.loc 2 800 1, function_name $info, inlined_at 2 900 9\nmin.u32 %r2, %r1, 3;\n" +
          std::string(kStoreResult),
      kFiles);
  SmallGpu gpu;
  gpu.mutant = Mutant{{"math_functions.hpp", 900}, MutantKind::extremum};
  gpu.launch(text, {1}, {128});
  EXPECT_EQ(gpu.word(70), 3u);
}

TEST(Mutants, NameAFileByTheEndOfItsPath) {
  const SourceLine place{"/src/kernels/reduce.cu", 31};
  EXPECT_TRUE(parse_mutant("bound:reduce.cu:31").is_at(place));
  EXPECT_TRUE(parse_mutant("bound:kernels/reduce.cu:31").is_at(place));
  EXPECT_TRUE(parse_mutant("bound:/src/kernels/reduce.cu:31").is_at(place));
  EXPECT_FALSE(parse_mutant("bound:duce.cu:31").is_at(place));
  EXPECT_FALSE(parse_mutant("bound:reduce.cu:3").is_at(place));
  EXPECT_FALSE(parse_mutant("bound:/reduce/reduce.cu:31").is_at(place));
}

TEST(Mutants, AreReadAsTheyArePrinted) {
  for (const char* text : {"barrier:a.cu:1", "bound:/x/b.h:20", "threshold:C:/c.cu:300",
                           "sign:d.cuh:4", "extremum:e:5", "store:f.cu:6"}) {
    EXPECT_EQ(to_string(parse_mutant(text)), text);
  }
  for (const char* text :
       {"", "barrier", "barrier:a.cu", "barrier:a.cu:", "barrier:a.cu:0", "barrier:a.cu:-1",
        "barrier:a.cu:1x", "barrier::1", "speed:a.cu:1", "barrier:a.cu:99999999999"}) {
    EXPECT_THROW(parse_mutant(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace halfgrad::emulator
