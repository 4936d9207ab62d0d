#include <halfgrad/autograd/creation.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

class Creation : public TensorsOnDevice {
 protected:
  CreationOptions there() const { return {.device = device()}; }
};
HALFGRAD_ON_DEVICES(Creation);

TEST_P(Creation, FillsWithConstants) {
  EXPECT_EQ(elements(zeros({2, 2}, there())), Doubles(4, 0));
  EXPECT_EQ(elements(ones({3}, there())), Doubles(3, 1));
  EXPECT_EQ(elements(full({2}, 2.5, there())), Doubles(2, 2.5));
  EXPECT_EQ(empty({2, 3}, there()).sizes(), (Shape{2, 3}));
  EXPECT_EQ(zeros({}, there()).dim(), 0);
  EXPECT_EQ(zeros({0, 3}, there()).numel(), 0);
}

TEST(CreationOnCpu, ChoosesPyTorchsDTypes) {
  const Tensor like = zeros({2}, {.dtype = kBFloat16});
  const std::pair<Tensor, DType> cases[] = {
      {zeros({1}), kFloat},
      {empty({1}), kFloat},
      {full({1}, 1.0), kFloat},
      {full({1}, 1), kLong},
      {full({1}, true), kBool},
      {arange(3), kLong},
      {arange(3.0), kFloat},
      {arange(0, 3, 0.5), kFloat},
      {linspace(0, 1, 3), kFloat},
      {eye(2), kFloat},
      {rand({1}), kFloat},
      {randn({1}), kFloat},
      {randint(3, {1}), kLong},
      {randperm(3), kLong},
      {tensor(1), kLong},
      {tensor(1.5), kFloat},
      {tensor(true), kBool},
      {tensor({1, 2}), kLong},
      {tensor({1.5, 2.0}), kFloat},
      {tensor({true, false}), kBool},
      {tensor(Doubles{1.5}), kFloat},
      {tensor(Doubles{1.5}, {1, 1}), kFloat},
      {tensor(Doubles{1.5}, {.dtype = kDouble}), kDouble},
      {tensor(std::vector<float>{1.5f}), kFloat},
      {tensor(std::vector<int>{1}), kLong},
      {tensor(std::vector<long long>{1}), kLong},
      {tensor(std::vector<unsigned>{1}), kLong},
      {tensor(std::vector<std::int64_t>{1}), kLong},
      {tensor(std::vector<std::uint8_t>{1}), kByte},
      {tensor(std::uint8_t{1}), kByte},
      {tensor(std::vector<bool>{true}), kBool},
      {tensor(std::vector<Half>{Half(1.5f)}), kHalf},
      {tensor(std::vector<BFloat16>{BFloat16(1.5f)}), kBFloat16},
      {tensor(2.5f), kFloat},
      {tensor({1.5f}), kFloat},
      {zeros_like(like), kBFloat16},
      {empty_like(like), kBFloat16},
      {ones_like(like), kBFloat16},
      {full_like(like, 1), kBFloat16},
      {rand_like(like), kBFloat16},
      {randn_like(like), kBFloat16},
      {randn_like(like, {.dtype = kHalf}), kHalf},
      {randn({2, 3}, {.dtype = kHalf}), kHalf},
      {randint(3, {1}, {.dtype = kFloat}), kFloat},
      {arange(3, {.dtype = kHalf}), kHalf},
  };
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    EXPECT_EQ(cases[i].first.dtype(), cases[i].second) << "case " << i;
  }
}

TEST(CreationOnCpu, TakesADTypeOrADeviceAsOptions) {
  const Tensor tensors[] = {empty({2}, kHalf),
                            zeros({2}, kHalf),
                            ones({2}, kHalf),
                            full({2}, 1, kHalf),
                            arange(2, kHalf),
                            arange(0, 2, kHalf),
                            arange(0, 2, 1, kHalf),
                            linspace(0, 1, 2, kHalf),
                            eye(2, kHalf),
                            rand({2}, kHalf),
                            randn({2}, kHalf),
                            randint(3, {2}, kHalf),
                            randint(1, 3, {2}, kHalf),
                            randperm(2, kHalf),
                            tensor(1, kHalf),
                            tensor({1, 2}, kHalf),
                            tensor({{1, 2}}, kHalf),
                            eye(2, 3, kHalf),
                            tensor(Doubles{1, 2}, kHalf),
                            tensor(Doubles{1, 2}, {1, 2}, kHalf),
                            empty_like(eye(2), kHalf),
                            zeros_like(eye(2), kHalf),
                            ones_like(eye(2), kHalf),
                            full_like(eye(2), 1, kHalf),
                            rand_like(eye(2), kHalf),
                            randn_like(eye(2), kHalf)};
  for (std::size_t i = 0; i < std::size(tensors); ++i) {
    EXPECT_EQ(tensors[i].dtype(), kHalf) << "case " << i;
  }
  const Device second(kCPU, 1);
  EXPECT_EQ(zeros({2}, second).device(), second);
  EXPECT_EQ(zeros({2}, kCPU).device(), Device());
  EXPECT_EQ(zeros({2}, {}).dtype(), kFloat);
  EXPECT_EQ(arange(5, {}).dtype(), kLong);
}

TEST(CreationOnCpu, TakesDTypeAndDeviceOfAnotherTensorByDefault) {
  const Device second(kCPU, 1);
  const Tensor x = ones({3}, {.dtype = kBFloat16, .device = second, .requires_grad = true});
  EXPECT_EQ(elements(x.new_zeros({2, 2})), Doubles(4, 0));
  EXPECT_EQ(elements(x.new_ones({})), Doubles{1});
  EXPECT_EQ(elements(x.new_full({2}, 2.5)), Doubles(2, 2.5));
  EXPECT_EQ(x.new_empty({0, 3}).sizes(), (Shape{0, 3}));
  const Tensor plain[] = {x.new_empty({2}), x.new_zeros({2}), x.new_ones({2}), x.new_full({2}, 1)};
  const Tensor halves[] = {x.new_empty({2}, kHalf), x.new_zeros({2}, kHalf), x.new_ones({2}, kHalf),
                           x.new_full({2}, 1, kHalf)};
  const Tensor here[] = {x.new_empty({2}, kCPU), x.new_zeros({2}, kCPU), x.new_ones({2}, kCPU),
                         x.new_full({2}, 1, kCPU)};
  for (std::size_t i = 0; i < std::size(plain); ++i) {
    EXPECT_EQ(plain[i].dtype(), kBFloat16) << i;
    EXPECT_EQ(plain[i].device(), second) << i;
    EXPECT_FALSE(plain[i].requires_grad()) << i;
    EXPECT_EQ(halves[i].dtype(), kHalf) << i;
    EXPECT_EQ(halves[i].device(), second) << i;
    EXPECT_EQ(here[i].dtype(), kBFloat16) << i;
    EXPECT_EQ(here[i].device(), Device(kCPU)) << i;
  }
  EXPECT_TRUE(x.new_zeros({2}, {.dtype = kFloat, .requires_grad = true}).requires_grad());
  EXPECT_EQ(tensor({true}).new_ones({1}).dtype(), kBool);
  EXPECT_EQ(elements(tensor({1}).new_full({1}, 2.5)), Doubles{2});
  EXPECT_THROW(x.new_full({2}, 1e6, kHalf), std::invalid_argument);
}

TEST(CreationOnCpu, SetsRequiresGrad) {
  const Tensor x = randn({2, 3}, {.requires_grad = true});
  EXPECT_TRUE(x.requires_grad());
  EXPECT_TRUE(x.is_leaf());
  EXPECT_FALSE(zeros_like(x).requires_grad());
  EXPECT_TRUE(zeros_like(x, {.requires_grad = true}).requires_grad());
  EXPECT_THROW(tensor({1, 2}, {.requires_grad = true}), std::invalid_argument);
}

TEST_P(Creation, CountsAsNumPyDoes) {
  EXPECT_EQ(elements(arange(4, there())), (Doubles{0, 1, 2, 3}));
  EXPECT_EQ(elements(arange(1, 7, 2, there())), (Doubles{1, 3, 5}));
  EXPECT_EQ(elements(arange(3, 0, -1, there())), (Doubles{3, 2, 1}));
  EXPECT_EQ(elements(arange(0, 1, 0.25, there())), (Doubles{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(arange(2, 2, there()).numel(), 0);
  EXPECT_THROW(arange(0, 3, 0, there()), std::invalid_argument);
  EXPECT_THROW(arange(0, 3, -1, there()), std::invalid_argument);
  EXPECT_EQ(elements(linspace(0, 1, 5, there())), (Doubles{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(elements(linspace(2, 9, 1, there())), (Doubles{2}));
  EXPECT_EQ(linspace(0, 0.1, 7, in(kDouble)).select(0, -1).item<double>(), 0.1);
  EXPECT_EQ(linspace(0, 1, 0, there()).numel(), 0);
  EXPECT_EQ(elements(eye(2, 3, there())), (Doubles{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(elements(eye(2, there())), (Doubles{1, 0, 0, 1}));
}

TEST_P(Creation, RoundsEachStepOnce) {
  constexpr std::int64_t kSteps = 1000;
  const std::vector<double> counted = elements(arange(0.3, 0.3 + kSteps * 0.1, 0.1, in(kDouble)));
  const std::vector<double> between = elements(linspace(0.3, 7.7, kSteps, in(kDouble)));
  ASSERT_GE(counted.size(), std::size_t{kSteps});
  for (std::int64_t i = 0; i < kSteps; ++i) {
    volatile double product = static_cast<double>(i) * 0.1;  // no fused multiply-add
    EXPECT_EQ(counted[i], 0.3 + product) << i;
    const bool is_near_start = i <= (kSteps - 1) / 2;
    const double step = (7.7 - 0.3) / (kSteps - 1);
    product = step * static_cast<double>(is_near_start ? i : kSteps - 1 - i);
    EXPECT_EQ(between[i], is_near_start ? 0.3 + product : 7.7 - product) << i;
  }
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(arange(most - 5, most, 4, in(kLong)).select(0, 1).item<std::int64_t>(), most - 1);
}

TEST(CreationOnCpu, TakesNestedLists) {
  EXPECT_EQ(tensor(7).sizes(), Shape{});
  EXPECT_EQ(tensor({1, 2, 3}).sizes(), Shape{3});
  EXPECT_EQ(tensor({{1, 2, 3}, {4, 5, 6}}).sizes(), (Shape{2, 3}));
  EXPECT_EQ(elements(tensor({{1, 2, 3}, {4, 5, 6}})), (Doubles{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tensor({{{1.0}, {2.0}}}).sizes(), (Shape{1, 2, 1}));
  EXPECT_THROW(tensor({{1, 2}, {3}}), std::invalid_argument);
  EXPECT_EQ(elements(tensor({1.5, 0.1}, {.dtype = kDouble})), (Doubles{1.5, 0.1}));
}

TEST(CreationOnCpu, CopiesTheCallersValues) {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  const Tensor a = tensor(std::span<const float>(values), {2, 3});
  const Tensor b = tensor(values, {3, 2}, {.dtype = kHalf});
  values[0] = 9;
  EXPECT_EQ(elements(a), (Doubles{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(b.dtype(), kHalf);
  EXPECT_EQ(b.sizes(), (Shape{3, 2}));
  EXPECT_EQ(tensor(values).sizes(), Shape{6});
  EXPECT_THROW(tensor(values, {2, 2}), std::invalid_argument);
  EXPECT_EQ(tensor(std::vector<float>{}).sizes(), Shape{0});
  EXPECT_EQ(tensor(Doubles{0.1}).item(), static_cast<double>(0.1f));
  EXPECT_EQ(tensor(Doubles{0.1}, kDouble).item(), 0.1);
  EXPECT_EQ(elements(tensor(std::vector<bool>{true, false, true})), (Doubles{1, 0, 1}));
  EXPECT_EQ(elements(tensor(std::vector<bool>{true, false}, {2, 1}, kHalf)), (Doubles{1, 0}));
  EXPECT_EQ(elements(tensor(std::vector<unsigned>{4294967295U})), Doubles{4294967295});
  EXPECT_THROW(tensor(std::vector<std::uint64_t>{1ULL << 63}), std::invalid_argument);
}

TEST_P(Creation, RepeatsRandomNumbersFromASeed) {
  const auto draw = [this] {
    manual_seed(11);
    const Tensor drawn[] = {rand({5}, there()), randn({5}, there()),
                            randint(2, 9, {5}, there()).to(kFloat),
                            randperm(5, there()).to(kFloat)};
    return cat({drawn[0], drawn[1], drawn[2], drawn[3]});
  };
  const Doubles first = elements(draw());
  EXPECT_EQ(elements(draw()), first);
  manual_seed(12);
  EXPECT_NE(elements(rand({5}, there())), Doubles(first.begin(), first.begin() + 5));
}

TEST_P(Creation, DrawsIntegersInTheirRange) {
  const Doubles drawn = elements(randint(-1, 2, {200}, there()));
  EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()), (std::set<double>{-1, 0, 1}));
  EXPECT_THROW(randint(0, {2}, there()), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
