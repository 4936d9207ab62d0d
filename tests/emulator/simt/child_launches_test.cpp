#include <gtest/gtest.h>

#include "small_gpu.h"

namespace halfgrad::emulator {
namespace {

const char* const kDeclarations = R"(
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 a, .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);
.extern .func (.param .b32 r) __cudaCDP2StreamCreateWithFlags(.param .b64 a, .param .b32 b);
.extern .func (.param .b32 r) __cudaCDP2EventCreateWithFlags(.param .b64 a, .param .b32 b);
.extern .func (.param .b32 r) __cudaCDP2EventRecord(.param .b64 a, .param .b64 b);
.extern .func (.param .b32 r) __cudaCDP2StreamWaitEvent(.param .b64 a, .param .b64 b, .param .b32 c);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2Mystery();
)";

/// A kernel of the buffer in %rd1; %r1 and %r2 hold the thread and the block.
std::string entry(const std::string& name, const std::string& body) {
  return ".visible .entry " + name +
         "(.param .u64 buffer)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
         "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n" +
         body + "\nret;\n}\n";
}

/// Launches `name` with the buffer as its argument in the stream, a register or a number. %r10 is
/// the error.
std::string launch(const std::string& name, unsigned grid, unsigned block,
                   const std::string& stream = "0") {
  const auto sizes = [](unsigned i, unsigned x) {
    const std::string p = "[p" + std::to_string(i) + "+";
    return ".param .align 4 .b8 p" + std::to_string(i) + "[12];\nst.param.b32 " + p + "0], " +
           std::to_string(x) + ";\nst.param.b32 " + p + "4], 1;\nst.param.b32 " + p + "8], 1;\n";
  };
  return "{\nmov.u64 %rd10, " + name + ";\n.param .b64 p0;\nst.param.b64 [p0+0], %rd10;\n" +
         sizes(1, grid) + sizes(2, block) +
         ".param .b32 p3;\nst.param.b32 [p3+0], 0;\n.param .b64 q;\n"
         "call.uni (q), __cudaCDP2GetParameterBufferV2, (p0, p1, p2, p3);\n"
         "ld.param.b64 %rd11, [q+0];\n}\n"
         "setp.eq.s64 %p3, %rd11, 0;\n@%p3 bra REFUSED" +
         name + stream.substr(stream[0] == '%') + ";\n" +
         "st.u64 [%rd11], %rd1;\n"
         "{\n.param .b64 p0;\nst.param.b64 [p0+0], %rd11;\n.param .b64 p1;\n"
         "st.param.b64 [p1+0], " +
         stream +
         ";\n.param .b32 q;\ncall.uni (q), __cudaCDP2LaunchDeviceV2, (p0, p1);\n"
         "ld.param.b32 %r10, [q+0];\n}\nREFUSED" +
         name + stream.substr(stream[0] == '%') + ":\n";
}

/// Makes a stream or an event in register %rd`i`, through word 100 of the buffer.
std::string create(const std::string& what, unsigned i, unsigned flags) {
  return "{\nadd.s64 %rd12, %rd1, 400;\n.param .b64 p0;\nst.param.b64 [p0+0], %rd12;\n"
         ".param .b32 p1;\nst.param.b32 [p1+0], " +
         std::to_string(flags) + ";\n.param .b32 q;\ncall.uni (q), __cudaCDP2" + what +
         "CreateWithFlags, (p0, p1);\n}\nld.global.u64 %rd" + std::to_string(i) + ", [%rd12];\n";
}

const std::string kOnlyThread0 = "setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n";

class ChildLaunches : public testing::Test {
 protected:
  ChildLaunches() { gpu.settings.check_race = gpu.settings.check_init = true; }

  void run(const std::string& kernels, Dim3 grid = {1}, Dim3 block = {1}) {
    gpu.launch_kernel(
        ".version 8.0\n.target sm_80\n.address_size 64\n" + std::string(kDeclarations) + kernels,
        "k", grid, block, Arguments{}(gpu.address()));
  }

  SmallGpu gpu;
};

TEST_F(ChildLaunches, RunAfterWhatTheParentWrote) {
  const std::string child = entry("child", R"(
    mad.lo.u32 %r3, %r2, 32, %r1;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r4, [%rd1];
    add.u32 %r4, %r4, %r3;
    st.global.u32 [%rd3+4], %r4;)");
  run(child + entry("k", "st.global.u32 [%rd1], 1000;\n" + launch("child", 2, 32)));
  for (unsigned i = 0; i < 64; ++i) ASSERT_EQ(gpu.word(1 + i), 1000 + i);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(ChildLaunches, SeeWhatTheBlockWroteBeforeItsBarrier) {
  const std::string child = entry("child",
                                  "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                                  "st.global.u32 [%rd3], 7;");
  const std::string touch =
      "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r4, [%rd3];\n"
      "ld.global.u32 %r4, [%rd1];\n";
  run(child + entry("k", touch + "bar.sync 0;\n" + kOnlyThread0 + launch("child", 1, 64)), {1},
      {64});
  EXPECT_TRUE(gpu.findings.all().empty());

  SmallGpu other;  // without the barrier, the other warp's loads race with the child's stores
  other.settings.check_race = true;
  other.launch_kernel(".version 8.0\n.target sm_80\n.address_size 64\n" +
                          std::string(kDeclarations) + child +
                          entry("k", touch + kOnlyThread0 + launch("child", 1, 64)),
                      "k", {1}, {64}, Arguments{}(other.address()));
  const auto races = other.found(FindingKind::race);
  ASSERT_FALSE(races.empty());
  EXPECT_EQ(races[0].kernel, "child");
  EXPECT_NE(races[0].other.find("of block (0,0,0) of kernel k"), std::string::npos)
      << races[0].other;
}

TEST_F(ChildLaunches, RaceWithTheirParentAfterTheLaunch) {
  const std::string child = entry("child", "st.global.u32 [%rd1], 7;");
  run(child + entry("k", launch("child", 1, 1) + "ld.global.u32 %r4, [%rd1];"));
  EXPECT_EQ(gpu.found(FindingKind::race).size(), 1u);
}

TEST_F(ChildLaunches, AreOrderedInTheStreamOfABlock) {
  const std::string first = entry("first", "st.global.u32 [%rd1], 7;");
  const std::string second =
      entry("second", "ld.global.u32 %r4, [%rd1];\nst.global.u32 [%rd1+4], %r4;");
  run(first + second + entry("k", launch("first", 1, 1) + launch("second", 1, 1)));
  EXPECT_EQ(gpu.word(1), 7u);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(ChildLaunches, OfTwoStreamsRaceUnlessAnEventOrdersThem) {
  const std::string kernels =
      entry("first", "st.global.u32 [%rd1], 7;") +
      entry("second", "ld.global.u32 %r4, [%rd1];\nst.global.u32 [%rd1+4], %r4;");
  const std::string streams = create("Stream", 4, 1) + create("Stream", 5, 1);
  run(kernels +
      entry("k", streams + launch("first", 1, 1, "%rd4") + launch("second", 1, 1, "%rd5")));
  EXPECT_EQ(gpu.found(FindingKind::race).size(), 1u);

  const std::string order = create("Event", 6, 2) + R"(
    {
    .param .b64 p0;
    st.param.b64 [p0+0], %rd6;
    .param .b64 p1;
    st.param.b64 [p1+0], %rd4;
    .param .b32 q;
    call.uni (q), __cudaCDP2EventRecord, (p0, p1);
    }
    {
    .param .b64 p0;
    st.param.b64 [p0+0], %rd5;
    .param .b64 p1;
    st.param.b64 [p1+0], %rd6;
    .param .b32 p2;
    st.param.b32 [p2+0], 0;
    .param .b32 q;
    call.uni (q), __cudaCDP2StreamWaitEvent, (p0, p1, p2);
    }
  )";
  SmallGpu other;
  other.settings.check_race = true;
  other.launch_kernel(
      ".version 8.0\n.target sm_80\n.address_size 64\n" + std::string(kDeclarations) + kernels +
          entry("k",
                streams + launch("first", 1, 1, "%rd4") + order + launch("second", 1, 1, "%rd5")),
      "k", {1}, {1}, Arguments{}(other.address()));
  EXPECT_EQ(other.word(1), 7u);
  EXPECT_TRUE(other.findings.all().empty());
}

TEST_F(ChildLaunches, OfTheTailStreamFollowTheGridAndItsChildren) {
  const std::string kernels = entry("child", "st.global.u32 [%rd1], 7;") +
                              entry("tail",
                                    "ld.global.u32 %r4, [%rd1];\nld.global.u32 %r5, [%rd1+4];\n"
                                    "add.u32 %r4, %r4, %r5;\nst.global.u32 [%rd1+8], %r4;");
  run(kernels + entry("k", launch("tail", 1, 1, "3") + launch("child", 1, 1, "4") +
                               "st.global.u32 [%rd1+4], 100;"));
  EXPECT_EQ(gpu.word(2), 107u);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(ChildLaunches, NestAtMost24Levels) {
  // Word 0 counts the levels; the launch at the deepest one is refused.
  run(entry("k", "ld.global.u32 %r4, [%rd1];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%rd1], %r4;\n" +
                     launch("k", 1, 1) +
                     "@!%p3 ret;\n"
                     "{\n.param .b32 q;\ncall.uni (q), __cudaCDP2GetLastError, ();\n"
                     "ld.param.b32 %r5, [q+0];\n}\nst.global.u32 [%rd1+4], %r5;"));
  EXPECT_EQ(gpu.word(0), 25u);
  EXPECT_EQ(gpu.word(1), 65u);  // cudaErrorLaunchMaxDepthExceeded
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(ChildLaunches, ByManyBlocksRunOnAnyNumberOfThreads) {
  gpu.settings.threads = 5;
  const std::string child =
      entry("child", "add.s64 %rd2, %rd1, 40;\nred.global.add.u32 [%rd2], 1;");
  run(child + entry("k", launch("child", 3, 32)), {20}, {8});
  EXPECT_EQ(gpu.word(10), 20u * 8 * 3 * 32);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(ChildLaunches, EndWithTheNameOfAnUnknownFunction) {
  try {
    run(entry("k", "{\n.param .b32 q;\ncall.uni (q), __cudaCDP2Mystery, ();\n}"));
    FAIL() << "expected KernelAborted";
  } catch (const KernelAborted& error) {
    EXPECT_EQ(error.kind, FindingKind::unknown_function);
    EXPECT_NE(std::string(error.what()).find("__cudaCDP2Mystery"), std::string::npos);
  }
}

}  // namespace
}  // namespace halfgrad::emulator
