#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "tensor_maps.h"

namespace halfgrad::emulator {
namespace {

using TensorStore = TensorCopies;

/// Word i of the tile is 5000 + i, or a value for reductions.
std::string store(const std::string& copy, const std::string& value = "add.u32 %r7, %r7, 5000;") {
  return R"(
mov.u32 %r5, %r1;
FILL:
mov.u32 %r7, %r5;
)" + value +
         R"(
shl.b32 %r6, %r5, 2;
add.u32 %r6, %r6, %r2;
st.shared.u32 [%r6], %r7;
add.u32 %r5, %r5, 32;
setp.lt.u32 %p3, %r5, 512;
@%p3 bra FILL;
fence.proxy.async.shared::cta;
bar.sync 0;
@!%p1 ret;
)" + copy +
         R"(
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
cp.async.bulk.wait_group 0;
)";
}

const std::string kStore =
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {12, 5}], [%r2];";

TEST_F(TensorStore, WritesABox) {
  gpu.settings.check_race = gpu.settings.check_init = true;
  run(TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(gpu.address()), store(kStore));
  for (unsigned i = 0; i < 512; ++i) {
    const unsigned x = i % 32 - 12, y = i / 32 - 5;
    EXPECT_EQ(gpu.word(i), x < 8 && y < 4 ? 5000 + y * 8 + x : i) << i;
  }
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(TensorStore, SkipsElementsOutsideOfTheTensor) {
  const TensorMap map =
      TensorShape{.dims = {30, 16}, .box = {8, 4}, .strides = {128}}.at(gpu.address());
  run(map, store("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint "
                 "[%rd2, {28, -2}], [%r2], %rd5;"));
  for (unsigned i = 0; i < 512; ++i) {
    const unsigned x = i % 32 - 28, y = i / 32 + 2;
    EXPECT_EQ(gpu.word(i), x < 2 && y < 4 ? 5000 + y * 8 + x : i) << i;
  }
}

TEST_F(TensorStore, ReadsNothingOfATileOutsideOfTheTensor) {
  gpu.settings.check_init = true;
  const TensorMap map = TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(gpu.address());
  const std::string one_row =
      "shl.b32 %r6, %r1, 2;\nadd.u32 %r6, %r6, %r2;\nsetp.lt.u32 %p3, %r1, 8;\n"
      "@%p3 st.shared.u32 [%r6], 9;\nbar.sync 0;\n@!%p1 ret;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, ";
  const std::string wait = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;";
  run(map, one_row + "15}], [%r2];\n" + wait);
  EXPECT_EQ(gpu.word(15 * 32 + 7), 9u);
  EXPECT_TRUE(gpu.findings.all().empty());
  run(map, one_row + "14}], [%r2];\n" + wait);
  EXPECT_EQ(gpu.found(FindingKind::uninitialised).size(), 1u);
}

/// Findings of a kernel whose thread 0 stores a tile, and which executes `after`.
std::vector<Finding> findings_after(SmallGpu& gpu, const std::string& after,
                                    const std::function<void(const std::string&)>& run) {
  gpu.settings.check_race = true;
  run("shl.b32 %r6, %r1, 2;\nadd.u32 %r6, %r6, %r2;\nst.shared.u32 [%r6], %r1;\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
      "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, 0}], [%r2];\n" +
      after);
  return gpu.findings.all();
}

const std::string kCommitTile = "@%p1 cp.async.bulk.commit_group;\n";
const std::string kWaitForTile = "@%p1 cp.async.bulk.wait_group.read 0;\n";
const std::string kTileBarrier = "bar.sync 0;\n", kStoreOverTile = "st.shared.u32 [%r6], 7;\n";

TEST_F(TensorStore, MayReadItsTileUntilTheWait) {
  const TensorMap map = TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(gpu.address());
  const auto run_body = [&](const std::string& body) { run(map, body); };
  EXPECT_TRUE(
      findings_after(gpu, kCommitTile + kWaitForTile + kTileBarrier + kStoreOverTile, run_body)
          .empty());
  const auto found =
      findings_after(gpu, kCommitTile + kTileBarrier + kStoreOverTile + kWaitForTile, run_body);
  const auto names_the_copy = [](const Finding& finding) {
    return finding.kind == FindingKind::race &&
           finding.message.find("cp.async.bulk.wait_group.read") != std::string::npos &&
           finding.other.find("a bulk copy by thread (0,0,0)") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), names_the_copy));
}

TEST_F(TensorStore, MayReadItsTileAsLateAsTheWait) {
  // Thread 0 waits, but no barrier lets the others know.
  const TensorMap map = TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(gpu.address());
  const auto found = findings_after(gpu, kCommitTile + kTileBarrier + kWaitForTile + kStoreOverTile,
                                    [&](const std::string& body) { run(map, body); });
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, FindingKind::race);
}

TEST_F(TensorStore, NeedsACommitAndAWaitBeforeTheThreadExits) {
  const TensorMap map = TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(gpu.address());
  const auto run_body = [&](const std::string& body) { run(map, body); };
  std::uint64_t runs = 0;
  for (const std::string& end : {std::string(), kCommitTile, kWaitForTile}) {
    const auto found = findings_after(gpu, end, run_body);  // one finding, which counts the runs
    ASSERT_EQ(found.size(), 1u) << end;
    EXPECT_EQ(found[0].severity, Severity::note);
    EXPECT_EQ(found[0].kind, FindingKind::async_copy);
    EXPECT_EQ(found[0].count, ++runs) << end;
  }
}

TEST_F(TensorStore, UndoesTheSwizzle) {
  for (const unsigned mode : {1u, 2u, 3u}) {
    const unsigned words = 4u << mode, in_line = 32 / words;
    const TensorShape shape{.dims = {32, 64}, .box = {words, 16}, .swizzle = mode};
    run(shape.at(gpu.address()),
        store("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, 0}], [%r2];"));
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned word = 0; word < words; ++word) {
        const unsigned chunk = word / 4 ^ (row / in_line & ((1u << mode) - 1));
        EXPECT_EQ(gpu.word(row * 32 + word), 5000 + row * words + chunk * 4 + word % 4)
            << mode << " " << row << " " << word;
      }
    }
  }
}

std::string reduction(const std::string& operation) {
  return "cp.reduce.async.bulk.tensor.1d.global.shared::cta." + operation +
         ".bulk_group [%rd2, {-2}], [%r2];";
}

TEST_F(TensorStore, ReducesByTheTypeOfTheMap) {
  const auto words = [&](unsigned type) {
    return TensorShape{.dims = {16}, .box = {8}, .type = type}.at(gpu.address());
  };
  // Element i of the tile meets element i - 2 of the tensor, which holds its index.
  run(words(2), store(reduction("add"), "add.u32 %r7, %r7, 100;"));
  EXPECT_EQ(gpu.word(0), 102u);
  EXPECT_EQ(gpu.word(5), 5 + 107u);
  EXPECT_EQ(gpu.word(6), 6u);
  run(words(3), store(reduction("min"), "sub.u32 %r7, 0, %r7;"));
  EXPECT_EQ(gpu.word(0), static_cast<std::uint32_t>(-2));
  run(words(2), store(reduction("min"), "mov.u32 %r7, 7;"));
  EXPECT_EQ(gpu.word(0), 7u);
  run(words(2), store(reduction("max"), "mov.u32 %r7, 9;"));
  EXPECT_EQ(gpu.word(0), 9u);
  run(words(2), store(reduction("inc"), "mov.u32 %r7, 100;"));
  EXPECT_EQ(gpu.word(0), 10u);
  run(words(2), store(reduction("dec"), "mov.u32 %r7, 3;"));
  EXPECT_EQ(gpu.word(0), 3u);
  run(words(3), store(reduction("xor"), "mov.u32 %r7, 6;"));
  EXPECT_EQ(gpu.word(0), 5u);
  run(words(2), store(reduction("or"), "mov.u32 %r7, 8;"));
  EXPECT_EQ(gpu.word(0), 13u);
  run(words(2), store(reduction("and"), "mov.u32 %r7, 9;"));
  EXPECT_EQ(gpu.word(0), 9u);
}

TEST_F(TensorStore, AddsFloats) {
  gpu.word(0) = std::bit_cast<std::uint32_t>(1.5f);
  run(TensorShape{.dims = {16}, .box = {8}, .type = 7}.at(gpu.address()),
      store(reduction("add"), "mov.u32 %r7, 0x40000000;"));
  EXPECT_EQ(gpu.word(0), std::bit_cast<std::uint32_t>(3.5f));
  gpu.word(0) = 0x3c003c00;  // two halves of 1
  run(TensorShape{.dims = {16}, .box = {8}, .type = 6}.at(gpu.address()),
      store(reduction("add"), "mov.u32 %r7, 0x40003c00;"));
  EXPECT_EQ(gpu.word(0), 0x42004000u);
  gpu.word(0) = 0x3f803f80;  // two bfloat16 of 1
  run(TensorShape{.dims = {16}, .box = {8}, .type = 9}.at(gpu.address()),
      store(reduction("max"), "mov.u32 %r7, 0x40000000;"));
  EXPECT_EQ(gpu.word(0), 0x40003f80u);
  const TensorMap bytes = TensorShape{.dims = {32}, .box = {16}, .type = 0}.at(gpu.address());
  EXPECT_THROW(run(bytes, store(reduction("add"))), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::invalid_call).size(), 1u);
}

TEST_F(TensorStore, BlocksAddToOneBox) {
  gpu.settings.check_race = gpu.settings.check_init = true;
  grid = {5};
  run(TensorShape{.dims = {16}, .box = {8}}.at(gpu.address()),
      store(reduction("add"), "mov.u32 %r7, 2;"));
  EXPECT_EQ(gpu.word(3), 13u);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(TensorStore, BlocksThatStoreToOneBoxRace) {
  gpu.settings.check_race = true;
  grid = {2};
  run(TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(gpu.address()), store(kStore));
  EXPECT_FALSE(gpu.found(FindingKind::race).empty());
}

}  // namespace
}  // namespace halfgrad::emulator
