#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/optim/adamw.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/tests/amp/training/trained.h>
#include <halfgrad/tests/devices.h>

/// The training loops that PyTorch documents, each compared with the values it must compute.
namespace halfgrad::amp {
namespace {

/// w = [1, 2], x and targets such that every product is exact in float16: loss = mean((x w - y)^2).
struct Regression {
  Tensor x = vector_of({1, 2, 3, 4, 0.5, -1, 2, -2}).reshape({4, 2});
  Tensor y = vector_of({4, 12, -2, -3}).reshape({4, 1});
  Tensor w = vector_of({1, 2}).reshape({1, 2}).requires_grad_();

  Tensor loss(std::int64_t first = 0, std::int64_t last = 4) const {
    return mse_loss(linear(x.slice(0, first, last), w), y.slice(0, first, last));
  }
  Tensor autocast_loss(std::int64_t first = 0, std::int64_t last = 4) const {
    const Autocast autocast(default_device_type());
    return loss(first, last);
  }
  Values gradient() const { return w.grad().to_vector<double>(); }
  Values weights() const { return w.to_vector<double>(); }
};

constexpr double kRate = 0x1p-6;

// x w = [5, 11, -1.5, -2], minus y: [1, -1, 0.5, 1]; dw = mean of 2 e x.
const Values kGradient{(2 * 1 * 1 - 2 * 1 * 3 + 2 * 0.5 * 0.5 + 2 * 1 * 2) / 4.0,
                       (2 * 1 * 2 - 2 * 1 * 4 - 2 * 0.5 * 1 - 2 * 1 * 2) / 4.0};
Values weights_after(double factor) {
  return {1 - kRate * factor * kGradient[0], 2 - kRate * factor * kGradient[1]};
}

// 1. zero_grad; forward and loss in the region; scale(loss).backward(); step; update.
TEST(CallSequences, PlainStep) {
  Regression model;
  optim::SGD optimizer({model.w}, {.lr = kRate});
  GradScaler scaler({.init_scale = 1024, .growth_interval = 1});
  optimizer.zero_grad();
  scaler.scale(model.autocast_loss()).backward();
  EXPECT_EQ(model.gradient(), (Values{1024 * kGradient[0], 1024 * kGradient[1]}));
  EXPECT_FALSE(scaler.step(optimizer).skipped());
  scaler.update();
  EXPECT_EQ(model.gradient(), kGradient);
  EXPECT_EQ(model.weights(), weights_after(1));
  EXPECT_EQ(scaler.get_scale(), 2048);
}

// 2. Clipping between unscale_ and step: the norm is that of the unscaled gradients, and step()
// does not divide again.
TEST(CallSequences, Clipping) {
  Regression model;
  optim::SGD optimizer({model.w}, {.lr = kRate});
  GradScaler scaler({.init_scale = 1024});
  scaler.scale(model.autocast_loss()).backward();
  scaler.unscale_(optimizer);
  const double norm = std::hypot(kGradient[0], kGradient[1]);
  const double roundoffs = 4 * roundoff(kFloat);
  EXPECT_NEAR(nn::utils::clip_grad_norm_({model.w}, norm / 2).item(), norm, norm * roundoffs);
  const Values clipped = model.gradient();
  EXPECT_NEAR(std::hypot(clipped[0], clipped[1]), norm / 2, 1e-6 + roundoffs * norm);
  scaler.step(optimizer);
  scaler.update();
  EXPECT_EQ(model.gradient(), clipped);
  for (std::size_t i = 0; i < 2; ++i) {
    const double before = static_cast<double>(i + 1);
    EXPECT_NEAR(model.weights()[i], before - kRate * clipped[i], 2 * roundoff(kFloat));
  }
}

// 3. Several backward passes, one step: equal to one batch of all samples.
TEST(CallSequences, Accumulation) {
  Regression model;
  optim::SGD optimizer({model.w}, {.lr = kRate});
  GradScaler scaler({.init_scale = 1024, .growth_interval = 1});
  for (const bool unscale : {false, true}) {
    model.w.array().copy_(vector_of({1, 2}).array().reshape({1, 2}));
    optimizer.zero_grad();
    const double scale = scaler.get_scale();
    for (std::int64_t first = 0; first < 4; first += 2) {
      scaler.scale(model.autocast_loss(first, first + 2) / 2.0).backward();
      EXPECT_EQ(scaler.get_scale(), scale);
    }
    if (unscale) scaler.unscale_(optimizer);
    scaler.step(optimizer);
    scaler.update();
    EXPECT_EQ(model.gradient(), kGradient);
    EXPECT_EQ(model.weights(), weights_after(1));
    EXPECT_EQ(scaler.get_scale(), 2 * scale);
  }
}

// A bad micro-batch makes the step of its window skip, and no other step.
TEST(CallSequences, AccumulationOverABadBatch) {
  Regression model;
  optim::SGD optimizer({model.w}, {.lr = kRate});
  GradScaler scaler({.init_scale = 1024});
  scaler.scale(model.autocast_loss(0, 2) / 2.0).backward();
  scaler.scale(model.autocast_loss(2, 4) * kInfinite).backward();
  EXPECT_TRUE(scaler.step(optimizer).skipped());
  scaler.update();
  EXPECT_EQ(model.weights(), (Values{1, 2}));
  EXPECT_EQ(scaler.get_scale(), 512);
}

// 4. Gradient penalty, from gradients that a user unscales by hand outside the region. Compared
// with float32 without scaling; 8 roundoffs of float16 for the roundings in the region.
TEST(CallSequences, GradientPenalty) {
  const auto penalized = [](const Tensor& loss, const Tensor& gradient) {
    return loss + sqrt(sum(gradient * gradient));
  };
  Regression plain;
  const Tensor plain_loss = plain.loss();
  const Tensor plain_gradient =
      autograd::grad({plain_loss}, {plain.w}, {}, {.create_graph = true})[0];
  penalized(plain_loss, plain_gradient).backward();

  Regression model;
  optim::SGD optimizer({model.w}, {.lr = kRate});
  GradScaler scaler({.init_scale = 1024});
  const Tensor loss = model.autocast_loss();
  const Tensor scaled =
      autograd::grad({scaler.scale(loss)}, {model.w}, {}, {.create_graph = true})[0];
  const Tensor gradient = scaled * (1 / scaler.get_scale());
  EXPECT_EQ(gradient.dtype(), kFloat);
  EXPECT_EQ(gradient.to_vector<double>(), kGradient);
  Tensor total;
  {
    const Autocast autocast(default_device_type());
    total = penalized(loss, gradient);
  }
  scaler.scale(total).backward();
  scaler.step(optimizer);
  scaler.update();
  const Values expected = plain.gradient();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NE(expected[i], kGradient[i]);  // the penalty has an effect
    EXPECT_NEAR(model.gradient()[i], expected[i], 8 * roundoff(kHalf) * std::abs(expected[i]));
    EXPECT_NEAR(model.weights()[i], static_cast<double>(i + 1) - kRate * model.gradient()[i],
                2 * roundoff(kFloat));
  }
}

// 5. Several losses and optimizers: unscale_ any optimizer, step each, update once.
TEST(CallSequences, SeveralLossesAndOptimizers) {
  for (int unscaled = 0; unscaled < 4; ++unscaled) {
    Regression a, b;
    optim::SGD first({a.w}, {.lr = kRate});
    optim::SGD second({b.w}, {.lr = kRate});
    GradScaler scaler({.init_scale = 1024, .growth_interval = 1});
    Tensor shared, other;
    {
      const Autocast autocast(default_device_type());
      shared = a.loss() + b.loss() * 3;
      other = b.loss();
    }
    scaler.scale(shared).backward({}, /*retain_graph=*/true);
    scaler.scale(other).backward();
    if ((unscaled & 1) != 0) scaler.unscale_(first);
    if ((unscaled & 2) != 0) scaler.unscale_(second);
    EXPECT_FALSE(scaler.step(first).skipped());
    EXPECT_FALSE(scaler.step(second).skipped());
    scaler.update();
    EXPECT_EQ(a.weights(), weights_after(1));
    EXPECT_EQ(b.weights(), weights_after(4));
    EXPECT_EQ(scaler.get_scale(), 2048);  // once
  }
}

// 6. unscale_ and update without step: the iteration counts, the parameters stay.
TEST(CallSequences, InspectionWithoutStep) {
  Regression model;
  optim::SGD optimizer({model.w}, {.lr = kRate});
  GradScaler scaler({.init_scale = 1024, .growth_interval = 2});
  for (const double expected_scale : {1024.0, 2048.0, 2048.0}) {
    optimizer.zero_grad();
    scaler.scale(model.autocast_loss()).backward();
    scaler.unscale_(optimizer);
    EXPECT_EQ(model.gradient(), kGradient);
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), expected_scale);
  }
  EXPECT_EQ(model.weights(), (Values{1, 2}));
  EXPECT_EQ(scaler.counts().steps, 0);
}

// 7. A disabled scaler and region give the bits of the loop without them.
TEST(CallSequences, DisabledEqualsThePlainLoop) {
  Regression plain, model;
  optim::AdamW plain_optimizer({plain.w}, {.lr = 0.1});
  optim::AdamW optimizer({model.w}, {.lr = 0.1});
  GradScaler scaler({.enabled = false});
  for (int step = 0; step < 10; ++step) {
    plain_optimizer.zero_grad();
    const Tensor plain_loss = plain.loss();
    plain_loss.backward();
    nn::utils::clip_grad_norm_({plain.w}, 1);
    plain_optimizer.step();

    optimizer.zero_grad();
    Tensor loss;
    {
      const Autocast autocast(default_device_type(), kHalf, false);
      loss = model.loss();
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    nn::utils::clip_grad_norm_({model.w}, 1);
    EXPECT_FALSE(scaler.step(optimizer).skipped());
    scaler.update();
    EXPECT_EQ(loss.item(), plain_loss.item());
    EXPECT_EQ(model.weights(), plain.weights());
  }
  EXPECT_NE(model.weights(), (Values{1, 2}));
}

}  // namespace
}  // namespace halfgrad::amp
