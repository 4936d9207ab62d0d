// Kernels that nvcc compiled (data/kernels.cu), against loops on the host.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "small_gpu.h"

namespace halfgrad::emulator {
namespace {

std::string ptx() {
  std::ifstream file(std::string(HALFGRAD_EMULATOR_TEST_DATA) + "/simt/data/kernels.ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A device buffer of `values`.
template <class T>
class Buffer {
 public:
  Buffer(SmallGpu& gpu, const std::vector<T>& values)
      : allocation_(gpu.memory.allocate(MemoryKind::device, 0, values.size() * sizeof(T), 256,
                                        "the test")) {
    std::memcpy(allocation_->host, values.data(), values.size() * sizeof(T));
    if (allocation_->written != nullptr) {
      std::memset(allocation_->written, 1, values.size() * sizeof(T));
    }
  }
  std::uint64_t address() const { return allocation_->begin; }
  const T* values() const { return reinterpret_cast<const T*>(allocation_->host); }

 private:
  const Allocation* allocation_;
};

TEST(NvccKernels, SaxpyAddsScaledVectors) {
  constexpr int kSize = 10'001;
  std::vector<float> x(kSize), y(kSize);
  for (int i = 0; i < kSize; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = static_cast<float>(3 * i);
  }
  SmallGpu gpu;
  Buffer a(gpu, x), b(gpu, y);
  gpu.launch_kernel(ptx(), "saxpy", {79}, {128},
                    Arguments{}(kSize)(2.0f)(a.address())(b.address()));
  for (int i = 0; i < kSize; ++i) ASSERT_EQ(b.values()[i], static_cast<float>(5 * i));
}

TEST(NvccKernels, TiledGemmMultiplies) {
  constexpr int kSide = 48;
  std::vector<float> a(kSide * kSide), b(kSide * kSide);
  for (int i = 0; i < kSide * kSide; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5 - 2);
  }
  SmallGpu gpu;
  Buffer da(gpu, a), db(gpu, b), dc(gpu, std::vector<float>(kSide * kSide));
  gpu.launch_kernel(ptx(), "tiled_gemm", {3, 3}, {16, 16},
                    Arguments{}(kSide)(da.address())(db.address())(dc.address()));
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      float sum = 0;
      for (int k = 0; k < kSide; ++k) sum += a[row * kSide + k] * b[k * kSide + column];
      ASSERT_EQ(dc.values()[row * kSide + column], sum);
    }
  }
}

TEST(NvccKernels, BlockSumReducesByShuffles) {
  std::vector<int> in(20 * 256);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 1001);
  for (const unsigned threads : {1u, 2u, 5u}) {
    SmallGpu gpu;
    gpu.settings.threads = threads;
    Buffer source(gpu, in), sums(gpu, std::vector<int>(20));
    gpu.launch_kernel(ptx(), "block_sum", {20}, {256},
                      Arguments{}(source.address())(sums.address()));
    for (int block = 0; block < 20; ++block) {
      int sum = 0;
      for (int i = 0; i < 256; ++i) sum += in[block * 256 + i];
      ASSERT_EQ(sums.values()[block], sum);
    }
    // Lanes 4 to 7 of the last shuffles read lanes that are absent; nobody uses their values.
    EXPECT_EQ(gpu.found(FindingKind::warp_sync).size(), gpu.findings.all().size());
  }
}

TEST(NvccKernels, GridStepsMeetAtCooperativeBarriers) {
  constexpr int kSize = 12 * 40, kSteps = 6;
  std::vector<int> expected(kSize);
  for (int i = 0; i < kSize; ++i) expected[i] = i % 10;
  for (const unsigned threads : {1u, 2u, 5u}) {
    SmallGpu gpu;
    gpu.settings.threads = threads;
    std::vector<int> values(kSize);
    for (int i = 0; i < kSize; ++i) values[i] = i % 10;
    Buffer a(gpu, values), b(gpu, values);
    gpu.launch_kernel(ptx(), "grid_steps", {12}, {40},
                      Arguments{}(kSteps)(a.address())(b.address()), /*cooperative=*/true);
    for (int step = 0; step < kSteps; ++step) {
      std::vector<int> next(kSize);
      for (int i = 0; i < kSize; ++i) {
        next[i] = values[(i + 1) % kSize] + values[(i + kSize - 1) % kSize];
      }
      values = next;
    }
    for (int i = 0; i < kSize; ++i) ASSERT_EQ(a.values()[i], values[i]);
  }
}

TEST(NvccKernels, CollatzDivergesAndMeets) {
  SmallGpu gpu;
  Buffer out(gpu, std::vector<int>(300));
  gpu.launch_kernel(ptx(), "collatz", {3}, {100}, Arguments{}(out.address()));
  for (int i = 0; i < 300; ++i) {
    int n = i + 1, steps = 0;
    for (; n != 1 && steps <= 100; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    const int expected[] = {steps + 1, steps * 3,  steps - 7, steps ^ 5,
                            steps / 3, steps << 2, -steps,    steps | 64};
    ASSERT_EQ(out.values()[i], expected[i % 8]) << i;
  }
}

}  // namespace
}  // namespace halfgrad::emulator
