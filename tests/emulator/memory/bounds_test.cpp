#include <gtest/gtest.h>

#include <string>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

/// The one finding of a kernel that aborts.
Finding abort_of(SmallGpu& gpu, const std::string& body, unsigned threads = 32) {
  EXPECT_THROW(gpu.launch(kernel(body), {}, {threads}), KernelAborted) << body;
  const std::vector<Finding> all = gpu.findings.all();
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? Finding{} : all[0];
}

void expect_abort(const std::string& body, FindingKind kind, const std::string& part,
                  const std::string& thread = "(0,0,0)") {
  SmallGpu gpu;
  const Finding finding = abort_of(gpu, body);
  EXPECT_EQ(finding.kind, kind) << body;
  EXPECT_NE(finding.message.find(part), std::string::npos) << finding.message;
  EXPECT_EQ(finding.thread, thread) << body;
}

constexpr const char* kOwnAddress = "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n";
constexpr const char* kTile = ".shared .align 16 .b8 tile[128];\nmov.u32 %r4, tile;\n";

TEST(Bounds, GlobalAccessesNameTheAllocation) {
  expect_abort(std::string(kOwnAddress) + "ld.global.u32 %r2, [%rd2+4088];\nret;",
               FindingKind::out_of_bounds,
               "right after the end of an allocation of 4096 bytes made by the test", "(2,0,0)");
  expect_abort(std::string(kOwnAddress) + "st.global.u32 [%rd2+-4], %r1;\nret;",
               FindingKind::out_of_bounds, "store of 4 bytes at global address 0x");
  expect_abort("mov.u64 %rd2, 0;\nld.global.u32 %r2, [%rd2];\nret;", FindingKind::out_of_bounds,
               "global address 0x0, where no allocation is near");
  expect_abort(std::string(kOwnAddress) + "atom.global.add.u32 %r2, [%rd2+4096], 1;\nret;",
               FindingKind::out_of_bounds, "atomic of 4 bytes");
}

TEST(Bounds, AddressesOfOtherMemoriesAreNamed) {
  const int on_stack = 0;
  const auto address = std::to_string(reinterpret_cast<std::uintptr_t>(&on_stack));
  const std::string store = "st.global.u32 [%rd2], %r1;\nret;";
  expect_abort("mov.u64 %rd2, " + address + ";\n" + store, FindingKind::out_of_bounds,
               "memory of the host, which a kernel cannot access");
  expect_abort("mov.u64 %rd2, " + std::to_string(kLocalWindow) + ";\n" + store,
               FindingKind::out_of_bounds, "local memory of another thread");
  expect_abort("mov.u64 %rd2, " + std::to_string(kSharedWindow) + ";\n" + store,
               FindingKind::out_of_bounds, "shared memory of another block");
}

TEST(Bounds, InstructionsOfSeveralLinesAreNamedOnOne) {
  SmallGpu gpu;
  const Finding finding = abort_of(gpu, "ld.global.u32\n\t%r2,\n[%rd1+2];\nret;");
  EXPECT_EQ(finding.instruction, "ld.global.u32 %r2, [%rd1+2];");
}

TEST(Bounds, WideAccessesMayNotCrossTheEnd) {
  SmallGpu gpu(1025);  // 4100 bytes
  const Finding finding = abort_of(gpu, "ld.global.v2.u32 {%r2, %r3}, [%rd1+4096];\nret;", 1);
  EXPECT_EQ(finding.kind, FindingKind::out_of_bounds);
  EXPECT_NE(finding.message.find("at byte 4096 of an allocation of 4100 bytes"), std::string::npos)
      << finding.message;
}

TEST(Bounds, GlobalAccessesMustBeAligned) {
  expect_abort("ld.global.u32 %r2, [%rd1+2];\nret;", FindingKind::misaligned,
               "which must be a multiple of 4");
  expect_abort("ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+8];\nret;", FindingKind::misaligned,
               "which must be a multiple of 16");
}

TEST(Bounds, UseAfterFreeIsNamed) {
  SmallGpu gpu;
  const Allocation* freed = gpu.memory.allocate(MemoryKind::device, 0, 64, 256, "cudaMalloc");
  const std::uint64_t address = freed->begin;
  gpu.memory.free(address);
  const Finding finding = abort_of(
      gpu, "mov.u64 %rd2, " + std::to_string(address) + ";\nld.global.u32 %r2, [%rd2];\nret;");
  EXPECT_EQ(finding.kind, FindingKind::use_after_free);
  EXPECT_NE(finding.message.find("an allocation of 64 bytes made by cudaMalloc, which was freed"),
            std::string::npos)
      << finding.message;
}

TEST(Bounds, SharedMemoryHasWhatTheBlockHas) {
  expect_abort(std::string(kTile) +
                   "mul.lo.u32 %r5, %r1, 8;\nadd.u32 %r5, %r5, %r4;\n"
                   "st.shared.u32 [%r5], %r1;\nret;",
               FindingKind::out_of_bounds,
               "store of 4 bytes at byte 128 of shared memory, of which the block has 128 bytes",
               "(16,0,0)");
  expect_abort(std::string(kTile) + "ld.shared.u32 %r5, [%r4+-4];\nret;",
               FindingKind::out_of_bounds, "byte 4294967292 of shared memory");
  expect_abort(std::string(kTile) + "ld.shared.u64 %rd5, [%r4+4];\nret;", FindingKind::misaligned,
               "byte 4 of shared memory, which must be a multiple of 8");
}

TEST(Bounds, ReservedSharedMemoryLiesApartFromTheBlocksOwn) {
  const std::string reserved = std::string(kTile) + "mov.u32 %r5, %reserved_smem_offset_1;\n";
  SmallGpu gpu;
  gpu.launch(kernel(reserved + "st.shared.u32 [%r4], 7;\nst.shared.u32 [%r5], 8;\n"
                               "ld.shared.u32 %r6, [%r4];\nld.shared.u32 %r7, [%r5+4];\n"
                               "st.global.u32 [%rd1], %r6;\nst.global.u32 [%rd1+4], %r7;\nret;"),
             {}, {1});
  EXPECT_EQ(gpu.word(0), 7u);
  EXPECT_EQ(gpu.word(1), 0u);  // reserved memory begins with zeros
  EXPECT_TRUE(gpu.findings.all().empty());
  expect_abort(reserved + "st.shared.u32 [%r4+128], %r5;\nret;", FindingKind::out_of_bounds,
               "byte 128 of shared memory, of which the block has 128 bytes");
}

TEST(Bounds, LocalMemoryHasWhatTheFunctionDeclares) {
  expect_abort(".local .align 8 .b8 own[16];\nst.local.u32 [own+16], %r1;\nret;",
               FindingKind::out_of_bounds, "local memory, of which the thread has 16 bytes");
  expect_abort(
      ".local .align 8 .b8 own[16];\nmov.u64 %rd2, own;\ncvta.local.u64 %rd2, %rd2;\n"
      "st.u32 [%rd2+2], %r1;\nret;",
      FindingKind::misaligned, "byte 2 of local memory");
}

TEST(Bounds, ParametersOfAKernelAreConstant) {
  expect_abort("ld.param.u64 %rd2, [k_param_0+8];\nret;", FindingKind::out_of_bounds,
               "byte 8 of parameter memory");
}

TEST(Bounds, GenericAddressesNeedAStateSpace) {
  expect_abort("mov.u64 %rd2, 0xF000000000000000;\nld.u32 %r2, [%rd2];\nret;",
               FindingKind::out_of_bounds, "which is in no state space");
}

// ---- Counters

InstructionCounters counted(const std::string& body, const std::string& text) {
  SmallGpu gpu;
  const LaunchCounters counters = gpu.launch(kernel(body), {}, {32});
  return counters_of(gpu, counters, text);
}

TEST(MemoryCounters, CountSectorsAndBytes) {
  const auto row =
      counted(std::string(kOwnAddress) + "ld.global.u32 %r2, [%rd2];\nret;", "ld.global");
  EXPECT_EQ(row.sectors, 4u);
  EXPECT_EQ(row.sectors_needed, 4u);
  EXPECT_EQ(row.bytes_loaded, 128u);
  EXPECT_EQ(row.bytes_stored, 0u);
  const auto column = counted(
      "mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2], %r1;\nret;",
      "st.global");
  EXPECT_EQ(column.sectors, 32u);
  EXPECT_EQ(column.sectors_needed, 4u);
  EXPECT_EQ(column.bytes_stored, 128u);
  const auto one = counted("red.global.add.u32 [%rd1], 1;\nret;", "red.global");
  EXPECT_EQ(one.sectors, 1u);
  EXPECT_EQ(one.bytes_loaded, 4u);
  EXPECT_EQ(one.bytes_stored, 4u);
}

TEST(MemoryCounters, CountBankConflicts) {
  const std::string tile = ".shared .align 16 .b8 tile[8192];\nmov.u32 %r4, tile;\n";
  const auto conflicts = [&](unsigned stride) {
    return counted(tile + "mul.lo.u32 %r5, %r1, " + std::to_string(stride) +
                       ";\nadd.u32 %r5, %r5, %r4;\nst.shared.u32 [%r5], %r1;\nret;",
                   "st.shared")
        .bank_conflicts;
  };
  EXPECT_EQ(conflicts(4), 0u);
  EXPECT_EQ(conflicts(8), 1u);
  EXPECT_EQ(conflicts(128), 31u);
  EXPECT_EQ(conflicts(132), 0u);
}

}  // namespace
}  // namespace halfgrad::emulator
