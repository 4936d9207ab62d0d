// The bounds in docs/gemm_ladder.md are those that examples/gemm_ladder computes.
#include <halfgrad/examples/gemm_ladder/roofline.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace ladder {
namespace {

std::string page() {
  std::ostringstream text;
  text << std::ifstream(HALFGRAD_SOURCE_DIR "/docs/gemm_ladder.md").rdbuf();
  return text.str();
}

// The last cell of the row that begins with `rung`.
std::string bound_on_page(const std::string& rung) {
  const std::string text = page();
  const std::size_t row = text.find("\n| " + rung + " |");
  if (row == std::string::npos) return "no row";
  const std::size_t end = text.find(" |\n", row);
  const std::size_t cell = text.rfind("| ", end - 1) + 2;
  return text.substr(cell, end - cell);
}

std::string in_teraflops(const Bound& bound) {
  char text[16];
  std::snprintf(text, sizeof text, bound.flops < 1e13 ? "%.1f" : "%.0f", bound.flops / 1e12);
  return text;
}

TEST(GemmLadder, BoundsOnThePageAreThoseOfAnH100) {
  const Roofline h100({"H100", 9, 0, 132, 1.83e9, 3.35e12}, 4096);
  EXPECT_EQ(in_teraflops(h100.naive()), bound_on_page("naive"));
  EXPECT_EQ(in_teraflops(h100.tiled()), bound_on_page("tiled"));
  EXPECT_EQ(in_teraflops(h100.tensor_core()), bound_on_page("tensor core"));
  EXPECT_EQ(in_teraflops(h100.cublaslt()), bound_on_page("cuBLASLt"));
}

TEST(GemmLadder, MemoryBoundsSmallMatrices) {
  const Roofline small({"H100", 9, 0, 132, 1.83e9, 3.35e12}, 64);
  EXPECT_STREQ(small.cublaslt().reason, "memory");
  EXPECT_EQ(small.cublaslt().flops, 3.35e12 * 64 / 4);
}

TEST(GemmLadder, AnUnknownGpuHasNoBounds) {
  const Roofline unknown({"?", 99, 0, 100, 1e9, 1e12}, 4096);
  for (const Bound& bound :
       {unknown.naive(), unknown.tiled(), unknown.tensor_core(), unknown.cublaslt()}) {
    EXPECT_EQ(bound.flops, 0);
  }
}

}  // namespace
}  // namespace ladder
