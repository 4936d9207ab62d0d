#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

/// %rd2 is the address of the thread's element of `bytes` bytes, %rd3 that of its 64-bit result,
/// which begins at word 256.
std::string element(unsigned bytes) {
  return "mul.wide.u32 %rd4, %r1, " + std::to_string(bytes) +
         ";\nadd.s64 %rd2, %rd1, %rd4;\n"
         "mul.wide.u32 %rd4, %r1, 8;\nadd.s64 %rd3, %rd1, %rd4;\nadd.s64 %rd3, %rd3, 1024;\n";
}

std::uint64_t result(SmallGpu& gpu, unsigned thread) {
  return gpu.word(256 + 2 * thread) | std::uint64_t{gpu.word(257 + 2 * thread)} << 32;
}

/// Loads elements of a type into 64-bit registers and gives thread's value, after bytes 0x70, 0x71,
/// ...
std::uint64_t loaded(const std::string& type, unsigned bytes, unsigned thread) {
  SmallGpu gpu;
  auto* data = reinterpret_cast<unsigned char*>(&gpu.word(0));
  for (unsigned i = 0; i < 1024; ++i) data[i] = static_cast<unsigned char>(0x70 + i);
  gpu.launch(kernel(element(bytes) + "ld.global." + type + " %rd5, [%rd2];\n" +
                    "st.global.u64 [%rd3], %rd5;\nret;"),
             {}, {64});
  return result(gpu, thread);
}

TEST(LoadStore, NarrowIntegersAreExtended) {
  EXPECT_EQ(loaded("u8", 1, 20), 0x84u);
  EXPECT_EQ(loaded("s8", 1, 20), 0xffffffffffffff84u);
  EXPECT_EQ(loaded("s8", 1, 3), 0x73u);
  EXPECT_EQ(loaded("b8", 1, 20), 0x84u);
  EXPECT_EQ(loaded("u16", 2, 10), 0x8584u);
  EXPECT_EQ(loaded("s16", 2, 10), 0xffffffffffff8584u);
  EXPECT_EQ(loaded("u32", 4, 40), 0x13121110u);
  EXPECT_EQ(loaded("s32", 4, 5), 0xffffffff87868584u);
  EXPECT_EQ(loaded("b64", 8, 2), 0x8786858483828180u);
}

TEST(LoadStore, CacheOperatorsAndHintsChangeNothing) {
  for (const char* form : {"ca", "cg", "cs", "lu", "nc", "nc.L1::no_allocate", "L1::evict_last",
                           "nc.L1::no_allocate.L2::128B", "nc.L2::256B"}) {
    EXPECT_EQ(loaded(std::string(form) + ".u32", 4, 40), 0x13121110u) << form;
  }
}

TEST(LoadStore, OrderedFormsLoadTheSameValue) {
  for (const char* form : {"ld.volatile.global.u64", "ld.relaxed.gpu.global.u64",
                           "ld.acquire.sys.global.u64", "ld.global.cv.u64", "ldu.global.u64",
                           "ld.weak.global.u64", "ld.mmio.relaxed.sys.global.u64", "ld.u64"}) {
    SmallGpu gpu;
    gpu.word(3) = 77;
    gpu.launch(kernel(element(8) + form +
                      " %rd5, [%rd2];\nst.release.gpu.global.u64 [%rd3], %rd5;\n"
                      "ret;"),
               {}, {32});
    EXPECT_EQ(result(gpu, 1), std::uint64_t{77} << 32) << form;
  }
}

TEST(LoadStore, VectorsKeepTheOrderOfTheirElements) {
  const struct {
    const char* body;
    unsigned bytes;
  } cases[] = {
      {"ld.global.v2.u32 {%r2, %r3}, [%rd2];\nst.global.v2.u32 [%rd2+1024], {%r2, %r3};\n", 8},
      {"ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd2];\n"
       "st.global.v4.b32 [%rd2+1024], {%r2, %r3, %r4, %r5};\n",
       16},
      {"ld.global.v2.b64 {%rd5, %rd6}, [%rd2];\nst.global.v2.u64 [%rd2+1024], {%rd5, %rd6};\n", 16},
      {"ld.global.v4.b64 {%rd5, %rd6, %rd7, %rd8}, [%rd2];\n"
       "st.global.v4.b64 [%rd2+1024], {%rd5, %rd6, %rd7, %rd8};\n",
       32},
      {"ld.global.v8.b32 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd2];\n"
       "st.global.v8.b32 [%rd2+1024], {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9};\n",
       32},
      {"ld.global.v4.u8 {%r2, %r3, %r4, %r5}, [%rd2];\n"
       "st.global.v4.u8 [%rd2+1024], {%r2, %r3, %r4, %r5};\n",
       4},
      {".reg .b128 %q;\nld.global.b128 %q, [%rd2];\nst.global.b128 [%rd2+1024], %q;\n", 16},
  };
  for (const auto& one : cases) {
    SmallGpu gpu;
    for (unsigned i = 0; i < 256; ++i) gpu.word(i) = i * 0x01030507;
    gpu.launch(kernel(element(one.bytes) + one.body + "ret;"), {}, {32});
    EXPECT_EQ(std::memcmp(&gpu.word(0), &gpu.word(256), 32 * one.bytes), 0) << one.body;
    EXPECT_EQ(gpu.word(256 + 8 * one.bytes), 0u) << "wrote too much: " << one.body;
  }
}

TEST(LoadStore, ElementsOfAVectorMayBeLeftOut) {
  SmallGpu gpu;
  for (unsigned i = 0; i < 256; ++i) gpu.word(i) = i;
  gpu.launch(kernel(element(16) + "ld.global.v4.u32 {_, %r3, _, %r5}, [%rd2];\n"
                                  "st.global.v2.u32 [%rd3], {%r3, %r5};\nret;"),
             {}, {32});
  EXPECT_EQ(result(gpu, 7), 29u | std::uint64_t{31} << 32);
}

TEST(LoadStore, StoresCutRegistersAndTakeImmediates) {
  SmallGpu gpu;
  gpu.launch(
      kernel("ld.param.u64 %rd2, [k_param_0];\n"
             "st.global.u8 [%rd2], %rd1;\nst.global.u8 [%rd2+1], 511;\n"
             "st.global.u16 [%rd2+2], 65535;\nst.global.u32 [%rd2+4], -2;\n"
             "st.global.f32 [%rd2+8], 0f3F800000;\nst.global.f64 [%rd2+16], 0d4000000000000000;\n"
             "st.global.v2.u32 [%rd2+24], {1, %r1};\nst.global.b64 [%rd2+32], 5000000000;\nret;"),
      {}, {1});
  EXPECT_EQ(gpu.word(0), (gpu.address() & 0xff) | 0xffffff00u);
  EXPECT_EQ(gpu.word(1), 0xfffffffeu);
  EXPECT_EQ(gpu.word(2), 0x3f800000u);
  EXPECT_EQ(gpu.word(3), 0u);
  EXPECT_EQ(gpu.word(5), 0x40000000u);
  EXPECT_EQ(gpu.word(6), 1u);
  EXPECT_EQ(gpu.word(7), 0u);
  EXPECT_EQ(gpu.word(8), 5000000000u & 0xffffffffu);
  EXPECT_EQ(gpu.word(9), 1u);
}

TEST(LoadStore, InactiveLanesKeepTheirRegisters) {
  SmallGpu gpu;
  for (unsigned i = 0; i < 64; ++i) gpu.word(i) = 100 + i;
  gpu.launch(kernel(element(4) + "mov.u64 %rd5, 1;\nand.b32 %r3, %r1, 1;\n"
                                 "setp.eq.u32 %p1, %r3, 0;\n@%p1 ld.global.u32 %rd5, [%rd2];\n"
                                 "st.global.u64 [%rd3], %rd5;\nret;"),
             {}, {64});
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(result(gpu, i), i % 2 == 0 ? 100 + i : 1) << i;
}

TEST(LoadStore, TheHighestLaneWinsAConflict) {
  SmallGpu gpu;
  gpu.launch(kernel("st.global.u32 [%rd1], %r1;\nret;"), {}, {32});
  EXPECT_EQ(gpu.word(0), 31u);
}

// ---- State spaces

constexpr const char* kShared = ".shared .align 16 .b8 tile[256];\n";

TEST(StateSpaces, SharedAddressesWrapAt32Bits) {
  SmallGpu gpu;
  gpu.launch(kernel(std::string(kShared) +
                    "shl.b32 %r3, %r1, 2;\nmov.u32 %r4, tile;\nadd.u32 %r5, %r4, %r3;\n"
                    "st.shared.u32 [%r5], %r1;\nadd.u32 %r6, %r5, 8;\n"
                    "ld.shared.u32 %r2, [%r6+-8];\n"
                    "sub.u32 %r6, %r5, 200;\n"  // below 0
                    "ld.shared.u32 %r7, [%r6+200];\nadd.u32 %r2, %r2, %r7;\n" +
                    kStoreResult),
             {}, {32});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), 2 * i);
}

TEST(StateSpaces, SharedAddressesIgnoreTheUpperHalfOf64Bits) {
  SmallGpu gpu;
  gpu.launch(kernel(std::string(kShared) +
                    "mov.u64 %rd2, tile;\ncvta.shared.u64 %rd3, %rd2;\nst.shared.u32 [%rd3+8], 5;\n"
                    "ld.shared.u32 %r2, [%rd2+8];\n" +
                    kStoreResult),
             {}, {1});
  EXPECT_EQ(gpu.word(0), 5u);
}

TEST(StateSpaces, OneWarpMayMixThemInGenericAddresses) {
  SmallGpu gpu;
  gpu.word(512) = 1000;
  gpu.launch(kernel(std::string(kShared) +
                    ".local .align 8 .b8 own[16];\n"
                    "mov.u64 %rd2, tile;\ncvta.shared.u64 %rd2, %rd2;\n"
                    "mov.u64 %rd3, own;\ncvta.local.u64 %rd3, %rd3;\n"
                    "mov.u32 %r3, 2000;\nst.u32 [%rd2+4], %r3;\n"
                    "add.u32 %r4, %r1, 3000;\nst.u32 [%rd3+4], %r4;\n"
                    "rem.u32 %r5, %r1, 3;\nadd.s64 %rd4, %rd1, 2044;\n"
                    "setp.eq.u32 %p1, %r5, 1;\nselp.b64 %rd4, %rd2, %rd4, %p1;\n"
                    "setp.eq.u32 %p1, %r5, 2;\nselp.b64 %rd4, %rd3, %rd4, %p1;\n"
                    "ld.u32 %r2, [%rd4+4];\n" +
                    kStoreResult),
             {}, {32});
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(gpu.word(i), i % 3 == 0 ? 1000u : i % 3 == 1 ? 2000u : 3000 + i) << i;
  }
}

TEST(StateSpaces, APointerToLocalMemoryIsOfOneThread) {
  // Lane i uses the pointer that lane i ^ mask made.
  const auto findings_with = [](unsigned mask) {
    SmallGpu gpu;
    gpu.launch(kernel(".local .align 8 .b8 own[16];\nst.local.u32 [own+8], %r1;\n"
                      "mov.u64 %rd2, own;\ncvta.local.u64 %rd2, %rd2;\n"
                      "mov.b64 {%r3, %r4}, %rd2;\n"
                      "shfl.sync.bfly.b32 %r3, %r3, " +
                      std::to_string(mask) +
                      ", 31, 0xffffffff;\n"
                      "shfl.sync.bfly.b32 %r4, %r4, " +
                      std::to_string(mask) +
                      ", 31, 0xffffffff;\n"
                      "mov.b64 %rd3, {%r3, %r4};\nld.u32 %r2, [%rd3+8];\n" +
                      kStoreResult),
               {1}, {32});
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i);  // each has its own memory
    return gpu.found(FindingKind::out_of_bounds);
  };
  EXPECT_TRUE(findings_with(0).empty());
  const auto found = findings_with(1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("local variable of thread (1,0,0) of block (0,0,0)"),
            std::string::npos);
}

TEST(StateSpaces, EachLaneHasItsLocalMemory) {
  SmallGpu gpu;
  gpu.launch(kernel(".local .align 8 .b8 own[16];\nst.local.u32 [own+8], %r1;\n"
                    "mov.u64 %rd2, own;\nld.local.u32 %r2, [%rd2+8];\n" +
                    std::string(kStoreResult)),
             {}, {64});
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(gpu.word(i), i);
}

TEST(StateSpaces, CalledFunctionsHaveParametersAndLocalMemoryOfTheirOwn) {
  const std::string twice =
      ".func (.param .b32 result) twice(.param .b32 x, .param .b64 place)\n{\n"
      ".local .align 8 .b8 own[16];\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
      "ld.param.u32 %r1, [x];\nld.param.u64 %rd1, [place];\nst.local.u32 [own], %r1;\n"
      "ld.u32 %r3, [%rd1];\nld.local.u32 %r2, [own];\nadd.u32 %r2, %r2, %r3;\n"
      "st.param.b32 [result], %r2;\nret;\n}\n";
  SmallGpu gpu;
  gpu.launch(
      kernel(".local .align 8 .b8 mine[16];\nmov.u64 %rd2, mine;\ncvta.local.u64 %rd3, %rd2;\n"
             "add.u32 %r3, %r1, 500;\nst.local.u32 [%rd2], %r3;\n"
             "{\n.param .b32 param0;\nst.param.b32 [param0], %r1;\n"
             ".param .b64 param1;\nst.param.b64 [param1], %rd3;\n"
             ".param .b32 retval0;\ncall.uni (retval0), twice, (param0, param1);\n"
             "ld.param.b32 %r2, [retval0];\n}\n" +
                 std::string(kStoreResult),
             twice),
      {}, {32});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), 2 * i + 500) << i;
}

TEST(StateSpaces, ConstantsAreRead) {
  SmallGpu gpu;
  gpu.launch(kernel("mov.u64 %rd2, table;\nrem.u32 %r3, %r1, 3;\nmul.wide.u32 %rd3, %r3, 4;\n"
                    "add.s64 %rd2, %rd2, %rd3;\nld.const.u32 %r2, [%rd2];\n"
                    "ld.const.u32 %r4, [table+8];\nadd.u32 %r2, %r2, %r4;\n" +
                        std::string(kStoreResult),
                    ".const .align 4 .u32 table[3] = {10, 20, 30};\n"),
             {}, {32});
  EXPECT_EQ(gpu.word(4), 50u);
  EXPECT_EQ(gpu.word(5), 60u);
}

TEST(StateSpaces, ParametersMayBeReadAsVectors) {
  SmallGpu gpu;
  gpu.launch(kernel("ld.param.v2.u32 {%r3, %r4}, [k_param_0];\n"
                    "st.global.v2.u32 [%rd1], {%r3, %r4};\nret;"),
             {}, {1});
  EXPECT_EQ(gpu.word(0) | std::uint64_t{gpu.word(1)} << 32, gpu.address());
}

}  // namespace
}  // namespace halfgrad::emulator
