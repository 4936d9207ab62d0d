// Wrong bulk copies of tensors.
#include <string>

#include "tensor_maps.h"

namespace halfgrad::emulator {
namespace {

class TensorFindings : public TensorCopies {
 protected:
  /// The message of the one finding that ends a kernel with `copy`.
  std::string message(const TensorMap& map, const std::string& copy, FindingKind kind) {
    EXPECT_THROW(run(map, "@%p1 " + copy), KernelAborted) << copy;
    const std::vector<Finding> found = gpu.found(kind);
    return found.size() == 1 ? found[0].message : std::to_string(found.size()) + " findings";
  }
  TensorMap map() { return TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(gpu.address()); }
  std::string load(const std::string& operands) { return kLoad2d + operands + ", [%r3];"; }
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(TensorFindings, TilesAreAlignedTo128Bytes) {
  EXPECT_HAS(message(map(), load("[%r2+64], [%rd2, {0, 0}]"), FindingKind::misaligned),
             "expected a shared address that is a multiple of 128");
}

TEST_F(TensorFindings, StoredTilesAreAlignedTo128Bytes) {
  EXPECT_HAS(message(map(),
                     "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, 0}], "
                     "[%r2+16];",
                     FindingKind::misaligned),
             "got byte 16 of shared memory");
}

TEST_F(TensorFindings, TilesLieInSharedMemory) {
  EXPECT_HAS(message(map(), load("[%r2+8192], [%rd2, {0, 0}]"), FindingKind::out_of_bounds),
             "of shared memory");
}

TEST_F(TensorFindings, TheElementsOfATensorAreAllocated) {
  const TensorMap large = TensorShape{.dims = {32, 1024}, .box = {8, 4}}.at(gpu.address());
  EXPECT_HAS(message(large, load("[%r2], [%rd2, {3, 254}]"), FindingKind::out_of_bounds),
             "the tensor map's elements at {3, 256}, 32 bytes at global address ");
}

TEST_F(TensorFindings, TheTensorIsNotFreed) {
  const Allocation* other = gpu.memory.allocate(MemoryKind::device, 0, 4096, 256, "the test");
  const TensorMap map = TensorShape{.dims = {32, 16}, .box = {8, 4}}.at(other->begin);
  gpu.memory.free(other->begin);
  const std::string store =
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, 1}], [%r2];";
  EXPECT_HAS(message(map, store, FindingKind::use_after_free), "elements at {0, 1}, 32 bytes");
}

TEST_F(TensorFindings, MapsComeFromTheDriver) {
  TensorMap empty = map();
  empty.magic = 0;
  EXPECT_HAS(message(empty, load("[%r2], [%rd2, {0, 0}]"), FindingKind::invalid_call),
             "no successful call of cuTensorMapEncodeTiled");
}

TEST_F(TensorFindings, PrefetchesNeedAMap) {
  EXPECT_HAS(message(map(), "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {0, 0}];",
                     FindingKind::invalid_call),
             "expected a tensor map");
}

TEST_F(TensorFindings, MapsAreAligned) {
  EXPECT_HAS(message(map(), load("[%r2], [%rd1+32, {0, 0}]"), FindingKind::misaligned),
             "multiple of 64");
}

TEST_F(TensorFindings, TheRankIsThatOfTheMap) {
  const std::string copy =
      "cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes "
      "[%r2], [%rd2, {0, 0, 0}], [%r3];";
  EXPECT_HAS(message(map(), copy, FindingKind::invalid_call),
             "expected a tensor map of 3 dimensions, got one of 2");
}

const std::string kEndOfCopies =
    "\n@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group.read 0;\n";

/// Stores of all threads, then a bulk copy of thread 0 from the same memory.
std::string stored(const std::string& between) {
  return "shl.b32 %r6, %r1, 2;\nadd.u32 %r6, %r6, %r2;\nst.shared.u32 [%r6], 9;\n" + between +
         "\n@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, 0}], [%r2];" +
         kEndOfCopies;
}

TEST_F(TensorFindings, StoresNeedAFenceBeforeACopyReadsThem) {
  gpu.settings.check_race = true;
  for (const char* fence : {"fence.proxy.async;\nbar.sync 0;", "bar.sync 0;\nfence.proxy.async;",
                            "fence.proxy.async.shared::cta;\nbar.sync 0;"}) {
    run(map(), stored(fence));
    EXPECT_TRUE(gpu.findings.all().empty()) << fence;
  }
  run(map(), stored("bar.sync 0;"));
  ASSERT_EQ(gpu.found(FindingKind::race).size(), 1u);
  EXPECT_HAS(gpu.found(FindingKind::race)[0].message, "without fence.proxy.async between the two");
  EXPECT_HAS(gpu.found(FindingKind::race)[0].other, "a store by thread (0,0,0)");
}

TEST_F(TensorFindings, AFenceBeforeTheStoreIsNone) {
  gpu.settings.check_race = true;
  run(map(), "fence.proxy.async;\n" + stored("bar.sync 0;"));
  EXPECT_EQ(gpu.found(FindingKind::race).size(), 1u);
}

TEST_F(TensorFindings, PlainBulkCopiesNeedTheFenceToo) {
  gpu.settings.check_race = true;
  const std::string copy =
      "st.shared.u32 [%r2], 1;\n@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], "
      "16;";
  run(map(), "@!%p1 ret;\n" + copy);
  EXPECT_EQ(gpu.found(FindingKind::race).size(), 1u);
}

TEST_F(TensorFindings, AReductionInSharedMemoryIsNoStore) {
  gpu.settings.check_race = true;
  run(map(),
      "@!%p1 ret;\nst.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};\n"
      "st.shared.v4.u32 [%r2+256], {7, 7, 7, 7};\nfence.proxy.async;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 16;\n"
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
      "[%r2], [%r2+256], 16, [%r3];\n"
      "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n@!%p2 bra WAIT;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;" +
          kEndOfCopies);
  EXPECT_EQ(gpu.word(3), 7u);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(TensorFindings, OtherFormsAreUnknown) {
  for (const char* copy :
       {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%r2], [%rd2, {0, 0, 0}], [%r3], {%h1};",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%r2], [%rd2, {0}], [%r3];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%r2], [%rd2, {0, 0}];",
        "cp.async.bulk.tensor.2d.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
        "[%r2], [%rd2, {0, 0}], [%r3];",
        "cp.async.bulk.tensor.2d.global.shared::cta [%rd2, {0, 0}], [%r2];",
        "cp.async.bulk.tensor.global.shared::cta.bulk_group [%rd2, {0, 0}], [%r2];"}) {
    EXPECT_ANY_THROW(run(map(), copy)) << copy;
    EXPECT_FALSE(gpu.found(FindingKind::unknown_instruction).empty()) << copy;
  }
}

}  // namespace
}  // namespace halfgrad::emulator
