#include <string>

#include "tensor_maps.h"

namespace halfgrad::emulator {
namespace {

using TensorLoad = TensorCopies;

std::string load(const std::string& rank, const std::string& coordinates) {
  return "cp.async.bulk.tensor." + rank +
         ".shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {" + coordinates +
         "}], [%r3];";
}

TEST_F(TensorLoad, CopiesABoxRowByRow) {
  gpu.settings.check_race = gpu.settings.check_init = true;
  const TensorShape shape{.dims = {32, 16}, .box = {8, 4}};
  run(shape.at(gpu.address()), load_and_show(load("2d", "12, 5"), 128));
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(output(i), (5 + i / 8) * 32 + 12 + i % 8) << i;
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(TensorLoad, KnowsEverySpelling) {
  const TensorShape shape{.dims = {32, 16}, .box = {8, 4}};
  for (const char* form :
       {"cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r2], "
        "[%rd2, {%r8, %r9}], [%r3];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], "
        "[%rd2, {%r8, %r9}], [%r3];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::"
        "cache_hint [%r2], [%rd2, {%r8, %r9}], [%r3], %rd5;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
        "cluster [%r2], [%rd2, {%r8, %r9}], [%r3], %h1;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
        "cluster.L2::cache_hint [%r2], [%rd2, {%r8, %r9}], [%r3], %h1, %rd5;"}) {
    gpu.word(kOutput + 9) = 0;
    run(shape.at(gpu.address()),
        "mov.u32 %r8, 3;\nmov.u32 %r9, 2;\nmov.u64 %rd5, 0;\n"
        "mov.u16 %h1, 1;\n" +
            load_and_show(form, 128));
    EXPECT_EQ(output(9), 3 * 32 + 4u) << form;
  }
}

TEST_F(TensorLoad, FillsWithZerosOutsideOfTheTensor) {
  const TensorShape shape{.dims = {32, 16}, .box = {8, 4}};
  run(shape.at(gpu.address()), load_and_show(load("2d", "-3, 14"), 128));
  for (unsigned i = 0; i < 32; ++i) {
    const bool inside = i % 8 >= 3 && i / 8 < 2;
    EXPECT_EQ(output(i), inside ? (14 + i / 8) * 32 + i % 8 - 3 : 0) << i;
  }
  run(shape.at(gpu.address()), load_and_show(load("2d", "29, -2"), 128));
  for (unsigned i = 0; i < 32; ++i) {
    const bool inside = i % 8 < 3 && i / 8 >= 2;
    EXPECT_EQ(output(i), inside ? (i / 8 - 2) * 32 + 29 + i % 8 : 0) << i;
  }
  run(shape.at(gpu.address()), load_and_show(load("2d", "32, 0"), 128));
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(output(i), 0u) << i;
}

TEST_F(TensorLoad, FillsWithNanIfTheMapSaysSo) {
  const TensorShape shape{.dims = {32, 16}, .box = {8, 2}, .type = 7, .fill = 1};
  run(shape.at(gpu.address()), load_and_show(load("2d", "28, 15"), 64));
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(output(i), i < 4 ? 15 * 32 + 28 + i : 0x7fffffffu) << i;
  }
  const TensorShape halves{.dims = {32, 16}, .box = {8, 1}, .type = 6, .fill = 1};
  run(halves.at(gpu.address()), load_and_show(load("2d", "32, 0"), 16));
  EXPECT_EQ(output(0), 0x7fff7fffu);
}

TEST_F(TensorLoad, TakesEachStepOfABox) {
  const TensorShape shape{.dims = {32, 16}, .box = {4, 5}, .steps = {2, 2}};
  run(shape.at(gpu.address()), load_and_show(load("2d", "0, 3"), 48));
  for (unsigned i = 0; i < 12; ++i) EXPECT_EQ(output(i), (3 + i / 4 * 2) * 32 + i % 4) << i;
}

TEST_F(TensorLoad, HasOneToFiveDimensions) {
  run(TensorShape{.dims = {100}, .box = {32}}.at(gpu.address()),
      load_and_show(load("1d", "90"), 128));
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(output(i), i < 10 ? 90 + i : 0) << i;

  const TensorShape three{.dims = {8, 4, 6}, .box = {4, 2, 4}};
  run(three.at(gpu.address()), load_and_show(load("3d", "4, 1, 2"), 128));
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(output(i), (2 + i / 8) * 32 + (1 + i / 4 % 2) * 8 + 4 + i % 4) << i;
  }
  const TensorShape five{.dims = {4, 3, 3, 3, 3}, .box = {4, 1, 2, 2, 2}};
  run(five.at(gpu.address()), load_and_show(load("5d", "0, 2, 1, 0, 1"), 128));
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned y = 1 + i / 4 % 2, z = i / 8 % 2, w = 1 + i / 16;
    EXPECT_EQ(output(i), ((w * 3 + z) * 3 + y) * 12 + 8 + i % 4) << i;
  }
}

TEST_F(TensorLoad, SwizzlesChunksByTheirRow) {
  // A row of 32, 64 or 128 bytes; 128 bytes of shared memory hold 4, 2 or 1 of them.
  for (const unsigned mode : {1u, 2u, 3u}) {
    const unsigned words = 4u << mode, rows = 16, in_line = 32 / words;
    const TensorShape shape{.dims = {32, 64}, .box = {words, rows}, .swizzle = mode};
    run(shape.at(gpu.address()), load_and_show(load("2d", "0, 7"), words * rows * 4));
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned word = 0; word < words; ++word) {
        const unsigned chunk = word / 4 ^ (row / in_line & ((1u << mode) - 1));
        EXPECT_EQ(output(row * words + chunk * 4 + word % 4), (7 + row) * 32 + word)
            << mode << " " << row << " " << word;
      }
    }
  }
}

TEST_F(TensorLoad, SwizzlesByTheSharedAddress) {
  // The tile begins in the third line of 128 bytes, so chunk 0 of its row 0 goes to chunk 2.
  const TensorShape shape{.dims = {32, 64}, .box = {32, 1}, .swizzle = 3};
  std::string copy = load("2d", "0, 0");
  copy.replace(copy.find("[%r2]"), 5, "[%r2+256]");
  run(shape.at(gpu.address()),
      "mov.u32 %r4, 128;\n@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], %r4;\n@%p1 " + copy +
          "\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n@!%p2 bra WAIT;\n"
          "add.u32 %r2, %r2, 256;\n" +
          show(128));
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(output(i), (i / 4 ^ 2) * 4 + i % 4) << i;
}

TEST_F(TensorLoad, SwizzlesAPartOfASpan) {
  // Three rows of 32 bytes with a swizzle of 128 bytes: the last 96 bytes of a span are rearranged
  // among its 128.
  const TensorShape shape{.dims = {32, 64}, .box = {8, 3}, .swizzle = 3};
  std::string copy = load("2d", "0, 0");
  copy.replace(copy.find("[%r2]"), 5, "[%r2+384]");
  run(shape.at(gpu.address()),
      "mov.u32 %r4, 96;\n@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], %r4;\n@%p1 " + copy +
          "\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n@!%p2 bra WAIT;\n"
          "add.u32 %r2, %r2, 384;\n" +
          show(128));
  for (unsigned chunk = 0; chunk < 6; ++chunk) {
    EXPECT_EQ(output((chunk ^ 3) * 4), chunk / 2 * 32 + chunk % 2 * 4) << chunk;
  }
}

TEST_F(TensorLoad, FindsTheMapInGlobalMemory) {
  const TensorMap map = TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(gpu.address());
  std::memcpy(&gpu.word(4096), &map, sizeof map);
  run(map,
      "add.s64 %rd4, %rd1, 16384;\nfence.proxy.tensormap::generic.acquire.gpu [%rd4], 128;\n"
      "fence.proxy.tensormap::generic.release.gpu;\nprefetch.tensormap [%rd4];\n"
      "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd4, {1, 2}];\n" +
          load_and_show(std::string(kLoad2d) + "[%r2], [%rd4, {1, 2}], [%r3];", 128));
  EXPECT_EQ(output(0), 65u);
}

TEST_F(TensorLoad, LandsWhenTheMbarrierCompletes) {
  const TensorMap map = TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(gpu.address());
  const std::string early = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 128;\n@%p1 " +
                            load("2d", "0, 0") + "\n" + show(128);
  run(map, early);
  EXPECT_EQ(output(0), 0xa5a5a5a5u);
  gpu.settings.check_race = true;
  run(map, early);
  EXPECT_EQ(gpu.found(FindingKind::async_copy).size(), 1u);
}

TEST_F(TensorLoad, AWrongNumberOfBytesNeverCompletes) {
  const TensorMap map = TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(gpu.address());
  EXPECT_THROW(run(map, load_and_show(load("2d", "-4, 0"), 64)), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::deadlock).size(), 1u);
}

}  // namespace
}  // namespace halfgrad::emulator
