// cross_entropy of classes, which widens 16-bit logits in its own kernels: with the bits of the
// separate ops, which run while an observer watches them, and on a GPU with one launch in each
// direction.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/tests/autograd/ops/class_loss.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

using ClassTotalOnCuda = OnCuda;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The row engine widens 16-bit logits itself.
TEST(ClassLossOnCpu, HasTheBitsOfTheSeparateOps) {
  manual_seed(1);
  for (const std::int64_t n : {1, 3, 10, 16, 33, 1000}) {
    for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble}) {
      for (const Reduction reduction : {kMean, kSum, kNone}) {
        SCOPED_TRACE(std::to_string(n) + " classes of " + std::string(name(dtype)));
        expect_bits_of_separate_ops({.x = class_logits(67, n, dtype, kCPU),
                                     .target = classes_of(67, n, kCPU),
                                     .cast = dtype != kDouble,
                                     .reduction = reduction,
                                     .ignore_index = 1,
                                     .dloss = 1.7});
      }
    }
  }
}

TEST_F(ClassTotalOnCuda, HasTheBitsOfTheSeparateOps) {
  manual_seed(1);
  for (const std::int64_t n : {1, 2, 3, 7, 8, 10, 16, 17, 24, 31, 32, 33, 64, 100, 1000}) {
    for (const DType dtype : {kFloat, kHalf, kBFloat16}) {
      for (const bool cast : {true, false}) {
        for (const Reduction reduction : {kMean, kSum}) {
          SCOPED_TRACE(std::to_string(n) + " classes of " + std::string(name(dtype)) +
                       (cast ? ", cast" : "") + (reduction == kMean ? ", mean" : ", sum"));
          expect_bits_of_separate_ops({.x = class_logits(67, n, dtype),
                                       .target = classes_of(67, n),
                                       .cast = cast,
                                       .reduction = reduction,
                                       .ignore_index = 1,
                                       .dloss = 1.7});
        }
      }
    }
  }
}

// One row; a block and its neighbours; more rows than one part of the sum has.
TEST_F(ClassTotalOnCuda, SumsAnyNumberOfRows) {
  manual_seed(2);
  for (const std::int64_t rows : {1, 7, 255, 256, 257, 1000, 1024, 1025, 4096, 4097, 9000}) {
    for (const std::int64_t n : {10, 16}) {
      SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(n));
      expect_bits_of_separate_ops(
          {.x = class_logits(rows, n, kHalf), .target = classes_of(rows, n)});
    }
  }
  expect_bits_of_separate_ops({.x = class_logits(4100, 34, kHalf), .target = classes_of(4100, 34)});
  expect_bits_of_separate_ops({.x = class_logits(4100, 40, kHalf), .target = classes_of(4100, 40)});
}

// Rows for a block, of whole packs or not; the last two for 512 threads.
TEST_F(ClassTotalOnCuda, TakesLongRows) {
  manual_seed(3);
  for (const std::int64_t n : {1024, 1026, 1032, 4098, 5003}) {
    SCOPED_TRACE(n);
    expect_bits_of_separate_ops({.x = class_logits(5, n, kHalf), .target = classes_of(5, n)});
    expect_bits_of_separate_ops({.x = class_logits(5, n, kFloat), .target = classes_of(5, n)});
  }
}

TEST_F(ClassTotalOnCuda, KeepsNonFiniteRows) {
  for (const std::int64_t n : {3, 8, 10, 24, 33, 40}) {
    for (const float special : {kInfinity, -kInfinity, std::nanf("")}) {
      SCOPED_TRACE(std::to_string(n) + " classes, " + std::to_string(special));
      manual_seed(4);
      const Tensor x = class_logits(6, n, kHalf);
      x[1][0].fill_(special);               // beside the target
      x[2][n - 1].fill_(special);           // at the target
      x[3].fill_(special);                  // everywhere
      slice(x[4], 0, 1, n).fill_(special);  // everywhere else
      const Tensor target = tensor({0L, n - 1, n - 1, 0L, 0L, n / 2}, {.dtype = kLong});
      expect_bits_of_separate_ops({.x = x, .target = target.to(kCUDA), .reduction = kSum});
      for (std::int64_t row = 0; row < 6; ++row) {
        expect_bits_of_separate_ops({.x = slice(x, 0, row, row + 1).clone(),
                                     .target = slice(target, 0, row, row + 1).to(kCUDA)});
      }
    }
  }
}

TEST_F(ClassTotalOnCuda, IgnoresRows) {
  const Tensor all = full({5}, -100, {.dtype = kLong, .device = kCUDA});
  const ClassLoss mean{.x = class_logits(5, 10, kHalf), .target = all};
  expect_bits_of_separate_ops(mean);
  const LossAndGradient result = run_class_loss(mean);
  EXPECT_TRUE(std::isnan(result.loss[0]));
  EXPECT_EQ(result.gradient, std::vector<float>(50, 0.0F));
  expect_bits_of_separate_ops({.x = class_logits(5, 33, kHalf), .target = all, .reduction = kSum});
}

// Operands that the kernels do not take: float64, rows of a larger matrix, shifted memory, and no
// rows.
TEST_F(ClassTotalOnCuda, OtherOperandsGoTheGenericWay) {
  manual_seed(5);
  const Tensor target = classes_of(6, 10);
  expect_bits_of_separate_ops({.x = class_logits(6, 10, kDouble), .target = target, .cast = false});
  expect_bits_of_separate_ops({.x = slice(class_logits(6, 20, kHalf), 1, 0, 10), .target = target});
  expect_bits_of_separate_ops(
      {.x = reshape(slice(class_logits(61, 1, kHalf).flatten(), 0, 1, 61), {6, 10}),
       .target = target});
  expect_bits_of_separate_ops(
      {.x = class_logits(6, 10, kHalf), .target = slice(classes_of(12, 10), 0, 0, 12, 2)});
  expect_bits_of_separate_ops({.x = class_logits(0, 10, kHalf), .target = classes_of(0, 10)});
}

TEST_F(ClassTotalOnCuda, IsNearTheCpuInDouble) {
  for (const std::int64_t n : {1, 3, 10, 32, 33, 64, 1000}) {
    SCOPED_TRACE(n);
    manual_seed(6);
    const Tensor x = class_logits(70, n, kHalf);
    const Tensor target = classes_of(70, n);
    const Tensor exact = x.to(kCPU).to(kDouble).requires_grad_();
    const Tensor loss = cross_entropy(exact, target.to(kCPU), {.reduction = kSum});
    loss.backward(full({}, 0.75, loss.options()));
    const LossAndGradient result =
        run_class_loss({.x = x, .target = target, .reduction = kSum, .dloss = 0.75});
    EXPECT_NEAR(result.loss[0], loss.item(), 32 * roundoff(kFloat) * loss.item());
    const std::vector<double> gradient = exact.grad().to_vector<double>();
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      ASSERT_NEAR(result.gradient[i], gradient[i], 2 * roundoff(kHalf)) << i;
    }
  }
}

TEST_F(ClassTotalOnCuda, ComposedGradientAgrees) {
  manual_seed(7);
  CastsToFloat rule;
  const Tensor x = class_logits(9, 10, kHalf).requires_grad_();
  const Tensor target = classes_of(9, 10);
  target[4].fill_(-100);
  for (const Reduction reduction : {kMean, kSum}) {
    Tensor loss;
    {
      const detail::CastRuleScope scope(&rule);
      loss = cross_entropy(x, target, {.reduction = reduction});
    }
    const auto composed = autograd::grad({loss}, {x}, {}, {.create_graph = true});
    const auto fused = autograd::grad({loss}, {x});
    const std::vector<float> a = composed[0].to_vector<float>(), b = fused[0].to_vector<float>();
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2 * roundoff(kHalf));
    EXPECT_TRUE(composed[0].requires_grad());
  }
}

TEST_F(ClassTotalOnCuda, IsOneLaunchInEachDirection) {
  const ClassLoss c{.x = class_logits(256, 10, kHalf), .target = classes_of(256, 10)};
  run_class_loss(c);
  CastsToFloat rule;
  const Tensor x = c.x.detach().requires_grad_();
  const Tensor dloss = ones({}, {.device = kCUDA});
  const auto waits = cuda::host_waits();
  auto before = detail::launches;
  Tensor loss;
  {
    const detail::CastRuleScope scope(&rule);
    loss = cross_entropy(x, c.target);
  }
  EXPECT_EQ(detail::launches - before, 1);
  before = detail::launches;
  loss.backward(dloss);
  EXPECT_EQ(detail::launches - before, 1);
  EXPECT_EQ(cuda::host_waits(), waits);
}

// Targets may be overwritten once the loss has been computed: the next batch goes there.
TEST_F(ClassTotalOnCuda, KeepsTheTargets) {
  ClassLoss c{.x = class_logits(20, 10, kHalf), .target = classes_of(20, 10)};
  const LossAndGradient expected = run_class_loss(c);
  const Tensor x = c.x.detach().requires_grad_();
  const Tensor loss = cross_entropy(x, c.target);
  c.target.fill_(0);
  loss.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), expected.gradient);
}

TEST_F(ClassTotalOnCuda, RefusesWrongTargets) {
  const Tensor x = class_logits(2, 3, kHalf);
  const auto there = [](const Tensor& t) { return t.to(kCUDA); };
  EXPECT_THROW(cross_entropy(x, there(tensor({0, 1}, {.dtype = DType::i32}))),
               std::invalid_argument);
  EXPECT_THROW(cross_entropy(x, there(tensor({0}, {.dtype = kLong}))), std::invalid_argument);
  EXPECT_THROW(cross_entropy(x, tensor({0, 1}, {.dtype = kLong})), std::invalid_argument);
  for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{3}}) {
    const Tensor loss = cross_entropy(x, there(tensor({std::int64_t{0}, wrong}, {.dtype = kLong})));
    EXPECT_THROW(static_cast<void>(loss.item()), std::out_of_range);
    EXPECT_NO_THROW(static_cast<void>(loss.item()));
  }
}

TEST_F(ClassTotalOnCuda, ReplaysAndStreamsHaveTheirOwnTickets) {
  manual_seed(8);
  const ClassLoss c{
      .x = class_logits(700, 10, kHalf), .target = classes_of(700, 10), .reduction = kSum};
  const LossAndGradient expected = run_class_loss(c);
  const Tensor loss = zeros({}, {.device = kCUDA});
  Graph graph(kCUDA);
  CastsToFloat rule;
  graph.capture([&] {
    const detail::CastRuleScope scope(&rule);
    loss.copy_(cross_entropy(c.x, c.target, {.reduction = kSum}));
  });
  const Stream other(kCUDA);
  other.wait_stream(current_stream(kCUDA));
  std::vector<Tensor> losses;
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    const StreamScope stream(other);
    const detail::CastRuleScope scope(&rule);
    losses.push_back(cross_entropy(c.x, c.target, {.reduction = kSum}));
  }
  cuda::synchronize();
  EXPECT_EQ(loss.to_vector<float>(), expected.loss);
  for (const Tensor& each : losses) EXPECT_EQ(each.to_vector<float>(), expected.loss);
}

}  // namespace
}  // namespace halfgrad
