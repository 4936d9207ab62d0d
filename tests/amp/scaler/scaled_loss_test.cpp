// scaler.scale(loss): its value is computed only if somebody looks at it, and a backward pass that
// starts there uses the scale as the gradient of the loss. Neither may be noticed.
#include <functional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad::amp {
namespace {

constexpr double kScale = 1024;

struct Silent final : OpObserver {
  void ran(const OpCall&) override {}
};

class ScaledLoss : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    manual_seed(1);
    x_ = randn({6, 5}).to(kHalf).to(device()).requires_grad_();
    target_ = randint(5, {6}).to(device());
  }
  // A loss whose value is 0-dimensional and float32, of 16-bit logits.
  Tensor loss() const {
    const Autocast autocast(device().type());
    return cross_entropy(x_, target_);
  }
  std::vector<float> gradient() const {
    std::vector<float> values = x_.grad().to_vector<float>();
    x_.set_grad(Tensor());
    return values;
  }
  // The gradient with the separate ops, which an observer sees.
  std::vector<float> expected() const {
    Silent observer;
    const OpObserverGuard guard(observer);
    GradScaler scaler({.init_scale = kScale});
    scaler.scale(loss()).backward();
    return gradient();
  }

  Tensor x_, target_;
  GradScaler scaler_{{.init_scale = kScale}};
};
HALFGRAD_ON_DEVICES(ScaledLoss);

TEST_P(ScaledLoss, HasTheGradientOfTheProduct) {
  scaler_.scale(loss()).backward();
  const std::vector<float> dx = gradient();
  EXPECT_EQ(dx, expected());
  EXPECT_EQ(scaler_.get_scale(), kScale);
}

TEST_P(ScaledLoss, HasTheValueOfTheProduct) {
  const Tensor plain = loss();
  const Tensor scaled = scaler_.scale(plain);
  EXPECT_EQ(scaled.dtype(), kFloat);
  EXPECT_EQ(scaled.dim(), 0);
  EXPECT_EQ(scaled.grad_fn_name(), "mul");
  EXPECT_EQ(scaled.item(), plain.item() * kScale);
  EXPECT_EQ((scaler_.scale(plain) * Scalar(2)).item(), plain.item() * kScale * 2);
  EXPECT_EQ(scaler_.scale(plain).detach().item(), plain.item() * kScale);
}

// Later changes of the loss and of the scale do not reach it.
TEST_P(ScaledLoss, KeepsItsValue) {
  const Tensor plain = loss();
  const double value = plain.item();
  const Tensor scaled = scaler_.scale(plain), other = scaler_.scale(plain);
  plain.add_(Scalar(1));
  EXPECT_EQ(scaled.item(), value * kScale);
  EXPECT_EQ(scaler_.scale(plain).item(), plain.item() * kScale);
  scaler_.set_scale(8);
  EXPECT_EQ(other.item(), value * kScale);
  EXPECT_EQ(scaler_.scale(plain).item(), plain.item() * 8);
}

TEST_P(ScaledLoss, KeepsItsValueDuringAnUpdate) {
  const Tensor weight = full({5}, 1.0).to(device()).requires_grad_();
  optim::SGD optimizer({weight}, {.lr = 0.1});
  Tensor plain;
  {
    const Autocast autocast(device().type());
    plain = cross_entropy(x_.detach() * weight, target_);
  }
  const Tensor scaled = scaler_.scale(plain);
  scaled.backward();
  scaler_.step(optimizer);
  scaler_.update(64.0);
  EXPECT_EQ(scaled.item(), plain.item() * kScale);
  EXPECT_EQ(scaler_.get_scale(), 64);
}

// Two passes over one loss add up; the first one keeps the graph.
TEST_P(ScaledLoss, RunsAgainOnlyIfTheGraphIsKept) {
  const Tensor scaled = scaler_.scale(loss());
  scaled.backward({}, /*retain_graph=*/true);
  scaled.backward();
  const std::vector<float> dx = gradient();
  std::vector<float> twice = expected();
  for (float& each : twice) each *= 2;
  EXPECT_EQ(dx, twice);
  EXPECT_THROW(scaled.backward(), std::runtime_error);
}

TEST_P(ScaledLoss, TakesAGradient) {
  scaler_.scale(loss()).backward(full({}, 2.0).to(device()));
  const std::vector<float> dx = gradient();
  std::vector<float> twice = expected();
  for (float& each : twice) each *= 2;
  EXPECT_EQ(dx, twice);
}

// Hooks and retained gradients see what they always saw, and may change it.
TEST_P(ScaledLoss, ShowsItsGradientsToHooks) {
  std::vector<double> seen;
  const Tensor plain = loss();
  const Tensor scaled = scaler_.scale(plain);
  scaled.register_hook([&](const Tensor& dy) {
    seen.push_back(dy.item());
    return dy * Scalar(2);
  });
  plain.register_hook([&](const Tensor& dy) {
    seen.push_back(dy.item());
    dy.mul_(Scalar(0.5));
    return Tensor();
  });
  scaled.retain_grad();
  plain.retain_grad();
  scaled.backward();
  EXPECT_EQ(seen, (std::vector{1.0, 2 * kScale}));
  EXPECT_EQ(scaled.grad().item(), 2);
  EXPECT_EQ(plain.grad().item(), kScale);
  const std::vector<float> dx = gradient();
  EXPECT_EQ(dx, expected());
  EXPECT_EQ(scaler_.get_scale(), kScale);
}

// A hook of the loss alone must not get the scaler's own memory.
TEST_P(ScaledLoss, ProtectsTheScale) {
  const Tensor plain = loss();
  plain.register_hook([](const Tensor& dy) {
    dy.zero_();
    return Tensor();
  });
  scaler_.scale(plain).backward();
  EXPECT_EQ(gradient(), std::vector<float>(30, 0.0F));
  EXPECT_EQ(scaler_.get_scale(), kScale);
  const Tensor leaf = full({}, 3.0).to(device()).requires_grad_();
  scaler_.scale(leaf).backward();
  leaf.grad().zero_();
  EXPECT_EQ(scaler_.get_scale(), kScale);
}

TEST_P(ScaledLoss, IsDifferentiable) {
  const Tensor plain = loss();
  const Tensor scaled = scaler_.scale(plain);
  const auto of_loss = autograd::grad({scaled}, {plain}, {}, {.create_graph = true});
  EXPECT_EQ(of_loss[0].item(), kScale);
  EXPECT_EQ(autograd::grad({scaled}, {scaled}, {}, {.retain_graph = true})[0].item(), 1);
  const Tensor dx = autograd::grad({scaled}, {x_}, {}, {.create_graph = true})[0];
  EXPECT_TRUE(dx.requires_grad());
  dx.to(kFloat).square().sum().backward();
  EXPECT_TRUE(x_.grad().defined());
}

TEST_P(ScaledLoss, ComputesOtherLossesAtOnce) {
  const Tensor w = full({3}, 2.0).to(device()).requires_grad_();
  const Tensor sums = w * Scalar(3);
  EXPECT_EQ(scaler_.scale(sums).to_vector<float>(), std::vector<float>(3, 6 * kScale));
  const Tensor sum = sums.sum();
  const Tensor scaled = scaler_.scale(sum);
  EXPECT_EQ(scaled.item(), 18 * kScale);
  scaled.backward();
  EXPECT_EQ(w.grad().to_vector<float>(), std::vector<float>(3, 3 * kScale));
  const Tensor whole = scaler_.scale(full({}, 2.0).to(device()).to(kHalf).requires_grad_());
  EXPECT_EQ(whole.item(), 2 * kScale);
}

class ScaledLossOnCuda : public ::testing::Test {
 protected:
  void SetUp() override { skip_without(kCUDA); }
};

TEST_F(ScaledLossOnCuda, IsTwoLaunchesWithItsLoss) {
  const Tensor x = randn({256, 10}).to(kHalf).to(kCUDA).requires_grad_();
  const Tensor target = randint(10, {256}).to(kCUDA);
  GradScaler scaler;
  for (int i = 0; i < 2; ++i) {
    x.set_grad(Tensor());
    const auto before = halfgrad::detail::launches;
    Tensor loss;
    {
      const Autocast autocast(kCUDA);
      loss = cross_entropy(x, target);
    }
    scaler.scale(loss).backward();
    if (i == 1) {
      EXPECT_EQ(halfgrad::detail::launches - before, 2);
    }
  }
}

// Each replay computes the scaled loss again, although nobody has looked at it in the capture.
TEST_F(ScaledLossOnCuda, IsPartOfACapture) {
  const Tensor x = randn({6, 10}).to(kHalf).to(kCUDA).requires_grad_();
  const Tensor target = randint(10, {6}).to(kCUDA);
  GradScaler scaler({.init_scale = kScale});
  Tensor loss, scaled;
  const auto forward = [&] {
    const Autocast autocast(kCUDA);
    loss = cross_entropy(x, target);
    scaled = scaler.scale(loss);
  };
  forward();
  const Tensor before = scaled;
  const double first = loss.item() * kScale;
  Graph graph(kCUDA);
  graph.capture(forward);
  graph.replay();
  EXPECT_EQ(scaled.item(), loss.item() * kScale);
  x.detach().mul_(Scalar(2));
  graph.replay();
  EXPECT_EQ(scaled.item(), loss.item() * kScale);
  EXPECT_NE(scaled.item(), first);
  EXPECT_EQ(before.item(), first);
}

// The reader's stream waits for the product, which is computed where the loss is.
TEST_F(ScaledLossOnCuda, IsReadOnAnotherStream) {
  const Tensor x = randn({256, 10}).to(kHalf).to(kCUDA).requires_grad_();
  const Tensor target = randint(10, {256}).to(kCUDA);
  GradScaler scaler({.init_scale = kScale});
  Tensor loss, scaled;
  {
    const Autocast autocast(kCUDA);
    loss = cross_entropy(x, target);
    scaled = scaler.scale(loss);
  }
  const double expected = loss.item() * kScale;
  const Stream other(kCUDA);
  const StreamScope scope(other);
  EXPECT_EQ(scaled.item(), expected);
}

}  // namespace
}  // namespace halfgrad::amp
