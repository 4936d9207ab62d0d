#include <halfgrad/optim/muon.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/master_weights.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/message_of.h>

#include "parameters.h"
#include "stream.h"

namespace halfgrad::optim {
namespace {

using nlohmann::json;
using testing::bytes_of;
using testing::expected_values;
using testing::numbers;
using testing::Stream;
using testing::tensor_of;
using Values = std::vector<double>;

constexpr double kProductRoundoff = 0x1p-8;  // bfloat16

using MuonOn = OnDevice;
HALFGRAD_ON_DEVICES(MuonOn);

MuonArguments muon_options(const json& o) {
  MuonArguments options;
  options.lr = o.value("lr", options.lr);
  options.weight_decay = o.value("weight_decay", options.weight_decay);
  options.momentum = o.value("momentum", options.momentum);
  options.nesterov = o.value("nesterov", options.nesterov);
  options.ns_steps = o.value("ns_steps", options.ns_steps);
  options.ns_coefficients = o.value("ns_coefficients", options.ns_coefficients);
  const std::string rate = o.value("adjust_lr_fn", "original");
  if (rate == "match_rms_adamw") options.adjust_lr_fn = MuonRate::match_rms_adamw;
  if (rate == "spectral_unclamped") options.adjust_lr_fn = MuonRate::spectral_unclamped;
  return options;
}

// Both libraries round each product to bfloat16, in different orders of summation. Every step adds
// lr * factor times a direction that may differ by a few roundoffs.
TEST_P(MuonOn, TakesTheStepsOfPyTorch) {
  const json file = expected_values("muon.json");
  ASSERT_EQ(file["runs"].size(), 5u);
  const Values kept = numbers(file["steps"]);
  for (const json& run : file["runs"]) {
    Stream stream;
    const auto next = [&](const Shape& sizes) {
      return stream.tensor(sizes, DType::f32).to(device());
    };
    std::vector<Tensor> params{next({3, 4}), next({6, 2})};
    for (Tensor& param : params) param.requires_grad_();
    Muon optimizer(params, muon_options(run["options"]));
    std::size_t row = 0;
    for (int step = 1; step <= 30; ++step) {
      params[0].set_grad(next({3, 4}));
      params[1].set_grad(next({6, 2}));
      optimizer.step();
      if (step != kept[row]) continue;
      const Values expected = numbers(run["params"][row++]);
      Values got = params[0].to_vector<double>();
      for (const double value : params[1].to_vector<double>()) got.push_back(value);
      const double tolerance = 0.02 * std::sqrt(3.0) * step * kProductRoundoff;
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i], expected[i], tolerance) << run["options"] << " step " << step;
      }
    }
    EXPECT_EQ(row, 3u);
  }
}

// p - 1 * NewtonSchulz(u) with the gradient as u, against the iteration in double.
TEST_P(MuonOn, StepsAlongTheOrthogonalizedGradient) {
  Stream stream;
  for (const Shape& sizes : {Shape{5, 7}, Shape{7, 5}, Shape{1, 6}, Shape{6, 1}, Shape{1, 1}}) {
    const Tensor gradient = stream.tensor(sizes, DType::f64);
    Tensor param = zeros(sizes, {.dtype = DType::f64, .device = device()}).requires_grad_();
    Muon optimizer(
        {param},
        {.lr = 1, .momentum = 0, .nesterov = false, .adjust_lr_fn = MuonRate::spectral_unclamped});
    param.set_grad(gradient.to(device()));
    optimizer.step();

    const bool is_tall = sizes[0] > sizes[1];
    Tensor x = is_tall ? gradient.t() : gradient;
    x = x / sqrt(sum(square(x)));
    for (int step = 0; step < 5; ++step) {
      const Tensor gram = matmul(x, x.t());
      x = 3.4445 * x + matmul(-4.7750 * gram + 2.0315 * matmul(gram, gram), x);
    }
    const double factor = std::sqrt(static_cast<double>(sizes[0]) / static_cast<double>(sizes[1]));
    const Values expected = (-factor * (is_tall ? x.t() : x)).contiguous().to_vector<double>();
    const Values got = param.to_vector<double>();
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], expected[i], 16 * kProductRoundoff * factor)
          << sizes[0] << " x " << sizes[1] << ", element " << i;
    }
  }
}

TEST_P(MuonOn, KeepsEveryBitIfTheStepIsSkipped) {
  Tensor param = tensor_of({1, 2, 3, 4, 5, 6}).reshape({2, 3}).to(device()).requires_grad_();
  Muon optimizer({param}, {.lr = 0.1});
  param.set_grad(tensor_of({1, 0, -1, 2, 0, 1}).reshape({2, 3}).to(device()));
  optimizer.step();
  const auto weight = bytes_of(param.array());
  const auto momentum = bytes_of(optimizer.state(param).at("momentum_buffer"));
  param.set_grad(tensor_of(Values(6, testing::kNaN)).reshape({2, 3}).to(device()));
  const Array found_inf = Array::full({}, 1, DType::f32, device());
  const Array inv_scale = Array::full({}, 0.5, DType::f32, device());
  optimizer.step({.inv_scale = &inv_scale, .found_inf = &found_inf});
  EXPECT_EQ(bytes_of(param.array()), weight);
  EXPECT_EQ(bytes_of(optimizer.state(param).at("momentum_buffer")), momentum);
}

// A scaled gradient gives the step of the unscaled one, and masters the step of float32 weights.
TEST_P(MuonOn, UnscalesAndUpdatesMasters) {
  Stream stream;
  const Tensor start = stream.tensor({3, 4}, DType::f16),
               gradient = stream.tensor({3, 4}, DType::f16);
  Tensor low = start.clone().to(device()).requires_grad_();
  Tensor high = start.to(DType::f32).to(device()).requires_grad_();
  Muon optimizer({low}, {.lr = 0.1}), reference({high}, {.lr = 0.1});
  const amp::MasterWeights masters(optimizer);
  const Array inv_scale = Array::full({}, 1.0 / 1024, DType::f32, device());
  for (int step = 0; step < 3; ++step) {
    low.set_grad((gradient * 1024.0).to(device()));
    high.set_grad(gradient.to(DType::f32).to(device()));
    optimizer.step({.inv_scale = &inv_scale});
    reference.step();
  }
  EXPECT_EQ(bytes_of(masters.master(low)), bytes_of(high.array()));
  EXPECT_EQ(bytes_of(low.array()), bytes_of(high.array().to(DType::f16)));
}

TEST(Muon, NamesWhatItCannotDo) {
  const auto message = [](const auto& call) { return message_of<std::invalid_argument>(call); };
  const Tensor vector = testing::parameter({1, 2});
  const Tensor matrix = zeros({2, 2}).requires_grad_();
  EXPECT_EQ(message([&] { Muon({vector}); }),
            "Muon: expected matrices, got a parameter of shape [2]; give biases, norms and "
            "embeddings to AdamW");
  EXPECT_EQ(message([&] { Muon({matrix}, {.momentum = -1}); }),
            "Muon: expected momentum >= 0, got -1");
  EXPECT_EQ(message([&] { Muon({matrix}, {.ns_steps = 100}); }),
            "Muon: expected ns_steps in [0, 100), got 100");
}

}  // namespace
}  // namespace halfgrad::optim
