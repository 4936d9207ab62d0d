// ldmatrix, stmatrix and movmatrix against their definition.
#include <gtest/gtest.h>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

const char* const kShared = ".shared .align 16 .b8 tile[1024];\n";
/// Lane l copies words 4 l to 4 l + 3 of %rd1 to shared memory, and back after `body`.
const char* const kCopyIn =
    "mul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r10, tile;\n"
    "mad.lo.s32 %r11, %r1, 16, %r10;\nld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd3];\n"
    "st.shared.v4.u32 [%r11], {%r12, %r13, %r14, %r15};\nbar.sync 0;\n";
const char* const kCopyOut =
    "bar.sync 0;\nld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11];\n"
    "st.global.v4.u32 [%rd3+512], {%r12, %r13, %r14, %r15};\nret;";

/// Element (row, column) of matrix i: 32 rows of 8 halves fill the 128 words.
std::uint16_t element(SmallGpu& gpu, unsigned word, unsigned i, unsigned row, unsigned column) {
  const std::uint32_t two = gpu.word(word + (8 * i + row) * 4 + column / 2);
  return static_cast<std::uint16_t>(two >> 16 * (column % 2));
}
void fill(SmallGpu& gpu) {
  for (std::uint32_t i = 0; i < 128; ++i) gpu.word(i) = (2 * i + 1) << 16 | 2 * i;
}

TEST(Ldmatrix, GivesEachLaneTwoElementsOfARow) {
  for (const unsigned count : {1u, 2u, 4u}) {
    for (const bool transposed : {false, true}) {
      SmallGpu gpu;
      fill(gpu);
      const std::string list = count == 1   ? "{%r2}"
                               : count == 2 ? "{%r2, %r3}"
                                            : "{%r2, %r3, %r4, %r5}";
      gpu.launch(
          kernel(std::string(kShared) + kCopyIn + "ldmatrix.sync.aligned.m8n8.x" +
                 std::to_string(count) + (transposed ? ".trans" : "") + ".shared.b16 " + list +
                 ", [%r11];\nst.global.v4.u32 [%rd3+512], {%r2, %r3, %r4, %r5};\nret;"),
          {}, {32});
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < count; ++i) {
          const unsigned row = lane / 4, column = 2 * (lane % 4);
          const std::uint32_t low =
              transposed ? element(gpu, 0, i, column, row) : element(gpu, 0, i, row, column);
          const std::uint32_t high = transposed ? element(gpu, 0, i, column + 1, row)
                                                : element(gpu, 0, i, row, column + 1);
          ASSERT_EQ(gpu.word(128 + 4 * lane + i), high << 16 | low) << "lane " << lane;
        }
      }
      EXPECT_TRUE(gpu.findings.all().empty());
    }
  }
}

TEST(Stmatrix, IsTheInverseOfLdmatrix) {
  for (const char* form : {"x4", "x4.trans"}) {
    SmallGpu gpu;
    fill(gpu);
    const std::string rest = std::string(".sync.aligned.m8n8.") + form + ".shared.b16 ";
    gpu.launch(
        kernel(std::string(kShared) + kCopyIn + "ldmatrix" + rest +
               "{%r2, %r3, %r4, %r5}, [%r11];\nbar.sync 0;\nst.shared.u32 [%r11], %r1;\nbar.sync "
               "0;\nstmatrix" +
               rest + "[%r11], {%r2, %r3, %r4, %r5};\n" + kCopyOut),
        {}, {32});
    for (std::uint32_t i = 0; i < 128; ++i) ASSERT_EQ(gpu.word(128 + i), gpu.word(i)) << form;
  }
}

TEST(Movmatrix, Transposes) {
  SmallGpu gpu;
  fill(gpu);
  const char* const load = "ldmatrix.sync.aligned.m8n8.x1";
  gpu.launch(
      kernel(std::string(kShared) + kCopyIn + load + ".shared.b16 {%r2}, [%r11];\n" + load +
             ".trans.shared.b16 {%r3}, [%r11];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r4, %r2;\n"
             "sub.u32 %r5, %r4, %r3;\nst.global.v4.u32 [%rd3+512], {%r5, %r4, %r3, %r2};\nret;"),
      {}, {32});
  for (std::size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(gpu.word(128 + 4 * lane), 0u);
  EXPECT_NE(gpu.word(128 + 5), gpu.word(128 + 7));
}

TEST(Ldmatrix, StopsAtARowThatIsNotAligned) {
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(kernel(std::string(kShared) + kCopyIn +
                                 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r11+8];\nret;"),
                          {}, {32}),
               KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::misaligned).size(), 1u);
}

}  // namespace
}  // namespace halfgrad::emulator
