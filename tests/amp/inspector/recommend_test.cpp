#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/data/synthetic.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/adam.h>
#include <halfgrad/tests/devices.h>

/// The underflow task of examples/mnist_mlp: without a scale, float16 loses every gradient, and no
/// weight moves. The ledger finds a scale with which it learns as float32 does.
namespace halfgrad::amp {
namespace {

constexpr std::int64_t kLoads = 256, kBatch = 128, kSteps = 60;
constexpr std::int64_t kPoints = data::MembraneLoads::kSide * data::MembraneLoads::kSide;

struct Membrane {
  Membrane() {
    manual_seed(0);
    const nn::Linear last(128, kPoints);
    nn::init::zeros_(last.weight);
    nn::init::zeros_(last.bias);
    model = nn::Sequential(nn::Linear(data::MembraneLoads::kInputs, 128), nn::ReLU(),
                           nn::Linear(128, 128), nn::ReLU(), last);
    const auto samples = data::membrane_loads(kLoads, 1);
    x = tensor(samples.loads, {kLoads, data::MembraneLoads::kInputs});
    y = tensor(samples.deflections, {kLoads, kPoints});
  }

  Tensor loss(std::int64_t step, bool in_half) const {
    const std::int64_t first = step * kBatch % kLoads;
    const Autocast autocast(default_device_type(), {.enabled = in_half});
    const Tensor output = model(x.slice(0, first, first + kBatch));
    return nn::functional::mse_loss(output, y.slice(0, first, first + kBatch));
  }

  // The losses of a training that begins with this scale. A batch whose step is skipped is tried
  // again at the next scale.
  std::vector<double> train(bool in_half, double scale) {
    optim::Adam optimizer(model.parameters(), {.lr = 1e-4});
    GradScaler scaler({.init_scale = scale});
    std::vector<double> losses;
    for (skipped = 0; std::ssize(losses) < kSteps && skipped < kSteps;) {
      optimizer.zero_grad();
      const Tensor value = loss(std::ssize(losses), in_half);
      scaler.scale(value).backward();
      const bool applied = !scaler.step(optimizer).skipped();
      scaler.update();
      applied ? losses.push_back(value.item<double>()) : static_cast<void>(++skipped);
    }
    return losses;
  }

  nn::Sequential model;
  Tensor x, y;
  std::int64_t skipped = 0;
};

std::vector<std::vector<float>> weights(const Membrane& membrane) {
  std::vector<std::vector<float>> values;
  for (const Tensor& parameter : membrane.model.parameters()) {
    values.push_back(parameter.to_vector<float>());
  }
  return values;
}

Recommendation recommended_for(const Membrane& membrane, double observed_at) {
  UnderflowLedger ledger{NamedModel(membrane.model)};
  {
    const OpObserverGuard guard = ledger.observe(observed_at);
    mul(membrane.loss(0, true), observed_at).backward();
  }
  for (const Tensor& parameter : membrane.model.parameters()) parameter.set_grad({});
  return ledger.recommend();
}

TEST(Recommendation, FreesTheUnderflowTask) {
  Membrane stuck;
  const auto before = weights(stuck);
  const std::vector<double> without = stuck.train(true, 1);
  EXPECT_EQ(weights(stuck), before) << "no weight moves without a scale";
  EXPECT_EQ(without.back(), without[kSteps - 1 - kLoads / kBatch]) << "the loss stays";

  const std::vector<double> exact = Membrane().train(false, 1);
  EXPECT_LT(exact.back(), 0.5 * exact.front()) << "float32 learns";

  Membrane freed;
  const Recommendation best = recommended_for(freed, 65536);
  EXPECT_GE(best.scale, 65536);
  EXPECT_GT(best.saved, kBatch * kPoints / 2) << "more than half of dL/dy";
  EXPECT_TRUE(best.want_bfloat16.empty());
  const std::vector<double> with = freed.train(true, best.scale);
  EXPECT_LE(freed.skipped, 3) << "the first layers' gradients grow from 0 above the limit";
  ASSERT_EQ(with.size(), exact.size());
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_NEAR(with[i], exact[i], 0.01 * exact.front()) << "step " << i;
  }
}

// A scale that is too small to see the gradients is no base for a recommendation; a larger one is.
TEST(Recommendation, DoesNotDependOnTheScaleOfALargeEnoughPass) {
  const Membrane membrane;
  EXPECT_EQ(recommended_for(membrane, 1).scale, 1) << "every gradient was zero";
  const double scale = recommended_for(membrane, 0x1p16).scale;
  EXPECT_EQ(recommended_for(membrane, 0x1p20).scale, scale);
  EXPECT_EQ(recommended_for(membrane, 0x1p24).scale, scale);
}

}  // namespace
}  // namespace halfgrad::amp
