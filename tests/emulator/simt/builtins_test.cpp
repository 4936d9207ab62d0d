#include <gtest/gtest.h>

#include <bit>
#include <deque>

#include <halfgrad/emulator/simt/printf_format.h>

#include "small_gpu.h"

namespace halfgrad::emulator {
namespace {

/// Arguments from a list; strings are numbered.
class ListedArguments : public PrintfArguments {
 public:
  ListedArguments(std::deque<std::uint64_t> values, std::vector<std::string> strings = {})
      : values_(std::move(values)), strings_(std::move(strings)) {}

  std::uint64_t next(unsigned bytes) override {
    sizes += std::to_string(bytes);
    const std::uint64_t value = values_.front();
    values_.pop_front();
    return value;
  }
  std::string string(std::uint64_t address) override { return strings_.at(address); }

  std::string sizes;  ///< bytes of each requested argument, one digit each

 private:
  std::deque<std::uint64_t> values_;
  std::vector<std::string> strings_;
};

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST(PrintfFormat, PrintsWhatTheHostPrints) {
  ListedArguments arguments({static_cast<std::uint32_t>(-5), 7, 0xffffffffffffffffu, 0x1234,
                             bits(3.14159), bits(-1e30), 'x', 0, 0xabc},
                            {"text"});
  const PrintfResult result = format_printf("%d|%5u|%lld|%-8llx|%8.3f|%g|%c|%s|%p|%%|", arguments);
  EXPECT_EQ(result.text, "-5|    7|-1|1234    |   3.142|-1e+30|x|text|0xabc|%|");
  EXPECT_EQ(result.arguments, 9);
  EXPECT_EQ(arguments.sizes, "448888488");
}

TEST(PrintfFormat, TakesWidthsFromArguments) {
  ListedArguments arguments({6, 2, bits(2.5), 0xff80, 0xff80});
  EXPECT_EQ(format_printf("[%*.*f] %hd %hhu", arguments).text, "[  2.50] -128 128");
}

TEST(PrintfFormat, KeepsWhatIsNoConversion) {
  ListedArguments arguments({});
  const PrintfResult result = format_printf("100%! 5%", arguments);
  EXPECT_EQ(result.text, "100%! 5%");
  EXPECT_EQ(result.arguments, 0);
}

const char* const kExternals = R"(
.extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.extern .func (.param .b64 func_retval0) malloc(.param .b64 malloc_param_0);
.extern .func free(.param .b64 free_param_0);
.extern .func mystery(.param .b64 param_0);
.global .align 1 .b8 format[16] = {98, 61, 37, 100, 32, 118, 61, 37, 103, 10};
.global .align 1 .b8 message[6] = {120, 32, 62, 32, 48};
.global .align 1 .b8 file[5] = {97, 46, 99, 117};
.global .align 1 .b8 function[4] = {102, 40, 41};
)";

TEST(Builtins, PrintfPrintsInTheOrderOfBlocks) {
  // printf("b=%d v=%g\n", blockIdx.x, 0.5)
  const std::string text = kernel(R"(
    .local .align 8 .b8 depot[16];
    mov.u32 %r3, %ctaid.x;
    mov.u64 %rd2, depot;
    cvta.local.u64 %rd3, %rd2;
    st.local.u32 [%rd2], %r3;
    mov.u64 %rd4, 0x3fe0000000000000;
    st.local.u64 [%rd2+8], %rd4;
    mov.u64 %rd5, format;
    cvta.global.u64 %rd6, %rd5;
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd6;
    .param .b64 param1;
    st.param.b64 [param1], %rd3;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %r4, [retval0];
    }
    st.global.u32 [%rd1], %r4;
    ret;
  )",
                                  kExternals);
  for (const unsigned threads : {1u, 2u, 5u}) {
    SmallGpu gpu;
    gpu.settings.threads = threads;
    testing::internal::CaptureStdout();
    gpu.launch(text, {3}, {1});
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "b=0 v=0.5\nb=1 v=0.5\nb=2 v=0.5\n");
    EXPECT_EQ(gpu.word(0), 2u);
  }
}

TEST(Builtins, AssertPrintsAsCudaDoes) {
  const std::string text = kernel(R"(
    setp.ne.u32 %p1, %r1, 3;
    @%p1 bra END;
    mov.u64 %rd2, message;
    mov.u64 %rd3, file;
    mov.u64 %rd4, function;
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd2;
    .param .b64 param1;
    st.param.b64 [param1], %rd3;
    .param .b32 param2;
    st.param.b32 [param2], 42;
    .param .b64 param3;
    st.param.b64 [param3], %rd4;
    .param .b64 param4;
    st.param.b64 [param4], 1;
    call.uni __assertfail, (param0, param1, param2, param3, param4);
    }
  END:
    ret;
  )",
                                  kExternals);
  SmallGpu gpu;
  testing::internal::CaptureStderr();
  EXPECT_THROW(gpu.launch(text, {1}, {8}), KernelAborted);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a.cu:42: f(): block: [0,0,0], thread: [3,0,0] Assertion `x > 0` failed.\n");
  EXPECT_EQ(gpu.found(FindingKind::assertion).size(), 1u);
}

TEST(Builtins, MallocGivesEachThreadItsOwnMemory) {
  const std::string text = kernel(std::string(R"(
    {
    .param .b64 param0;
    st.param.b64 [param0], 20;
    .param .b64 retval0;
    call.uni (retval0), malloc, (param0);
    ld.param.b64 %rd2, [retval0];
    }
    st.u32 [%rd2+16], %r1;
    bar.sync 0;
    ld.u32 %r2, [%rd2+16];
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd2;
    call.uni free, (param0);
    }
  )") + kStoreResult,
                                  kExternals);
  SmallGpu gpu;
  gpu.launch(text, {1}, {256});
  for (unsigned i = 0; i < 256; ++i) ASSERT_EQ(gpu.word(i), i);
  EXPECT_NE(gpu.heap.allocate(DeviceHeap::kDefaultBytes), 0u) << "not all was freed";
}

/// Calls malloc(20) or free(%rd2).
const char* const kMalloc =
    "{\n.param .b64 param0;\nst.param.b64 [param0], 20;\n.param .b64 retval0;\n"
    "call.uni (retval0), malloc, (param0);\nld.param.b64 %rd2, [retval0];\n}\n";
const char* const kFree =
    "{\n.param .b64 param0;\nst.param.b64 [param0], %rd2;\ncall.uni free, (param0);\n}\n";

TEST(Builtins, APieceOfTheHeapEndsWithItsBytesAndWithFree) {
  SmallGpu gpu;
  const std::string past = std::string(kMalloc) + "st.u32 [%rd2+20], %r1;\nret;";
  EXPECT_THROW(gpu.launch(kernel(past, kExternals), {1}, {1}), KernelAborted);
  const auto outside = gpu.found(FindingKind::out_of_bounds);
  ASSERT_EQ(outside.size(), 1u);
  EXPECT_NE(outside[0].allocation.find("malloc in kernels at PTX line"), std::string::npos);
  const std::string late =
      std::string(kMalloc) + "st.u32 [%rd2], %r1;\n" + kFree + "ld.u32 %r2, [%rd2];\nret;";
  EXPECT_THROW(gpu.launch(kernel(late, kExternals), {1}, {1}), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::use_after_free).size(), 1u);
}

TEST(Builtins, FreeRacesWithAccessesOfOtherThreads) {
  SmallGpu gpu;
  gpu.settings.check_race = true;
  // Thread 32 loads from the piece of thread 0, with and without a barrier before free.
  for (const bool barrier : {true, false}) {
    const std::string text =
        ".shared .align 8 .b64 piece;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra GO;\n" +
        std::string(kMalloc) +
        "st.u32 [%rd2], %r1;\nst.shared.u64 [piece], %rd2;\nGO:\nbar.sync 0;\n"
        "ld.shared.u64 %rd2, [piece];\nld.u32 %r2, [%rd2];\n" +
        (barrier ? "bar.sync 0;\n" : "") + "@%p1 bra END;\n" + kFree + "END:\nret;";
    try {
      gpu.launch(kernel(text, kExternals), {1}, {64});
    } catch (const KernelAborted&) {
      EXPECT_FALSE(barrier);
    }
    EXPECT_EQ(gpu.findings.all().empty(), barrier);
  }
}

TEST(Builtins, TheHeapEnds) {
  Allocations memory;
  DeviceHeap heap(memory, 0, 1024);
  EXPECT_EQ(heap.allocate(1025), 0u);
  const std::uint64_t a = heap.allocate(500), b = heap.allocate(500);
  EXPECT_NE(a, 0u);
  EXPECT_EQ(b % 16, 0u);
  EXPECT_EQ(heap.allocate(100), 0u);
  EXPECT_FALSE(heap.free(a + 16));
  EXPECT_TRUE(heap.free(a));
  EXPECT_FALSE(heap.free(a));
  EXPECT_TRUE(heap.free(b));
  EXPECT_NE(heap.allocate(1024), 0u);
  EXPECT_FALSE(heap.resize(2048));
}

TEST(Builtins, AnUnknownFunctionEndsTheKernelWithItsName) {
  const std::string text = kernel(R"(
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd1;
    call.uni mystery, (param0);
    }
    ret;
  )",
                                  kExternals);
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(text, {1}, {8}), KernelAborted);
  const auto findings = gpu.found(FindingKind::unknown_function);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].message.find("mystery"), std::string::npos);
}

TEST(Builtins, TrapAborts) {
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(kernel("trap;\nret;\n"), {1}, {8}), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::trap).size(), 1u);
}

TEST(Builtins, StepPrintsLanesAndValues) {
  const std::string text = kernel(std::string(R"(
    setp.lt.u32 %p1, %r1, 2;
    mov.u32 %r2, 9;
    @%p1 add.u32 %r2, %r1, 5;
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.settings.step = true;
  testing::internal::CaptureStdout();
  gpu.launch(text, {1}, {4});
  const std::string printed = testing::internal::GetCapturedStdout();
  const std::string rest(28, '.');
  EXPECT_NE(printed.find("block (0,0,0) warp 0  ####" + rest + "  mov.u32 %r2, 9;  = all 9\n"),
            std::string::npos)
      << printed;
  EXPECT_NE(printed.find("##.." + rest + "  @%p1 add.u32 %r2, %r1, 5;  = 5, 6\n"),
            std::string::npos)
      << printed;
  EXPECT_NE(printed.find("setp.lt.u32 %p1, %r1, 2;  = true, true, false, false\n"),
            std::string::npos)
      << printed;

  gpu.settings.step_kernel = "another";
  testing::internal::CaptureStdout();
  gpu.launch(text, {1}, {4});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace halfgrad::emulator
