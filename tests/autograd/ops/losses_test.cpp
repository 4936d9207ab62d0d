#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/thread_pool.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

const std::vector<std::int64_t> kClasses{2, 0, -100, 1, 2};

class CrossEntropy : public TensorsOnDevice {
 protected:
  Tensor random_leaf(const Shape& sizes, std::uint64_t stream) const {
    return halfgrad::random_leaf(sizes, stream).detach().to(device()).requires_grad_();
  }
  Tensor classes() const { return tensor(kClasses, {5}, in(kLong)); }
};
using NllLoss = CrossEntropy;
using BinaryCrossEntropy = CrossEntropy;
using Losses = CrossEntropy;
HALFGRAD_ON_DEVICES(CrossEntropy);
HALFGRAD_ON_DEVICES(NllLoss);
HALFGRAD_ON_DEVICES(BinaryCrossEntropy);
HALFGRAD_ON_DEVICES(Losses);

TEST_P(CrossEntropy, IgnoredRowsDoNotCount) {
  const Tensor x = random_leaf({5, 3}, 1);
  const Tensor kept = tensor({0, 1, 3, 4}, in(kLong));
  const Tensor others = tensor({2, 0, 1, 2}, in(kLong));
  for (const double smoothing : {0.0, 0.1}) {
    const Tensor loss = cross_entropy(x, classes(), {.label_smoothing = smoothing});
    const Tensor expected =
        cross_entropy(index_select(x, 0, kept), others, {.label_smoothing = smoothing});
    EXPECT_NEAR(loss.item(), expected.item(), 16 * roundoff(kDouble));
    const Tensor gradient = autograd::grad({loss}, {x})[0];
    EXPECT_EQ(gradient[2].to_vector<double>(), std::vector<double>(3, 0.0));
  }
}

TEST_P(CrossEntropy, IsNanWithZeroGradientWhenAllAreIgnored) {
  const Tensor x = random_leaf({2, 3}, 1);
  const Tensor loss = cross_entropy(x, tensor({-100, -100}, in(kLong)));
  EXPECT_TRUE(std::isnan(loss.item()));
  EXPECT_EQ(autograd::grad({loss}, {x})[0].to_vector<double>(), std::vector<double>(6, 0.0));
}

TEST(CrossEntropyOnCpu, RefusesWrongTargets) {
  const Tensor x = random_leaf({2, 3}, 1);
  EXPECT_THROW(cross_entropy(x, tensor({0, 3}, {.dtype = DType::i64})), std::out_of_range);
  EXPECT_THROW(cross_entropy(x, tensor({0, -1}, {.dtype = DType::i64})), std::out_of_range);
  EXPECT_THROW(cross_entropy(x, tensor({0}, {.dtype = DType::i64})), std::invalid_argument);
  EXPECT_THROW(cross_entropy(x, tensor({0, 1}, {.dtype = DType::i32})), std::invalid_argument);
  EXPECT_THROW(cross_entropy(x, random_leaf({2, 2}, 2)), std::invalid_argument);
  const Tensor right = tensor({0, 1}, {.dtype = DType::i64});
  EXPECT_THROW(cross_entropy(x, right, {.label_smoothing = 2}), std::invalid_argument);
}

TEST_P(CrossEntropy, FusedAndComposedGradientsAgree) {
  const Tensor x = random_leaf({5, 3}, 1);
  const Tensor weight = tensor({0.5, 1.0, 2.0}, in(kDouble));
  for (const double smoothing : {0.0, 0.2}) {
    for (const Reduction reduction : {kNone, kMean, kSum}) {
      const Tensor loss = weighted_sum(cross_entropy(
          x, classes(), {.weight = weight, .reduction = reduction, .label_smoothing = smoothing}));
      const auto composed = autograd::grad({loss}, {x}, {}, {.create_graph = true});
      const auto fused = autograd::grad({loss}, {x});
      const std::vector<double> a = fused[0].to_vector<double>();
      const std::vector<double> b = composed[0].to_vector<double>();
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 32 * roundoff(kDouble));
    }
  }
}

TEST(CrossEntropyOnCpu, IsTheSameForAnyNumberOfThreads) {
  const Tensor x = random_leaf({5000, 40}, 1).detach().requires_grad_();
  const Tensor target = randint(40, {5000}, {.dtype = DType::i64});
  const auto run = [&](int threads) {
    set_num_threads(threads);
    const Tensor loss = cross_entropy(x, target);
    std::vector<double> elements = autograd::grad({loss}, {x})[0].to_vector<double>();
    elements.push_back(loss.item());
    return elements;
  };
  const int before = get_num_threads();
  EXPECT_EQ(run(1), run(2));
  set_num_threads(before);
}

TEST_P(CrossEntropy, TakesOneRowAndLargeLogits) {
  const Tensor x = tensor({1000.0F, -1000.0F, 0.0F}, in(kFloat));
  EXPECT_EQ(cross_entropy(x, tensor(std::int64_t{0}, in(kLong))).item(), 0);
  EXPECT_EQ(cross_entropy(x, tensor(std::int64_t{2}, in(kLong))).item(), 1000);
}

TEST_P(NllLoss, IsNanWithZeroGradientWhenAllAreIgnored) {
  const Tensor x = random_leaf({2, 3}, 1);
  const Tensor loss = nll_loss(x, tensor({-100, -100}, in(kLong)));
  EXPECT_TRUE(std::isnan(loss.item()));
  EXPECT_EQ(autograd::grad({loss}, {x})[0].to_vector<double>(), std::vector<double>(6, 0.0));
}

TEST_P(BinaryCrossEntropy, StaysFiniteAtTheEnds) {
  const Tensor p = tensor({0.0F, 1.0F}, in(kFloat)).requires_grad_();
  const Tensor loss = binary_cross_entropy(p, tensor({1.0F, 0.0F}, in(kFloat)), {}, kSum);
  EXPECT_EQ(loss.item(), 200);
  EXPECT_TRUE(all(isfinite(autograd::grad({loss}, {p})[0])).item<bool>());
  const Tensor x = tensor({-1000.0F, 1000.0F}, in(kFloat));
  EXPECT_EQ(
      binary_cross_entropy_with_logits(x, tensor({1.0F, 0.0F}, in(kFloat)), {}, {}, kSum).item(),
      2000);
}

// The mean divides by the number of losses, not by the sum of their weights.
TEST(BinaryCrossEntropyOnCpu, WeightsMultiplyEachLoss) {
  const Tensor weight = tensor({2.0, 0.0, 0.5}, {.dtype = kDouble});
  const Tensor x = random_leaf({2, 3}, 1);
  const Tensor p = sigmoid(x);
  const Tensor t = tensor({{1.0, 0.0, 0.25}, {0.0, 1.0, 0.5}}, {.dtype = kDouble});
  for (const Reduction reduction : {kMean, kSum}) {
    const auto reduced = [&](const Tensor& losses) {
      return (reduction == kMean ? mean(losses) : sum(losses)).item();
    };
    EXPECT_EQ(binary_cross_entropy(p, t, weight, reduction).item(),
              reduced(binary_cross_entropy(p, t, {}, kNone) * weight));
    EXPECT_EQ(binary_cross_entropy_with_logits(x, t, weight, {}, reduction).item(),
              reduced(binary_cross_entropy_with_logits(x, t, {}, {}, kNone) * weight));
  }
}

TEST(BinaryCrossEntropyOnCpu, IsDifferentiableInEveryOperand) {
  const std::vector<Tensor> in{random_leaf({2, 3}, 1), random_leaf({2, 3}, 2), random_leaf({3}, 3),
                               random_leaf({3}, 4)};
  const TensorFunction with_logits = [](const std::vector<Tensor>& at) {
    return binary_cross_entropy_with_logits(at[0], at[1], at[2], at[3], kNone);
  };
  expect_gradients(with_logits, in);
  expect_second_gradients(with_logits, in);
  const TensorFunction of_probabilities = [](const std::vector<Tensor>& at) {
    return binary_cross_entropy(sigmoid(at[0]), sigmoid(at[1]), at[2], kNone);
  };
  expect_gradients(of_probabilities, {in[0], in[1], in[2]});
}

TEST_P(Losses, HaveTheRightGradientsAtTheirKinks) {
  const Tensor x = tensor({-2.0, -1.0, 0.0, 1.0, 2.0}, in(kDouble)).requires_grad_();
  const Tensor zero = zeros({5}, in(kDouble));
  const auto gradient = [&](const Tensor& loss) {
    return autograd::grad({loss}, {x})[0].to_vector<double>();
  };
  const std::vector<double> sign{-1, -1, 0, 1, 1};
  EXPECT_EQ(gradient(l1_loss(x, zero, kSum)), sign);
  EXPECT_EQ(gradient(smooth_l1_loss(x, zero, kSum, 0)), sign);
  EXPECT_EQ(gradient(smooth_l1_loss(x, zero, kSum, 2)), (std::vector{-1.0, -0.5, 0.0, 0.5, 1.0}));
  EXPECT_EQ(gradient(huber_loss(x, zero, kSum, 1)), sign);
  EXPECT_EQ(gradient(huber_loss(x, zero, kSum, 1.5)), (std::vector{-1.5, -1.0, 0.0, 1.0, 1.5}));
}

TEST(LossesOnCpu, ErrorsNameTheBadArgument) {
  const Tensor x = random_leaf({2, 3}, 1);
  EXPECT_THROW(huber_loss(x, x, kMean, 0), std::invalid_argument);
  EXPECT_THROW(smooth_l1_loss(x, x, kMean, -1), std::invalid_argument);
  EXPECT_THROW(binary_cross_entropy(x, x[0]), std::invalid_argument);
  EXPECT_THROW(binary_cross_entropy_with_logits(x, x[0]), std::invalid_argument);
}

template <class F>
std::string said(const F& f) {
  ::testing::internal::CaptureStderr();
  f();
  return ::testing::internal::GetCapturedStderr();
}

TEST(LossesOnCpu, WarnOfTargetsThatBroadcast) {
  EXPECT_EQ(said([] { mse_loss(zeros({2, 1}), ones({2, 1})); }), "");
  double loss = 0;
  const int line = __LINE__ + 1;
  const std::string warning = said([&] { loss = mse_loss(zeros({2, 1}), ones({2})).item(); });
  EXPECT_EQ(loss, 1);
  EXPECT_EQ(warning, "halfgrad: warning: mse_loss: expected a target of shape " +
                         to_string(Shape{2, 1}) + ", got " + to_string(Shape{2}) +
                         "; both are broadcast; called at " __FILE__ ":" + std::to_string(line) +
                         "\n");
}

// Each call is on a source line of its own.
TEST(LossesOnCpu, WarnOnceForEachLineThatCallsThem) {
  const Tensor x = full({2, 1}, 0.5), target = full({2}, 0.25);
  std::vector<std::function<void()>> calls;
  calls.emplace_back([&] { mse_loss(x, target); });
  calls.emplace_back([&] { mse_loss(x, target, kSum); });
  calls.emplace_back([&] { l1_loss(x, target); });
  calls.emplace_back([&] { smooth_l1_loss(x, target, kMean, 2); });
  calls.emplace_back([&] { smooth_l1_loss(x, target, kMean, 0); });
  calls.emplace_back([&] { huber_loss(x, target); });
  calls.emplace_back([&] { kl_div(x, target); });
  for (const auto& call : calls) {
    const std::string warnings = said([&] {
      for (int step = 0; step < 3; ++step) call();
    });
    EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 1) << warnings;
  }
}

// On a GPU the host does not see the targets, and a kernel would read beyond the input.
TEST_P(NllLoss, RefusesRowsWithoutClasses) {
  for (const std::int64_t target : {0, -100}) {
    EXPECT_THROW(nll_loss(zeros({2, 0}, in(kFloat)), full({2}, target, in(kLong))),
                 std::invalid_argument);
  }
}

}  // namespace
}  // namespace halfgrad
