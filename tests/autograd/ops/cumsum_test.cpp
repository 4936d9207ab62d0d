#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

using CumSum = TensorsOnDevice;
HALFGRAD_ON_DEVICES(CumSum);

TEST_P(CumSum, SumsEveryDType) {
  for (const DType dtype : kAllDTypes) {
    const Tensor y = cumsum(elements({1, 1, 0, 1}, dtype), 0);
    EXPECT_EQ(y.dtype(), is_floating_point(dtype) ? dtype : kLong);
    EXPECT_EQ(elements(y), (Doubles{1, 2, 2, 3}));
  }
}

TEST_P(CumSum, ConvertsBeforeSumming) {
  const Tensor x = elements({0.5, 1.5, 300});
  EXPECT_EQ(elements(cumsum(x, 0, kLong)), (Doubles{0, 1, 301}));
  EXPECT_EQ(cumsum(x, 0, kHalf).dtype(), kHalf);
  EXPECT_EQ(elements(cumsum(x, 0, kBool)), (Doubles{1, 1, 1}));
  EXPECT_EQ(elements(cumsum(elements({200, 100}, kLong), 0, kUInt8)), (Doubles{200, 44}))
      << "wraps";
  EXPECT_EQ(elements(cumsum(elements({1, 2}, kInt), 0, kFloat)), (Doubles{1, 3}));
  const Tensor half = elements({1, 2049}, kHalf).requires_grad_();  // 2048 in f16
  const Tensor y = cumsum(half, 0, kDouble);
  EXPECT_EQ(elements(y), (Doubles{1, 2049}));
  y.backward(elements({1, 0x1p-20}));
  EXPECT_EQ(half.grad().dtype(), kHalf);
  EXPECT_EQ(elements(half.grad()), (Doubles{1, 0x1p-20}));
}

// Above 1 / roundoff only even integers exist: adding 1 would not change a rounded partial sum.
TEST_P(CumSum, RoundsEachPartialSumOnce) {
  for (const DType dtype : {kFloat, kHalf, kBFloat16}) {
    const double large = 1 / roundoff(dtype);
    EXPECT_EQ(elements(cumsum(elements({large, 1, 1, 1, 1, -large}, dtype), 0)),
              (Doubles{large, large, large + 2, large + 4, large + 4, 4}))
        << name(dtype);
  }
}

TEST_P(CumSum, WrapsAroundForIntegers) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const Tensor y = cumsum(tensor({kLargest, std::int64_t{1}, kLargest}).to(device()), 0);
  EXPECT_EQ(y.to_vector<std::int64_t>(), (std::vector<std::int64_t>{kLargest, -kLargest - 1, -1}));
}

TEST_P(CumSum, SumsAlongAnyDimensionOfAnyView) {
  const Tensor x = arange(24).reshape({2, 3, 4}).to(device());
  EXPECT_EQ(elements(cumsum(x, 0).slice(0, 1)),
            (Doubles{12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34}));
  EXPECT_EQ(elements(cumsum(x, 1)[1]), (Doubles{12, 13, 14, 15, 28, 30, 32, 34, 48, 51, 54, 57}));
  EXPECT_EQ(elements(cumsum(x, -1)[0]), (Doubles{0, 1, 3, 6, 4, 9, 15, 22, 8, 17, 27, 38}));
  const Tensor part = x.transpose(0, 2).slice(0, 1, 4, 2);  // [2, 3, 2]
  EXPECT_EQ(elements(cumsum(part, 1)), (Doubles{1, 13, 6, 30, 15, 51, 3, 15, 10, 34, 21, 57}));
  const Tensor repeated = tensor(1.0, in(kFloat)).expand({3});
  EXPECT_EQ(elements(cumsum(repeated, 0)), (Doubles{1, 2, 3}));
}

TEST_P(CumSum, SumsManyRows) {
  for (const std::int64_t inner : {1, 31, 32, 33, 100}) {
    const Tensor x = randint(10, {3, 50, inner}).to(device());
    const Tensor y = cumsum(x, 1);
    Tensor total = zeros_like(x.select(1, 0));
    for (int i = 0; i < 50; ++i) {
      total = total + x.select(1, i);
      ASSERT_TRUE(equal(y.select(1, i), total)) << inner << ' ' << i;
    }
  }
}

TEST_P(CumSum, AcceptsZeroAndOneElements) {
  EXPECT_EQ(cumsum(zeros({0, 3}, in(kFloat)), 0).sizes(), (Shape{0, 3}));
  EXPECT_EQ(cumsum(zeros({2, 0}, in(kBool)), 1).dtype(), kLong);
  const Tensor one = tensor(7.0, in(kDouble)).requires_grad_();
  const Tensor y = cumsum(one, -1);
  EXPECT_EQ(y.sizes(), Shape());
  EXPECT_EQ(y.item(), 7);
  y.backward();
  EXPECT_EQ(one.grad().item(), 1);
  EXPECT_THROW(cumsum(one, 1), std::out_of_range);
  EXPECT_THROW(cumsum(elements({1}), -2), std::out_of_range);
}

TEST_P(CumSum, GradientSumsFromTheOtherEnd) {
  const Tensor x = elements({1, 2, 3}).requires_grad_();
  cumsum(x, 0).backward(elements({100, 10, 1}));
  EXPECT_EQ(elements(x.grad()), (Doubles{111, 11, 1}));
  const Tensor y = random_tensor({3, 4, 2}, -2, 2, {.seed = 1}).to(device()).requires_grad_();
  const auto f = [](const std::vector<Tensor>& at) {
    return std::vector<Tensor>{cumsum(at[0].square(), 1), cumsum(at[0], -1).square()};
  };
  EXPECT_TRUE(autograd::gradcheck(f, {y}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {y}));
}

TEST(CumSumByThreads, IsTheSameForAnyNumberOfThreads) {
  const int before = get_num_threads();
  const Tensor x = randn({300, 500});
  for (const std::int64_t dim : {0, 1}) {
    const auto run = [&](int threads) {
      set_num_threads(threads);
      return elements(cumsum(x, dim));
    };
    EXPECT_EQ(run(1), run(3)) << dim;
  }
  set_num_threads(before);
}

using CumSumOnCuda = OnCuda;

TEST_F(CumSumOnCuda, GivesTheBitsOfTheCpuWithoutWaiting) {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    const Tensor x = randn({40, 300}, {.dtype = dtype});
    const Tensor there = x.to(kCUDA);
    for (const std::int64_t dim : {0, 1}) {
      const auto waits = cuda::host_waits();
      const Tensor y = cumsum(there, dim);
      EXPECT_EQ(cuda::host_waits(), waits);
      EXPECT_EQ(elements(y), elements(cumsum(x, dim))) << name(dtype);
    }
  }
}

}  // namespace
}  // namespace halfgrad
