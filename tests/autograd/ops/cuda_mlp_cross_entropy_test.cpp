// mlp_cross_entropy's kernels against mlp and cross_entropy one after the other; launches, captures
// and streams.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/tests/autograd/ops/mlp_loss_case.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

class MlpCrossEntropyOnCuda : public OnCuda {
 protected:
  // A float32 batch in a region of fp16.
  static LossCase usual(std::int64_t rows) { return {{64, 64, 64, 10}, rows, kFloat, kCUDA}; }
  static Tensor loss_of(const LossCase& of) {
    const amp::Autocast autocast(kCUDA);
    return of.one_op();
  }
};

// The shapes touch every edge: those of MlpOnCuda, and classes around what a thread, a warp and a
// pack take.
TEST_F(MlpCrossEntropyOnCuda, HasTheBitsOfItsTwoOps) {
  manual_seed(20);
  for (const DType dtype : {kHalf, kBFloat16}) {
    SCOPED_TRACE(name(dtype));
    expect_bits_of_two_ops({{16, 32, 8}, 129, dtype, kCUDA}, 64);
    expect_bits_of_two_ops({{20, 17, 33}, 150, dtype, kCUDA});
    expect_bits_of_two_ops({{8, 40, 40, 40, 40, 40, 40, 16}, 100, dtype, kCUDA});
    expect_bits_of_two_ops({{64, 64, 64, 64}, 150, dtype, kCUDA});
    expect_bits_of_two_ops({{128, 100, 128, 17}, 20, dtype, kCUDA});
    expect_bits_of_two_ops({{7, 24}, 17, dtype, kCUDA, dtype, false});
    expect_bits_of_two_ops({{16, 60}, 40, dtype, kCUDA});
    expect_bits_of_two_ops({{16, 1}, 40, dtype, kCUDA});
    for (const char* const f : {"gelu", "gelu_tanh"}) {
      expect_bits_of_two_ops({{16, 32, 8}, 129, dtype, kCUDA, dtype, true, f}, 64);
      expect_bits_of_two_ops({{64, 64, 64, 10}, 150, dtype, kCUDA, dtype, true, f}, 64);
      expect_bits_of_two_ops({{128, 100, 128, 17}, 20, dtype, kCUDA, dtype, true, f});
    }
  }
}

// The kernels for more than 64 features store the rounded input as a factor of a gradient.
TEST_F(MlpCrossEntropyOnCuda, HasTheBitsOfItsTwoOpsForWideLayersUnderAutocast) {
  manual_seed(25);
  for (const DType dtype : {kHalf, kBFloat16}) {
    const amp::Autocast autocast(kCUDA, {.dtype = dtype});
    expect_bits_of_two_ops({{128, 128, 128, 10}, 140, kFloat, kCUDA}, 1024);
    expect_bits_of_two_ops({{5, 90, 3}, 20, kFloat, kCUDA}, 1024);
  }
}

// More rows than a part of the sum, and than a warp adds.
TEST_F(MlpCrossEntropyOnCuda, AddsManyLossesInTheSameOrder) {
  manual_seed(21);
  for (const std::int64_t rows : {1500, 4100}) {
    const amp::Autocast autocast(kCUDA);
    expect_bits_of_two_ops({{3, 2}, rows, kFloat, kCUDA});
  }
}

// More rows than a GPU with one multiprocessor takes at once, as tools/emulate-tests has one: a
// block computes several tiles, in the same shared memory.
TEST_F(MlpCrossEntropyOnCuda, AddsTheTilesOfABlock) {
  manual_seed(26);
  constexpr std::int64_t kRows = 17 * 128 + 70;
  expect_bits_of_two_ops({{20, 17, 10}, kRows, kHalf, kCUDA});
  expect_bits_of_two_ops({{72, 8, 10}, kRows, kBFloat16, kCUDA});
}

TEST_F(MlpCrossEntropyOnCuda, IsOneLaunchForLossAndGradientsAndOneForTheSums) {
  manual_seed(22);
  const LossCase of = usual(256);
  const amp::Autocast autocast(kCUDA);
  amp::GradScaler scaler;
  std::int64_t before = 0;
  const auto counted = [&] { return detail::launches - std::exchange(before, detail::launches); };
  const auto backward = [&](const Tensor& loss) {
    for (const Tensor& input : of.inputs()) input.set_grad(Tensor());
    scaler.scale(loss).backward();
  };
  backward(of.one_op());  // casts the weights
  of.x.requires_grad_(false);
  counted();
  const Tensor loss = of.one_op();
  EXPECT_EQ(counted(), 0);
  backward(loss);
  EXPECT_EQ(counted(), 2);
  loss.array();
  EXPECT_EQ(counted(), 0);
  const Tensor looked_at = of.one_op();
  looked_at.array();
  looked_at.array();
  EXPECT_EQ(counted(), 1);
  backward(looked_at);
  EXPECT_EQ(counted(), 2);
}

TEST_F(MlpCrossEntropyOnCuda, IsPartOfACapture) {
  manual_seed(23);
  const LossCase of = usual(130);
  for (const bool with_backward : {true, false}) {
    Tensor loss, earlier = loss_of(of);
    Graph graph(kCUDA);
    graph.capture([&] {
      loss = loss_of(of);
      if (with_backward) loss.backward();
    });
    const double value = earlier.item();
    graph.replay();
    EXPECT_EQ(loss.item(), value);
    of.x.detach().mul_(Scalar(2));
    graph.replay();
    EXPECT_EQ(loss.item(), loss_of(of).item());
    EXPECT_NE(loss.item(), value);
    if (!with_backward) continue;
    const Bits gradients = of.gradients();
    loss_of(of).backward();
    expect_equal(of.gradients(), gradients);
  }
}

// The loss is ready in the order of the stream on which it was asked for.
TEST_F(MlpCrossEntropyOnCuda, IsComputedAndReadOnOtherStreams) {
  manual_seed(24);
  const LossCase of = usual(130);
  const double value = loss_of(of).item();
  const Stream first = current_stream(kCUDA), other(kCUDA);
  for (const bool with_backward : {true, false}) {
    const Tensor loss = loss_of(of);
    other.wait_stream(first);
    const StreamScope scope(other);
    if (!with_backward) {
      EXPECT_EQ(loss.item(), value);
      continue;
    }
    loss.backward();
    const StreamScope back(first);
    EXPECT_EQ(loss.item(), value);
  }
}

}  // namespace
}  // namespace halfgrad
