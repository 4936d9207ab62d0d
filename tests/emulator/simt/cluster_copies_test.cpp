#include <gtest/gtest.h>

#include <cstring>

#include <halfgrad/emulator/memory/tensor_map.h>

#include "clusters.h"

namespace halfgrad::emulator {
namespace {

using ClusterCopies = Clusters;

TEST_F(ClusterCopies, ArriveAtAnMbarrierOfAnotherBlock) {
  // Thread 0 of each block arrives at block 0's mbarrier; block 0 waits for 4 arrivals and then
  // reads what the others stored in their own memory.
  const std::string body = std::string(".shared .align 8 .b64 bar;\n") + kOwnWord + R"(
    mov.u32 %r8, bar;
    mov.u32 %r9, 0;
    mapa.shared::cluster.u32 %r12, %r8, %r9;
    setp.ne.u32 %p2, %r5, 0;
    @!%p2 mbarrier.init.shared.b64 [%r8], 4;
  )" + kSync + R"(
    mov.u32 %r13, mine;
    st.shared.u32 [%r13], %r4;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12];
    @%p2 bra DONE;
  WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r8], 0;
    @!%p1 bra WAIT;
    mov.u32 %r9, 3;
    mapa.shared::cluster.u32 %r12, %r13, %r9;
    ld.shared::cluster.u32 %r14, [%r12];
    st.global.u32 [%rd3], %r14;
  DONE:
  )" + kSync;
  run(body, {4}, {1});
  EXPECT_EQ(gpu.word(0), 3u);
  EXPECT_TRUE(gpu.findings.all().empty());
}

/// Block 0 waits for 3 x 8 bytes that the others send to it; `send` uses the address of their place
/// in %r12 and of the mbarrier in %r13.
std::string sent_to_block_0(const std::string& send) {
  return std::string(".shared .align 8 .b64 bar;\n") + kOwnWord + R"(
    mov.u32 %r8, bar;
    mov.u32 %r10, mine;
    mov.u32 %r9, 0;
    mapa.shared::cluster.u32 %r13, %r8, %r9;
    shl.b32 %r11, %r5, 3;
    add.u32 %r11, %r11, %r10;
    mapa.shared::cluster.u32 %r12, %r11, %r9;
    mapa.shared::cluster.u32 %r17, %r10, %r9;
    setp.ne.u32 %p2, %r5, 0;
    @%p2 bra READY;
    st.shared.u64 [%r10], 1000;
    mbarrier.init.shared.b64 [%r8], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r8], 24;
  READY:
  )" + kSync +
         R"(
    @!%p2 bra WAIT;
    add.u32 %r14, %r5, 40;
    add.u32 %r15, %r5, 50;
    cvt.u64.u32 %rd5, %r5;
  )" + send +
         R"(
    bra DONE;
  WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r8], 0;
    @!%p1 bra WAIT;
    ld.shared.v2.u32 {%r14, %r15}, [%r10];
    st.global.v2.u32 [%rd1], {%r14, %r15};
    ld.shared.v2.u32 {%r14, %r15}, [%r10+24];
    st.global.v2.u32 [%rd1+8], {%r14, %r15};
  DONE:
  )" + kSync;
}

TEST_F(ClusterCopies, StoreAsynchronously) {
  run(sent_to_block_0("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r12], "
                      "{%r14, %r15}, [%r13];"),
      {4}, {1});
  EXPECT_EQ(gpu.word(2), 43u);
  EXPECT_EQ(gpu.word(3), 53u);
  EXPECT_TRUE(gpu.findings.all().empty()) << to_string(gpu.findings.all().front());
}

TEST_F(ClusterCopies, ReduceAsynchronously) {
  gpu.settings.check_init = false;
  run(sent_to_block_0(
          "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64"
          " [%r17], %rd5, [%r13];"),
      {4}, {1});
  EXPECT_EQ(gpu.word(0), 1006u);
  EXPECT_TRUE(gpu.findings.all().empty()) << to_string(gpu.findings.all().front());
}

TEST_F(ClusterCopies, CopyInBulkToSeveralBlocks) {
  const std::string body =
      std::string(".shared .align 8 .b64 bar;\n.shared .align 16 .b32 got[8];\n") + kOwnWord + R"(
    mov.u32 %r8, bar;
    mov.u32 %r9, got;
    mbarrier.init.shared.b64 [%r8], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r8], 32;
  )" + kSync +
      R"(
    setp.ne.u32 %p2, %r5, 1;
    @%p2 bra WAIT;
    mov.u16 %h1, 15;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r9], [%rd1], 32, [%r8], %h1;
  WAIT:
    mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r8], 0;
    @!%p1 bra WAIT;
    ld.shared.u32 %r14, [%r9+28];
    st.global.u32 [%rd3+64], %r14;
  )" + kSync;
  gpu.word(7) = 1234;
  run(".reg .b16 %h<2>;\n" + body, {4}, {1});
  for (unsigned block = 0; block < 4; ++block) EXPECT_EQ(gpu.word(16 + block), 1234u) << block;
  EXPECT_TRUE(gpu.findings.all().empty()) << to_string(gpu.findings.all().front());
}

TEST_F(ClusterCopies, CopyATensorToSeveralBlocks) {
  // Block 1 copies a box to blocks 0, 1 and 3; block 2 expects nothing. The map is in the buffer.
  const std::string body =
      std::string(".shared .align 8 .b64 bar;\n.shared .align 128 .b32 got[8];\n") + kOwnWord + R"(
    mov.u32 %r8, bar;
    mov.u32 %r9, got;
    mbarrier.init.shared.b64 [%r8], 1;
    fence.mbarrier_init.release.cluster;
    setp.eq.u32 %p3, %r5, 2;
    selp.u32 %r10, 0, 32, %p3;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r8], %r10;
  )" + kSync +
      R"(
    setp.ne.u32 %p2, %r5, 1;
    @%p2 bra WAIT;
    mov.u16 %h1, 11;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r9], [%rd1+2048, {4, 1}], [%r8], %h1;
  WAIT:
    mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r8], 0;
    @!%p1 bra WAIT;
    @%p3 bra DONE;
    ld.shared.u32 %r14, [%r9+12];
    st.global.u32 [%rd3+64], %r14;
  DONE:
  )" + kSync;
  for (unsigned i = 0; i < 16; ++i) gpu.word(i) = i;
  const std::uint64_t dims[] = {8, 2}, strides[] = {32};
  const std::uint32_t box[] = {4, 2}, steps[] = {1, 1};
  const TensorMap map = encode_tensor_map({.type = 2,
                                           .rank = 2,
                                           .address = gpu.address(),
                                           .dims = dims,
                                           .strides = strides,
                                           .box = box,
                                           .steps = steps});
  std::memcpy(&gpu.word(512), &map, sizeof map);
  gpu.word(18) = 7;
  run(".reg .b16 %h<2>;\n" + body, {4}, {1});
  for (const unsigned block : {0u, 1u, 3u}) EXPECT_EQ(gpu.word(16 + block), 15u) << block;
  EXPECT_EQ(gpu.word(18), 7u);
  EXPECT_TRUE(gpu.findings.all().empty()) << to_string(gpu.findings.all().front());
}

}  // namespace
}  // namespace halfgrad::emulator
