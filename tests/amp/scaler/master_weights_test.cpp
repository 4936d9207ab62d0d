#include <halfgrad/amp/master_weights.h>

#include <cmath>
#include <memory>

#include <gtest/gtest.h>
#include <halfgrad/optim/adam.h>
#include <halfgrad/optim/adamw.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/tests/optim/make_optimizer.h>

#include <halfgrad/tests/amp/training/trained.h>
#include "../../devices.h"

namespace halfgrad::amp {
namespace {

using Bytes = std::vector<std::byte>;

class MasterWeightsTest : public OnDevice {
 protected:
  Tensor parameter(const Values& values, DType dtype) const {
    return Tensor(vector_of(values, dtype).array().to(device())).requires_grad_();
  }
  void give(Tensor& param, const Values& gradient, DType rounded_to) const {
    const Array narrow = vector_of(gradient, rounded_to).array();
    param.set_grad(Tensor(narrow.to(param.dtype()).to(device())));
  }
};
HALFGRAD_ON_DEVICES(MasterWeightsTest);

Bytes bytes_of(const Array& array) {
  const Array host = array.to(Device()).contiguous();
  return Bytes(host.data(), host.data() + host.numel() * item_size(host.dtype()));
}

// 43 elements: whole packs and a partial one.
Values wave(double size, double phase) {
  Values values;
  for (int i = 0; i < 43; ++i) values.push_back(size * std::sin(0.7 * i + phase));
  return values;
}

struct WeightsCase {
  const char* name;
  MakeOptimizer make;
};

std::vector<WeightsCase> weights_cases() {
  using namespace optim;
  return {
      {"sgd", make<SGD>(SGDArguments{.lr = 0.1, .weight_decay = 0.1})},
      {"sgd nesterov", make<SGD>(SGDArguments{.lr = 0.1, .momentum = 0.9, .nesterov = true})},
      {"adam", make<Adam>(AdamArguments{.lr = 0.01})},
      {"adamw amsgrad", make<AdamW>(AdamWArguments{.lr = 0.01, .amsgrad = true})},
  };
}

// An optimizer of 16-bit parameters with masters, and one of float32 parameters that began with
// the same values.
struct Pair {
  Pair(const WeightsCase& c, Tensor narrow_param, Tensor wide_param)
      : narrow(std::move(narrow_param)),
        wide(std::move(wide_param)),
        optimizer(c.make({narrow})),
        reference(c.make({wide})),
        masters(*optimizer) {}

  void expect_equal(const std::string& what) const {
    EXPECT_EQ(bytes_of(masters.master(narrow)), bytes_of(wide.array())) << what;
    EXPECT_EQ(bytes_of(narrow.array()), bytes_of(wide.array().to(narrow.dtype()))) << what;
    for (const auto& [name, array] : reference->state(wide)) {
      EXPECT_EQ(bytes_of(optimizer->state(narrow).at(name)), bytes_of(array)) << what << name;
    }
  }

  Tensor narrow, wide;
  std::unique_ptr<optim::Optimizer> optimizer, reference;
  MasterWeights masters;
};

TEST_P(MasterWeightsTest, EqualAFloat32Optimizers) {
  for (const WeightsCase& c : weights_cases()) {
    for (const DType dtype : {kHalf, kBFloat16}) {
      const Tensor start = parameter(wave(1, 0), dtype);
      Pair pair(c, start, Tensor(start.array().to(kFloat)).requires_grad_());
      for (int step = 0; step < 5; ++step) {
        give(pair.narrow, wave(0.5, step), dtype);
        give(pair.wide, wave(0.5, step), dtype);
        pair.optimizer->step();
        pair.reference->step();
        pair.expect_equal(c.name);
      }
    }
  }
}

// The scaled gradients are fp16 values; half of the unscaled ones are not.
TEST_P(MasterWeightsTest, AScalersStepUnscalesInFloat32) {
  constexpr double kScale = 0x1p20;
  for (const WeightsCase& c : weights_cases()) {
    const Tensor start = parameter(wave(1, 0), kHalf);
    Pair pair(c, start, Tensor(start.array().to(kFloat)).requires_grad_());
    GradScaler scaler({.init_scale = kScale});
    scaler.scale(Tensor(Array::full({}, 1, kFloat, device())));
    for (int step = 0; step < 3; ++step) {
      const Tensor scaled = parameter(wave(0x1p-26 * kScale, step), kHalf);
      pair.narrow.set_grad(scaled.detach());
      pair.wide.set_grad(scaled.detach().to(kFloat) * (1 / kScale));
      scaler.step(*pair.optimizer);
      scaler.update();
      pair.reference->step();
      pair.expect_equal(c.name);
    }
  }
}

TEST_P(MasterWeightsTest, ASkippedStepLeavesEveryBit) {
  Tensor param = parameter(wave(60000, 0), kHalf);
  optim::SGD optimizer({param}, {.lr = 0x1p16});
  const MasterWeights masters(optimizer);
  GradScaler scaler({.init_scale = 4});
  scaler.scale(Tensor(Array::full({}, 1, kFloat, device())));
  Values gradient = wave(1, 0);
  gradient[2] = kInfinite;
  give(param, gradient, kHalf);
  const Bytes weights = bytes_of(param.array());
  const Bytes before = bytes_of(masters.master(param));
  EXPECT_TRUE(scaler.step(optimizer).skipped());
  EXPECT_EQ(bytes_of(param.array()), weights);
  EXPECT_EQ(bytes_of(masters.master(param)), before);
  EXPECT_EQ(masters.overflows(), 0);
}

TEST_P(MasterWeightsTest, UnscaledFloat16GradientsAreLegal) {
  Tensor param = parameter({1, 1}, kHalf);
  optim::SGD optimizer({param}, {.lr = 1});
  GradScaler scaler({.init_scale = 4});
  scaler.scale(Tensor(Array::full({}, 1, kFloat, device())));
  give(param, {12, 16}, kHalf);
  EXPECT_THROW(scaler.unscale_(optimizer), std::invalid_argument);
  const MasterWeights masters(optimizer);
  scaler.unscale_(optimizer);
  expect_same(param.grad().to_vector<double>(), {3, 4});
  nn::utils::clip_grad_norm_(param, 100);
  scaler.step(optimizer);
  expect_same(param.to_vector<double>(), {-2, -3});
}

// Compares with Adam in doubles on the same fp16 gradients: each step adds a few roundoffs.
TEST_P(MasterWeightsTest, FollowAdamInDoubles) {
  constexpr double kLr = 0.01, kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;
  constexpr int kSteps = 20;
  Tensor param = parameter(wave(1, 0), kHalf);
  optim::Adam optimizer({param}, {.lr = kLr, .betas = {kBeta1, kBeta2}, .eps = kEps});
  const MasterWeights masters(optimizer);
  Values p = param.to_vector<double>();
  Values m(p.size()), v(p.size());
  for (int t = 1; t <= kSteps; ++t) {
    give(param, wave(0.5, 0.1 * t), kHalf);
    const Values g = param.grad().to_vector<double>();
    optimizer.step();
    for (std::size_t i = 0; i < p.size(); ++i) {
      m[i] = kBeta1 * m[i] + (1 - kBeta1) * g[i];
      v[i] = kBeta2 * v[i] + (1 - kBeta2) * g[i] * g[i];
      p[i] -= kLr * (m[i] / (1 - std::pow(kBeta1, t))) /
              (std::sqrt(v[i] / (1 - std::pow(kBeta2, t))) + kEps);
    }
  }
  const Values master = Tensor(masters.master(param)).to_vector<double>();
  const Values weight = param.to_vector<double>();
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_NEAR(master[i], p[i], 4 * kSteps * roundoff(kFloat));
    EXPECT_NEAR(weight[i], p[i], roundoff(kHalf) + 4 * kSteps * roundoff(kFloat));
  }
}

// 1 + 2^-12 is 1 in fp16, and so is each of sixteen such steps without masters.
TEST_P(MasterWeightsTest, KeepUpdatesBelowTheWeightsSpacing) {
  const auto trained = [&](bool with_masters) {
    Tensor param = parameter({1}, kHalf);
    optim::SGD optimizer({param}, {.lr = 0x1p-12});
    std::optional<MasterWeights> masters;
    if (with_masters) masters.emplace(optimizer);
    for (int step = 0; step < 16; ++step) {
      give(param, {-1}, kHalf);
      optimizer.step();
    }
    return param.item();
  };
  EXPECT_EQ(trained(false), 1);
  EXPECT_EQ(trained(true), 1 + 0x1p-8);
}

TEST_P(MasterWeightsTest, CountWeightsThatOverflow) {
  for (const auto& [dtype, start, limit] :
       {std::tuple(kHalf, 65504.0, 65520.0), std::tuple(kBFloat16, 0x1.fep127, 0x1.ffp127)}) {
    Tensor param = parameter(Values(11, start), dtype);
    optim::SGD optimizer({param}, {.lr = (limit - start) / 4});
    const MasterWeights masters(optimizer);
    give(param, {-4, -3, 0, 1, -4, -5, kNaN, -kInfinite, 3, -3, -4}, dtype);
    optimizer.step();
    EXPECT_EQ(masters.overflows(), 4) << name(dtype);
    EXPECT_EQ(param.to_vector<double>()[0], kInfinite);
    EXPECT_EQ(param.to_vector<double>()[9], start) << "it rounds down";
    EXPECT_EQ(Tensor(masters.master(param)).to_vector<double>()[0], limit);
    give(param, Values(11, 0), dtype);
    optimizer.step();
    EXPECT_EQ(masters.overflows(), 8) << "they are counted in every step";
  }
}

TEST_P(MasterWeightsTest, ArePartOfTheOptimizersState) {
  for (const WeightsCase& c : weights_cases()) {
    Tensor first = parameter(wave(1, 0), kHalf);
    const auto optimizer = c.make({first});
    const MasterWeights masters(*optimizer);
    give(first, wave(1, 1), kHalf);
    optimizer->step();

    Tensor second = Tensor(first.array().clone()).requires_grad_();
    const auto resumed = c.make({second});
    const MasterWeights resumed_masters(*resumed);
    resumed->load_state_dict(optimizer->state_dict());
    for (int step = 0; step < 2; ++step) {
      give(first, wave(1, step), kHalf);
      give(second, wave(1, step), kHalf);
      optimizer->step();
      resumed->step();
    }
    EXPECT_EQ(bytes_of(second.array()), bytes_of(first.array())) << c.name;
    EXPECT_EQ(bytes_of(resumed_masters.master(second)), bytes_of(masters.master(first))) << c.name;
  }
}

// A float32 run saves no masters: they come from the parameters, and its moments stay float32.
TEST_P(MasterWeightsTest, AreAddedToAStateWithoutThem) {
  for (const WeightsCase& c : weights_cases()) {
    for (const DType dtype : {kHalf, kBFloat16}) {
      for (const int steps : {0, 2}) {  // before the first update a state is empty
        Tensor narrow = parameter(wave(1, 0), dtype);
        Pair pair(c, narrow, Tensor(narrow.array().to(kFloat)).requires_grad_());
        for (int step = 0; step < steps; ++step) {
          give(pair.wide, wave(0.1, step), kFloat);
          pair.reference->step();
        }
        pair.wide.array().copy_(narrow.array());
        give(pair.narrow, wave(1, 1), dtype);
        pair.optimizer->step();
        pair.narrow.array().copy_(pair.wide.array());
        pair.optimizer->load_state_dict(pair.reference->state_dict());
        pair.expect_equal(c.name);
        EXPECT_EQ(pair.masters.overflows(), 0);
        for (int step = 0; step < 3; ++step) {
          give(pair.narrow, wave(1, step), dtype);
          give(pair.wide, wave(1, step), dtype);
          pair.optimizer->step();
          pair.reference->step();
          pair.expect_equal(c.name);
        }
      }
    }
  }
}

TEST_P(MasterWeightsTest, AreMadeFor16BitParametersOnly) {
  Tensor narrow = parameter({1, 2}, kBFloat16);
  Tensor wide = parameter({3}, kFloat);
  optim::SGD optimizer({narrow, wide}, {.lr = 1});
  MasterWeights masters(optimizer);
  EXPECT_THROW(masters.master(wide), std::invalid_argument);
  EXPECT_THROW(MasterWeights{optimizer}, std::invalid_argument) << "it has masters";
  give(narrow, {1, 1}, kBFloat16);
  give(wide, {1}, kFloat);
  optimizer.step();
  expect_same(narrow.to_vector<double>(), {0, 1});
  expect_same(wide.to_vector<double>(), {2});

  narrow.array().fill_(5);
  masters.copy_from_parameters();
  optimizer.step();
  expect_same(narrow.to_vector<double>(), {4, 4});
}

TEST_P(MasterWeightsTest, NeedAnOptimizerWithoutUpdates) {
  Tensor wide = parameter({1}, kFloat);
  optim::SGD of_wide({wide});
  EXPECT_THROW(MasterWeights{of_wide}, std::invalid_argument);
  Tensor narrow = parameter({1}, kHalf);
  optim::Adam begun({narrow});
  give(narrow, {1}, kHalf);
  begun.step();
  EXPECT_THROW(MasterWeights{begun}, std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::amp
