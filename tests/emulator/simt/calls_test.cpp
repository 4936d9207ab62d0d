#include <gtest/gtest.h>

#include "small_gpu.h"

namespace halfgrad::emulator {
namespace {

/// `%r2 = function(%r3)`.
std::string call(const std::string& function) {
  return R"({
    .param .b32 param0;
    st.param.b32 [param0], %r3;
    .param .b32 retval0;
    call.uni (retval0), )" +
         function + R"(, (param0);
    ld.param.b32 %r2, [retval0];
  })";
}

const char* const kFactorial = R"(
.func (.param .b32 result) factorial(.param .b32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 1;
  setp.lt.u32 %p1, %r1, 2;
  @%p1 bra END;
  sub.u32 %r3, %r1, 1;
  {
    .param .b32 param0;
    st.param.b32 [param0], %r3;
    .param .b32 retval0;
    call.uni (retval0), factorial, (param0);
    ld.param.b32 %r4, [retval0];
  }
  mul.lo.u32 %r2, %r4, %r1;
END:
  st.param.b32 [result], %r2;
  ret;
}
)";

TEST(Calls, RecursionReturnsEachLaneItsValue) {
  SmallGpu gpu;
  gpu.launch(kernel("and.b32 %r3, %r1, 7;\n" + call("factorial") + kStoreResult, kFactorial), {1},
             {64});
  const unsigned expected[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(gpu.word(i), expected[i % 8]);
}

TEST(Calls, EndlessRecursionOverflowsTheStack) {
  const std::string endless = R"(
.func endless()
{
  call.uni endless, ();
  ret;
}
)";
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(kernel("call.uni endless, ();\nret;\n", endless), {1}, {32}),
               KernelAborted);
  const auto findings = gpu.found(FindingKind::out_of_bounds);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].message.find("stack overflow"), std::string::npos);
}

const char* const kTwoFunctions = R"(
.func (.param .b32 result) plus_one(.param .b32 n)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [n];
  add.u32 %r2, %r1, 1;
  st.param.b32 [result], %r2;
  ret;
}
.func (.param .b32 result) times_ten(.param .b32 n)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [n];
  mul.lo.u32 %r2, %r1, 10;
  st.param.b32 [result], %r2;
  ret;
}
)";

TEST(Calls, LanesCallDifferentFunctionsByAddress) {
  SmallGpu gpu;
  const std::string body = R"(
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %p1, %r4, 0;
    mov.u64 %rd2, plus_one;
    mov.u64 %rd3, times_ten;
    selp.b64 %rd4, %rd2, %rd3, %p1;
    mov.u32 %r3, %r1;
    {
    .param .b32 param0;
    st.param.b32 [param0], %r3;
    .param .b32 retval0;
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (retval0), %rd4, (param0), prototype_0;
    ld.param.b32 %r2, [retval0];
    }
  )";
  gpu.launch(kernel(body + kStoreResult, kTwoFunctions), {1}, {32});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i % 2 == 0 ? i + 1 : i * 10);
}

TEST(Calls, AnAddressThatIsNoFunctionAborts) {
  SmallGpu gpu;
  const std::string body = R"(
    mov.u64 %rd4, 12345;
    {
    prototype_0 : .callprototype _ ();
    call %rd4, (), prototype_0;
    }
    ret;
  )";
  EXPECT_THROW(gpu.launch(kernel(body, kTwoFunctions), {1}, {32}), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::trap).size(), 1u);
}

TEST(Calls, LanesFromTwoPlacesMeetAtAShuffleInAFunction) {
  const std::string swap = R"(
.func (.param .b32 result) swap(.param .b32 n)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [n];
  shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;
  st.param.b32 [result], %r2;
  ret;
}
)";
  SmallGpu gpu;
  const std::string body = "mov.u32 %r3, %r1;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 bra OTHERS;\n" +
                           call("swap") + "bra END;\nOTHERS:\n" + call("swap") +
                           "add.u32 %r2, %r2, 100;\nEND:\n" + kStoreResult;
  gpu.launch(kernel(body, swap), {1}, {32});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i < 16 ? i + 16 : i + 84);
}

TEST(Calls, LocalMemoryOfAFrameIsItsOwn) {
  // Each frame stores its argument, calls itself, and adds what it stored.
  const std::string sum = R"(
.func (.param .b32 result) sum(.param .b32 n)
{
  .local .align 8 .b8 depot[8];
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  ld.param.u32 %r1, [n];
  st.local.u32 [depot+4], %r1;
  mov.u32 %r4, 0;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra END;
  sub.u32 %r3, %r1, 1;
  {
    .param .b32 param0;
    st.param.b32 [param0], %r3;
    .param .b32 retval0;
    call.uni (retval0), sum, (param0);
    ld.param.b32 %r4, [retval0];
  }
END:
  ld.local.u32 %r5, [depot+4];
  add.u32 %r4, %r4, %r5;
  st.param.b32 [result], %r4;
  ret;
}
)";
  SmallGpu gpu;
  gpu.launch(kernel("mov.u32 %r3, %r1;\n" + call("sum") + kStoreResult, sum), {1}, {32});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i * (i + 1) / 2);
}

}  // namespace
}  // namespace halfgrad::emulator
