#include <cmath>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Expected values are PyTorch's.
namespace halfgrad {
namespace {

using Sort = TensorsOnDevice;
HALFGRAD_ON_DEVICES(Sort);

TEST_P(Sort, GivesValuesAndIndicesInEveryDType) {
  for (const DType dtype : kAllDTypes) {
    const bool is_bool = dtype == kBool;
    const Tensor x = elements({3, 1, 2, 1, 0}, dtype);
    const auto [values, indices] = sort(x);
    EXPECT_EQ(values.dtype(), dtype);
    EXPECT_EQ(indices.dtype(), kLong);
    EXPECT_EQ(elements(values), is_bool ? (Doubles{0, 1, 1, 1, 1}) : (Doubles{0, 1, 1, 2, 3}));
    EXPECT_EQ(elements(indices), is_bool ? (Doubles{4, 0, 1, 2, 3}) : (Doubles{4, 1, 3, 2, 0}));
    EXPECT_EQ(elements(argsort(x, -1, true)),
              is_bool ? (Doubles{0, 1, 2, 3, 4}) : (Doubles{0, 2, 1, 3, 4}));
  }
}

TEST_P(Sort, MovesBitsSoThatZerosKeepTheirSigns) {
  const Tensor x = elements({kNan, 1, -0.0, 0, kInf, -kInf});
  const auto [down, down_at] = sort(x, 0, true);
  expect_values(down.cpu(), {kNan, kInf, 1, -0.0, 0, -kInf});
  EXPECT_EQ(elements(down_at), (Doubles{0, 4, 1, 2, 3, 5}));
  const auto [up, up_at] = sort(x);
  expect_values(up.cpu(), {-kInf, -0.0, 0, 1, kInf, kNan});
  EXPECT_EQ(elements(up_at), (Doubles{5, 2, 3, 1, 4, 0}));
  EXPECT_TRUE(std::signbit(elements(up)[1]) && !std::signbit(elements(up)[2]));
}

TEST_P(Sort, SortsAlongAnyDimensionOfAnyView) {
  const Tensor x = tensor({{{5, 2}, {1, 9}, {4, 0}}, {{3, 3}, {8, 1}, {7, 6}}}).to(device());
  EXPECT_EQ(elements(argsort(x, 1)), (Doubles{1, 2, 2, 0, 0, 1, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(elements(std::get<0>(sort(x, 0))), (Doubles{3, 2, 1, 1, 4, 0, 5, 3, 8, 9, 7, 6}));
  const Tensor turned = x.transpose(0, 2).slice(0, 1);  // [1, 3, 2]: {2, 3}, {9, 1}, {0, 6}
  EXPECT_EQ(elements(std::get<0>(sort(turned, 1))), (Doubles{0, 1, 2, 3, 9, 6}));
  EXPECT_EQ(elements(std::get<1>(sort(turned, -1, true))), (Doubles{1, 0, 0, 1, 1, 0}));
  const Tensor repeated = elements({2, 1}).expand({3, 2});
  EXPECT_EQ(elements(argsort(repeated, 0)), (Doubles{0, 0, 1, 1, 2, 2}));
  EXPECT_TRUE(argsort(x, 0).is_contiguous());
}

TEST_P(Sort, AcceptsZeroAndOneElements) {
  const auto [values, indices] = sort(zeros({2, 0, 3}, in(kFloat)), 1);
  EXPECT_EQ(values.sizes(), (Shape{2, 0, 3}));
  EXPECT_EQ(indices.sizes(), (Shape{2, 0, 3}));
  EXPECT_EQ(argsort(zeros({0, 3}, in(kFloat)), 1).sizes(), (Shape{0, 3}));
  const Tensor one = tensor(7.0, in(kDouble)).requires_grad_();
  const auto [value, index] = sort(one, -1, true);
  EXPECT_EQ(value.item(), 7);
  EXPECT_EQ(index.item<std::int64_t>(), 0);
  EXPECT_EQ(index.sizes(), Shape());
  value.backward();
  EXPECT_EQ(one.grad().item(), 1);
  EXPECT_EQ(std::get<0>(topk(one, 1, 0)).item(), 7);
}

TEST_P(Sort, IsAlwaysStable) {
  const Tensor x = tensor({{1, 0}, {1, 1}, {0, 1}}).to(device());
  for (const bool stable : {false, true}) {
    EXPECT_EQ(elements(std::get<1>(sort(x, stable, 0, true))), (Doubles{0, 1, 1, 2, 2, 0}));
    EXPECT_EQ(elements(std::get<1>(x.sort(stable, 0))), (Doubles{2, 0, 0, 1, 1, 2}));
    EXPECT_EQ(elements(argsort(x, stable, 0)), elements(x.argsort(stable, 0)));
    EXPECT_EQ(elements(argsort(x, stable)), (Doubles{1, 0, 0, 1, 0, 1})) << "the last dimension";
  }
}

TEST_P(Sort, TopKIsTheBeginningOfSort) {
  const Tensor x = tensor({{4.0, kNan, 4.0, 1.0}, {0.0, -1.0, 5.0, -0.0}}, in(kFloat));
  const auto [largest, largest_at] = topk(x, 3);
  expect_values(largest.cpu().flatten(), {kNan, 4, 4, 5, 0, 0});
  EXPECT_EQ(elements(largest_at), (Doubles{1, 0, 2, 2, 0, 3}));
  const auto [smallest, smallest_at] = topk(x, 1, 0, false, false);
  EXPECT_EQ(smallest.sizes(), (Shape{1, 4}));
  EXPECT_EQ(elements(smallest), (Doubles{0, -1, 4, 0}));
  EXPECT_EQ(elements(smallest_at), (Doubles{1, 1, 0, 1}));
  EXPECT_EQ(std::get<0>(topk(x, 0)).sizes(), (Shape{2, 0}));
  EXPECT_EQ(elements(std::get<1>(topk(x, 4, -1, false))), elements(argsort(x)));
}

TEST_P(Sort, GradientsReachTheElementsThatWereSorted) {
  const Tensor x = elements({3, 1, 2}).requires_grad_();
  const auto [values, indices] = sort(x);
  EXPECT_FALSE(indices.requires_grad());
  values.backward(elements({10, 20, 30}));
  EXPECT_EQ(elements(x.grad()), (Doubles{30, 10, 20}));
  const Tensor y = random_tensor({3, 4}, -2, 2, {.seed = 1}).to(device()).requires_grad_();
  const auto f = [](const std::vector<Tensor>& at) {
    return std::vector<Tensor>{std::get<0>(sort(at[0], 0, true)).square(),
                               std::get<0>(topk(at[0], 2)).square()};
  };
  EXPECT_TRUE(autograd::gradcheck(f, {y}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {y}));
}

TEST_P(Sort, RefusesDimensionsAndCountsOutOfRange) {
  const Tensor x = ones({2, 3}, in(kFloat));
  const auto no_dim = [](const char* op) {
    return message_of([&] { static_cast<void>(wrap_dim(2, 2, op)); });
  };
  EXPECT_EQ(message_of<std::out_of_range>([&] { sort(x, 2); }), no_dim("sort"));
  EXPECT_EQ(message_of<std::out_of_range>([&] { argsort(x, 2); }), no_dim("argsort"));
  EXPECT_EQ(message_of<std::out_of_range>([&] { topk(x, 1, 2); }), no_dim("topk"));
  EXPECT_THROW(sort(sum(x), 1), std::out_of_range);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { topk(x, 4, -1); }),
            "topk: expected k >= 0 and at most the size 3 of dimension -1, got 4");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { topk(x, -1, 0); }),
            "topk: expected k >= 0 and at most the size 2 of dimension 0, got -1");
  EXPECT_THROW(topk(sum(x), 2), std::invalid_argument);
}

TEST(SortByThreads, IsTheSameForAnyNumberOfThreads) {
  const int before = get_num_threads();
  const Tensor x = randn({300, 100}).to(kHalf);
  std::vector<Doubles> orders;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    orders.push_back(elements(argsort(x, 0)));
  }
  set_num_threads(before);
  EXPECT_EQ(orders[0], orders[1]);
}

using SortOnCuda = OnCuda;

TEST_F(SortOnCuda, GivesTheBitsOfTheCpuWithoutWaiting) {
  for (const DType dtype : kAllDTypes) {
    const Tensor x = (randn({40, 300}) * 10).to(dtype);
    const Tensor there = x.to(kCUDA);
    const auto waits = cuda::host_waits();
    const auto [values, indices] = sort(there, 0, true);
    const auto [top, top_at] = topk(there, 7);
    EXPECT_EQ(cuda::host_waits(), waits);
    EXPECT_EQ(elements(values), elements(std::get<0>(sort(x, 0, true)))) << name(dtype);
    EXPECT_EQ(elements(indices), elements(argsort(x, 0, true))) << name(dtype);
    EXPECT_EQ(elements(top_at), elements(std::get<1>(topk(x, 7)))) << name(dtype);
    EXPECT_EQ(elements(top), elements(std::get<0>(topk(x, 7)))) << name(dtype);
  }
}

}  // namespace
}  // namespace halfgrad
