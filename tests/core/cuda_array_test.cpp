#include <halfgrad/core/array.h>
#include <halfgrad/tests/core/arrays.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace halfgrad {
namespace {

class ArrayOnCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
  }
};

TEST_F(ArrayOnCuda, CopiesToTheGpuAndBack) {
  for (const DType dtype : kAllDTypes) {
    const Array x = counting({3, 5, 7}, dtype);
    expect_same_bits(x.to(kCUDA), x);
    expect_same_bits(x.transpose(0, 2).to(kCUDA), x.transpose(0, 2));
    expect_same_bits(x.to(kCUDA).transpose(0, 2), x.transpose(0, 2));
    expect_same_bits(x.to(kCUDA).slice(1, 1, 4, 2).clone(), x.slice(1, 1, 4, 2));
  }
}

// Lengths around a thread's 8 elements, and starts that are not aligned to 16 bytes.
TEST_F(ArrayOnCuda, EveryPairOfDtypesConvertsAsOnTheCpu) {
  for (const DType from : kAllDTypes) {
    for (const DType to : kAllDTypes) {
      for (const std::int64_t n : {1, 8, 9, 2048, 5000}) {
        SCOPED_TRACE(std::string(name(from)) + " to " + std::string(name(to)) + ", " +
                     std::to_string(n));
        const Array x = counting({n + 1}, from);
        const Array on_cuda = x.to(kCUDA);
        expect_same_bits(on_cuda.to(to), x.to(to));
        expect_same_bits(on_cuda.slice(0, 1, n + 1).to(to), x.slice(0, 1, n + 1).to(to));
        const Array column = x.unsqueeze(1).expand({n + 1, 3});
        expect_same_bits(on_cuda.unsqueeze(1).expand({n + 1, 3}).to(to), column.to(to));
      }
    }
  }
}

TEST_F(ArrayOnCuda, RoundsAsTheCpuDoes) {
  const std::vector<double> edges = {
      0.0,      -0.0,          1e-45,  0x1p-24,     0x1p-25,     0x1.8p-25, 65504,
      65519,    65520,         3.4e38, 1 + 0x1p-11, 1e300,       -1e300,    1 + 0x1p-8,
      1e-300,   1 + 0x1.8p-11, -1e-45, 0x1p-14,     0x1.ffcp-15, 3.39e38,   1 + 0x1p-11 + 0x1p-40,
      INFINITY, -INFINITY};
  const Array x = Array::empty({static_cast<std::int64_t>(edges.size())}, kDouble);
  std::memcpy(x.data(), edges.data(), edges.size() * sizeof(double));
  for (const DType from : {kDouble, kFloat}) {
    for (const DType to : kAllDTypes) {
      SCOPED_TRACE(std::string(name(from)) + " to " + std::string(name(to)));
      const Array source = x.to(from);
      expect_same_bits(source.to(kCUDA).to(to), source.to(to));
    }
  }
}

TEST_F(ArrayOnCuda, CopiesBetweenEqualDtypesKeepEveryBit) {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    const Array x = signalling_nans({4, 6}, dtype), y = Array::full({6, 4}, 0, dtype, kCUDA);
    y.copy_(x.to(kCUDA).transpose(0, 1));
    expect_same_bits(y.transpose(0, 1).clone(), x);
  }
}

TEST_F(ArrayOnCuda, FillsAndCopiesViews) {
  for (const DType dtype : kAllDTypes) {
    const Array x = counting({4, 6}, dtype), y = x.to(kCUDA);
    for (const double value : {0.0, 1.0}) {
      x.slice(1, 1, 6, 2).fill_(value);
      y.slice(1, 1, 6, 2).fill_(value);
      expect_same_bits(y, x);
    }
    y.copy_(counting({6}));  // from the CPU, converted and broadcast
    x.copy_(counting({6}));
    expect_same_bits(y, x);
    expect_same_bits(Array::full({1000}, 7, dtype, kCUDA), Array::full({1000}, 7, dtype));
  }
}

TEST_F(ArrayOnCuda, OnlyCopiesToTheHostWait) {
  const Array pinned = counting({1 << 20}).pin_memory();
  EXPECT_TRUE(pinned.is_pinned());
  const Array back = Array::empty_pinned({1 << 20}, kFloat);
  Array::empty({1 << 20}, kFloat, kCUDA);  // warms the cache
  const auto waits = cuda::host_waits();
  const Array x = pinned.to(kCUDA);
  back.copy_(x);
  EXPECT_EQ(cuda::host_waits(), waits);
  current_stream(kCUDA).synchronize();
  expect_same_bits(back, pinned);
  EXPECT_EQ(cuda::host_waits(), waits + 1);
  EXPECT_EQ(x.select(0, 77).item(), 77);
  EXPECT_EQ(cuda::host_waits(), waits + 2);
}

TEST_F(ArrayOnCuda, OverlappingViewsAreCopiedAsOnTheCpu) {
  constexpr std::int64_t kEnd = 1 << 20;
  const Array x = counting({kEnd}), y = x.to(kCUDA);
  for (const Array& z : {x, y}) {
    z.slice(0, 100, kEnd).copy_(z.slice(0, 0, kEnd - 100));
    z.slice(0, 0, kEnd - 1).copy_(z.slice(0, 1, kEnd));
  }
  EXPECT_EQ(x.select(0, 99).item(), 0);
  EXPECT_EQ(x.select(0, -1).item(), kEnd - 101);
  expect_same_bits(y, x);
}

TEST_F(ArrayOnCuda, ACopyFromForeignPageLockedMemoryWaits) {
  const Array pinned = counting({1 << 20}).pin_memory(), pageable = counting({1 << 20});
  const auto copy_of_foreign = [](const Array& x) {
    return Array::from_blob(x.data(), x.sizes(), x.strides(), x.dtype(), [] {}).to(kCUDA);
  };
  const auto waits = cuda::host_waits();
  const Array first = copy_of_foreign(pageable);
  EXPECT_EQ(cuda::host_waits(), waits) << "read before the call returns";
  const Array second = copy_of_foreign(pinned);
  EXPECT_EQ(cuda::host_waits(), waits + 1);
  pageable.fill_(0);
  pinned.fill_(0);
  expect_same_bits(first, counting({1 << 20}));
  expect_same_bits(second, counting({1 << 20}));
}

TEST_F(ArrayOnCuda, OutOfMemoryIsReportedAndSurvived) {
  EXPECT_THROW(Array::empty({1LL << 50}, kByte, kCUDA), std::runtime_error);
  EXPECT_EQ(Array::full({1}, 2, kFloat, kCUDA).item(), 2);
}

TEST_F(ArrayOnCuda, CopiesBetweenGpus) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "no second GPU";
  const Array x = counting({1000, 3}).to(kCUDA);
  const Array y = x.transpose(0, 1).to(Device(kCUDA, 1));
  EXPECT_EQ(y.device(), Device(kCUDA, 1));
  expect_same_bits(y.to(kHalf), counting({1000, 3}).transpose(0, 1).to(kHalf));
}

}  // namespace
}  // namespace halfgrad
