#include <algorithm>

#include <gtest/gtest.h>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

/// Adds 32 bytes of shared memory, whose words are 100 + i, to those of the buffer.
std::string body(const std::string& operation) {
  return R"(
    .shared .align 16 .b32 mine[8];
    mov.u32 %r2, mine;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    add.u32 %r5, %r1, 100;
    st.shared.u32 [%r4], %r5;
    bar.sync 0;
    fence.proxy.async.shared::cta;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 ret;
    mov.u32 %r6, 32;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.)" +
         operation + R"( [%rd1], [%r2], %r6;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;
  )";
}

TEST(BulkReduction, AddsFromEveryBlock) {
  SmallGpu gpu;
  gpu.settings.check_race = gpu.settings.check_init = true;
  for (unsigned i = 0; i < 8; ++i) gpu.word(i) = i;
  gpu.launch(kernel(body("add.u32")), {10}, {8});
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(gpu.word(i), i + 10 * (100 + i));
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST(BulkReduction, TakesMinimaAndBits) {
  SmallGpu gpu;
  for (unsigned i = 0; i < 8; ++i) gpu.word(i) = i % 2 == 0 ? 0xfffffff0u : 5;
  gpu.launch(kernel(body("min.s32")), {1}, {8});
  EXPECT_EQ(gpu.word(0), 0xfffffff0u);
  EXPECT_EQ(gpu.word(1), 5u);
  gpu.launch(kernel(body("or.b32")), {1}, {8});
  EXPECT_EQ(gpu.word(1), 5u | 101u);
}

TEST(BulkReduction, AddsFloats) {
  SmallGpu gpu;
  const std::string floats = R"(
    .shared .align 16 .f32 mine[8];
    mov.u32 %r2, mine;
    st.shared.u32 [%r2], 0x3f800000;
    st.shared.u32 [%r2+4], 0x40000000;
    st.shared.u32 [%r2+8], 0;
    st.shared.u32 [%r2+12], 0x3c003c00;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r2], 16;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd1+16], [%r2], 16;
    ret;
  )";
  gpu.word(1) = 0x3f000000;
  gpu.word(7) = 0x40003c00;
  gpu.launch(kernel(floats), {1}, {1});
  EXPECT_EQ(gpu.word(0), 0x3f800000u);
  EXPECT_EQ(gpu.word(1), 0x40200000u);
  EXPECT_EQ(gpu.word(7), 0x42004000u);
}

TEST(BulkReduction, IsCheckedOnBothPagesThatItTouches) {
  // Block 0 stores 128 bytes around a multiple of 4096, block 1 a word of their second half.
  SmallGpu gpu{4096};
  gpu.settings.check_race = true;
  const auto offset = static_cast<unsigned>(8192 - gpu.address() % 4096 - 64);
  const std::string stores = R"(
    .shared .align 128 .b8 mine[128];
    mov.u32 %r2, mine;
    add.s64 %rd2, %rd1, )" + std::to_string(offset) +
                             R"(;
    mov.u32 %r3, %ctaid.x;
    setp.eq.u32 %p1, %r3, 0;
    @!%p1 st.global.u32 [%rd2+100], 7;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 128;
    ret;
  )";
  gpu.launch(kernel(stores), {2}, {1});
  // The later one of the two is at fault: the copy meets a store, or the store a copy under way.
  const auto all = gpu.findings.all();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const Finding& one) { return one.severity == Severity::error; }),
            1);
}

}  // namespace
}  // namespace halfgrad::emulator
