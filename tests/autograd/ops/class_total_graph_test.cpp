// cross_entropy of classes in a captured graph. The forward kernel runs on a second stream, and the
// backward kernel computes what it needs from the logits: the bits of eager calls, whatever reads
// or overwrites the operands next.
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/zero_grad.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/late_work.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/autograd/ops/class_loss.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

using ClassTotalInGraph = OnCuda;

/// The loss in a graph. Its inputs are copies, so that a test may overwrite them.
struct CapturedLoss {
  explicit CapturedLoss(const ClassLoss& loss)
      : c(loss), x(loss.x.clone().requires_grad_()), target(loss.target.clone()) {}

  Tensor forward() {
    const detail::CastRuleScope scope(c.cast ? &rule : nullptr);
    return cross_entropy(x, target, {.ignore_index = c.ignore_index, .reduction = c.reduction});
  }
  void backward(const Tensor& loss) { loss.backward(full({}, c.dloss, loss.options())); }
  /// Captures the function after one call, and replays it.
  void run(const std::function<void()>& function) {
    function();
    zero_grad(x, true);
    Graph graph(kCUDA);
    graph.capture(function);
    graph.replay();
    cuda::synchronize();
  }

  ClassLoss c;
  CastsToFloat rule;
  Tensor x, target;
};

void expect_bits_of_eager_calls(const ClassLoss& c) {
  const LossAndGradient eager = run_class_loss(c);
  CapturedLoss captured(c);
  Tensor loss;
  captured.run([&] {
    zero_grad(captured.x, true);
    loss = captured.forward();
    captured.backward(loss);
  });
  EXPECT_EQ(class_loss_bits(loss.to_vector<float>()), class_loss_bits(eager.loss));
  EXPECT_EQ(class_loss_bits(captured.x.grad().to_vector<float>()), class_loss_bits(eager.gradient));
}

TEST_F(ClassTotalInGraph, HasTheBitsOfEagerCalls) {
  manual_seed(1);
  for (const std::int64_t n : {1, 2, 7, 8, 10, 16, 17, 24, 32, 33}) {
    for (const DType dtype : {kFloat, kHalf, kBFloat16}) {
      for (const Reduction reduction : {kMean, kSum}) {
        SCOPED_TRACE(std::to_string(n) + " classes of " + std::string(name(dtype)) +
                     (reduction == kMean ? ", mean" : ", sum"));
        expect_bits_of_eager_calls({.x = class_logits(130, n, dtype),
                                    .target = classes_of(130, n),
                                    .reduction = reduction,
                                    .ignore_index = 1,
                                    .dloss = 1.7});
      }
    }
  }
}

TEST_F(ClassTotalInGraph, TakesAnyNumberOfRows) {
  manual_seed(2);
  for (const std::int64_t rows : {1, 127, 128, 129, 1000, 4096, 4097}) {
    SCOPED_TRACE(rows);
    expect_bits_of_eager_calls(
        {.x = class_logits(rows, 10, kHalf), .target = classes_of(rows, 10), .ignore_index = 3});
  }
  const Tensor all = full({5}, -100, {.dtype = kLong, .device = kCUDA});
  expect_bits_of_eager_calls({.x = class_logits(5, 10, kHalf), .target = all});
}

TEST_F(ClassTotalInGraph, RunsTheForwardKernelBesideTheBackwardPass) {
  const auto is_late = [](std::int64_t rows, std::int64_t classes, bool exposes) {
    CapturedLoss captured(
        {.x = class_logits(rows, classes, kHalf), .target = classes_of(rows, classes)});
    if (exposes) static_cast<void>(captured.target.data_ptr());
    bool late_after_forward = false, late_after_backward = false;
    captured.run([&] {
      const Tensor loss = captured.forward();
      late_after_forward = detail::has_late_work(*loss.array().storage());
      captured.backward(loss);
      late_after_backward = detail::has_late_work(*loss.array().storage());
    });
    EXPECT_EQ(late_after_forward, late_after_backward);
    return late_after_backward;
  };
  EXPECT_TRUE(is_late(256, 10, false));
  EXPECT_TRUE(is_late(4096, 32, false));
  EXPECT_FALSE(is_late(256, 33, false));
  EXPECT_FALSE(is_late(4097, 10, false));
  EXPECT_FALSE(is_late(256, 10, true));
  CapturedLoss eager({.x = class_logits(256, 10, kHalf), .target = classes_of(256, 10)});
  EXPECT_FALSE(detail::has_late_work(*eager.forward().array().storage()));
}

// The next batch goes where the targets and the logits are.
TEST_F(ClassTotalInGraph, KeepsTheOperandsUntilTheyAreRead) {
  manual_seed(3);
  const ClassLoss c{.x = class_logits(3000, 10, kHalf), .target = classes_of(3000, 10)};
  const LossAndGradient eager = run_class_loss(c);
  CapturedLoss captured(c);
  Tensor loss;
  captured.run([&] {
    zero_grad(captured.x, true);
    captured.target.copy_(c.target);
    captured.x.array().copy_(c.x.array());
    loss = captured.forward();
    captured.backward(loss);
    captured.target.fill_(0);
    captured.x.array().fill_(0);
  });
  EXPECT_EQ(loss.to_vector<float>(), eager.loss);
  EXPECT_EQ(captured.x.grad().to_vector<float>(), eager.gradient);
}

TEST_F(ClassTotalInGraph, KeepsTheLossWhenTheLogitsChangeBeforeBackward) {
  manual_seed(4);
  const ClassLoss c{.x = class_logits(3000, 10, kHalf), .target = classes_of(3000, 10)};
  const LossAndGradient eager = run_class_loss(c);
  CapturedLoss captured(c);
  captured.x.requires_grad_(false);
  Tensor loss;
  captured.run([&] {
    captured.x.copy_(c.x);
    loss = captured.forward();
    captured.x.fill_(0);
  });
  EXPECT_EQ(loss.to_vector<float>(), eager.loss);
}

TEST_F(ClassTotalInGraph, TheRestOfTheGraphReadsTheLoss) {
  manual_seed(5);
  const ClassLoss c{.x = class_logits(300, 10, kHalf), .target = classes_of(300, 10)};
  const LossAndGradient eager = run_class_loss(c);
  CapturedLoss captured(c);
  Tensor doubled;
  captured.run([&] {
    zero_grad(captured.x, true);
    const Tensor loss = captured.forward();
    doubled = (loss + loss).detach();
    captured.backward(loss);
  });
  EXPECT_EQ(doubled.item<float>(), 2 * eager.loss[0]);
  EXPECT_EQ(captured.x.grad().to_vector<float>(), eager.gradient);
}

TEST_F(ClassTotalInGraph, ReportsTargetsOutOfRange) {
  CapturedLoss captured({.x = class_logits(20, 10, kHalf), .target = classes_of(20, 10)});
  Graph graph(kCUDA);
  Tensor loss;
  graph.capture([&] {
    loss = captured.forward();
    captured.backward(loss);
  });
  captured.target[3].fill_(10);
  graph.replay();
  EXPECT_THROW(static_cast<void>(loss.item()), std::out_of_range);
  captured.target[3].fill_(9);
  graph.replay();
  EXPECT_NO_THROW(static_cast<void>(loss.item()));
}

}  // namespace
}  // namespace halfgrad
