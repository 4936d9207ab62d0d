#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/thread_pool.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

class Reductions : public TensorsOnDevice {};
HALFGRAD_ON_DEVICES(Reductions);
using BatchNorm = Reductions;
HALFGRAD_ON_DEVICES(BatchNorm);

std::vector<double> gradient_of(const Tensor& y, const Tensor& x) {
  return autograd::grad({y}, {x})[0].to_vector<double>();
}

TEST_P(Reductions, ResultTypesOfIntegers) {
  const Tensor x = tensor({2, 3}, in(kInt));
  EXPECT_EQ(sum(x).dtype(), DType::i64);
  EXPECT_EQ(prod(x).dtype(), DType::i64);
  EXPECT_EQ(prod(x).item(), 6);
  EXPECT_THROW(mean(x), std::invalid_argument);
  EXPECT_EQ(mean(x, kFloat).item(), 2.5);
  EXPECT_THROW(var(x), std::invalid_argument);
}

TEST_P(Reductions, MaxSplitsTheGradientOfTiesAndMaxAlongADimensionGivesItToTheFirst) {
  const Tensor x = tensor({1.0, 3.0, 3.0, 2.0}, in(kDouble)).requires_grad_();
  EXPECT_EQ(gradient_of(max(x), x), (std::vector{0.0, 0.5, 0.5, 0.0}));
  const auto [value, index] = max(x, 0);
  EXPECT_EQ(index.item<std::int64_t>(), 1);
  EXPECT_EQ(gradient_of(value, x), (std::vector{0.0, 1.0, 0.0, 0.0}));
}

TEST_P(Reductions, NanIsTheLargestAndTheSmallest) {
  const Tensor x = tensor({1.0, kNan, 3.0, kNan}, in(kDouble));
  EXPECT_TRUE(std::isnan(max(x).item()));
  EXPECT_TRUE(std::isnan(min(x).item()));
  EXPECT_EQ(argmax(x).item(), 1);
  EXPECT_EQ(argmin(x).item(), 1);
}

TEST(ReductionsByThreads, ArgmaxIsTheSameForAnyNumberOfThreads) {
  const int before = get_num_threads();
  const Tensor x = random_leaf({300, 500}, 1);
  for (const std::int64_t dim : {0, 1}) {
    const auto run = [&](int threads) {
      set_num_threads(threads);
      return argmax(x, dim).to_vector<std::int64_t>();
    };
    EXPECT_EQ(run(1), run(2)) << dim;
  }
  set_num_threads(before);
}

TEST_P(Reductions, ProductsWithZerosHaveTheGradientOfTheOthers) {
  const Tensor one = tensor({2.0, 0.0, 3.0}, in(kDouble)).requires_grad_();
  EXPECT_EQ(gradient_of(prod(one), one), (std::vector{0.0, 6.0, 0.0}));
  const Tensor two = tensor({0.0, 0.0, 3.0}, in(kDouble)).requires_grad_();
  EXPECT_EQ(gradient_of(prod(two), two), (std::vector{0.0, 0.0, 0.0}));
  const auto product = [](const std::vector<Tensor>& at) { return prod(at[0]); };
  EXPECT_TRUE(autograd::gradgradcheck(product, {one}));
}

TEST_P(Reductions, NormsHaveNoGradientAtZero) {
  const Tensor x = tensor({0.0, 0.0}, in(kDouble)).requires_grad_();
  for (const double p : {0.0, 1.0, 1.5, 2.0, 3.0, kInf}) {
    EXPECT_EQ(gradient_of(norm(x, p), x), (std::vector{0.0, 0.0})) << p;
  }
}

TEST_P(Reductions, LogSumExpOfInfinities) {
  const Tensor x = tensor({{-kInf, -kInf}, {kInf, 1.0}, {-kInf, 2.0}}, in(kDouble));
  EXPECT_EQ(logsumexp(x, {1}).to_vector<double>(), (std::vector{-kInf, kInf, 2.0}));
  const Tensor low = tensor({-kInf, -kInf}, in(kDouble)).requires_grad_();
  EXPECT_EQ(gradient_of(logsumexp(low, {0}), low), (std::vector{0.0, 0.0}));
}

TEST_P(Reductions, AcceptEmptyTensorsOrThrow) {
  const Tensor x = zeros({0, 3}, in(kFloat));
  EXPECT_EQ(prod(x).item(), 1);
  EXPECT_TRUE(std::isnan(mean(x).item()));
  EXPECT_TRUE(all(x).item<bool>());
  EXPECT_FALSE(any(x).item<bool>());
  EXPECT_THROW(max(x), std::invalid_argument);
  EXPECT_THROW(argmax(x, 0), std::invalid_argument);
  EXPECT_EQ(softmax(x, 0).sizes(), x.sizes());
}

// sum_i (x_i - mean)^2 / (n - correction), in long double
double variance_by_hand(const Doubles& x, double correction) {
  long double mean = 0, squares = 0;
  for (const double each : x) mean += each;
  mean /= static_cast<long double>(x.size());
  for (const double each : x) squares += (each - mean) * (each - mean);
  return static_cast<double>(squares / (static_cast<long double>(x.size()) - correction));
}

TEST_P(Reductions, VarianceTakesAnyCorrection) {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    const Tensor x = random_tensor({3, 7}, -2, 2, {.seed = 1}).to(dtype).to(device());
    const Tensor rows = x.to(kDouble).cpu();
    for (const Scalar correction : {Scalar(0), Scalar(2), Scalar(0.5), Scalar(-3), Scalar(6.75)}) {
      const Tensor all = var(x, {}, correction), root = std(x, {}, correction);
      EXPECT_EQ(all.dtype(), dtype);
      const double expected = variance_by_hand(elements(rows), correction.to<double>());
      EXPECT_NEAR(all.item(), expected, 8 * roundoff(dtype) * expected);
      EXPECT_NEAR(root.item(), std::sqrt(expected), 8 * roundoff(dtype) * std::sqrt(expected));
      const Tensor along = var(x, 1, correction, true);
      EXPECT_EQ(along.sizes(), (Shape{3, 1}));
      for (int i = 0; i < 3; ++i) {
        const double row = variance_by_hand(elements(rows[i]), correction.to<double>());
        EXPECT_NEAR(along[i].item(), row, 8 * roundoff(dtype) * row);
      }
    }
    EXPECT_EQ(elements(var(x, 1, std::nullopt)), elements(var(x, 1, true)));
    EXPECT_EQ(elements(x.std({0}, 0)), elements(x.std(0, false)));
    EXPECT_EQ(elements(x.var(0, 2)), elements(var(x, {0}, 2)));
  }
}

TEST_P(Reductions, VarianceWithoutDegreesOfFreedomIsInfiniteOrNaN) {
  const Tensor x = tensor({{0.0, 1.0, 2.0}, {3.0, 3.0, 3.0}}, in(kFloat));
  for (const double correction : {3.0, 3.5, 7.0}) {
    expect_values(var(x, 1, correction).cpu(), {kInf, kNan});
    expect_values(std(x, 1, correction).cpu(), {kInf, kNan});
  }
  expect_values(var(zeros({2, 0}, in(kFloat)), 1, 0).cpu(), {kNan, kNan});
  EXPECT_EQ(var(zeros({0, 2}, in(kFloat)), 1, 2).sizes(), Shape{0});
  EXPECT_EQ(std(tensor(5.0, in(kFloat)), {}, 0).item(), 0);
}

TEST_P(Reductions, VarianceWithACorrectionHasTheGradientOfFiniteDifferences) {
  const Tensor x = random_tensor({3, 4}, -2, 2, {.seed = 1}).to(device()).requires_grad_();
  const auto spreads = [](const std::vector<Tensor>& at) {
    return std::vector<Tensor>{var(at[0], 1, 2.5), std(at[0], {}, -1), std(at[0], 0, 2, true)};
  };
  EXPECT_TRUE(autograd::gradcheck(spreads, {x}));
  EXPECT_TRUE(autograd::gradgradcheck(spreads, {x}));
}

TEST_P(BatchNorm, UpdatesRunningStatisticsInPlace) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 6.0}}, in(kDouble));
  const Tensor mu = zeros({2}, in(kDouble));
  const Tensor variance = ones({2}, in(kDouble));
  batch_norm(x, {}, {}, mu, variance, true, 0.5);
  EXPECT_EQ(mu.to_vector<double>(), (std::vector{1.0, 2.0}));
  EXPECT_EQ(variance.to_vector<double>(), (std::vector{1.5, 4.5}));
  const Tensor y = batch_norm(x, {}, {}, mu, variance, false, 0.5, 0);
  EXPECT_EQ(y.to_vector<double>()[1], 0);
  EXPECT_THROW(batch_norm(x, {}, {}, {}, {}, false), std::invalid_argument);
  EXPECT_THROW(batch_norm(x.slice(0, 0, 1), {}, {}, {}, {}, true), std::invalid_argument);
}

TEST(LayerNorm, FusedAndComposedGradientsAgree) {
  const std::vector<Tensor> in{random_leaf({4, 9}, 1), random_leaf({9}, 2), random_leaf({9}, 3)};
  const Tensor loss = weighted_sum(layer_norm(in[0], {9}, in[1], in[2]));
  const auto composed = autograd::grad({loss}, in, {}, {.create_graph = true});
  const auto fused = autograd::grad({loss}, in);
  for (std::size_t k = 0; k < in.size(); ++k) {
    const std::vector<double> a = fused[k].to_vector<double>();
    const std::vector<double> b = composed[k].to_vector<double>();
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 64 * roundoff(kDouble));
  }
}

}  // namespace
}  // namespace halfgrad
