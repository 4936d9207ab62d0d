#pragma once

#include <halfgrad/data/dataset.h>
#include <halfgrad/halfgrad.h>

namespace hg = halfgrad;

/// Starts so high that the first scaled gradients overflow, and grows soon.
inline constexpr hg::amp::GradScalerOptions kScaler{.init_scale = 0x1p24, .growth_interval = 4};
inline constexpr double kLearningRate = 0.125;

/// Eight numbers to one: a network, and batches for it without end, from formulas that are exact in
/// every dtype, so that any framework can repeat them.
struct Regression : hg::nn::Callable<Regression> {
  static constexpr std::int64_t kBatch = 8, kFeatures = 8, kHidden = 16;

  Regression();
  hg::Tensor forward(const hg::Tensor& x) const { return output(hg::tanh(hidden(x))); }
  /// x [8, 8], and y = x_0 x_1 - x_2 as [8, 1].
  hg::data::Batch batch(std::int64_t number) const;

  hg::Device device = hg::cuda::is_available() ? hg::kCUDA : hg::kCPU;
  hg::nn::Linear hidden = register_module("hidden", hg::nn::Linear(kFeatures, kHidden));
  hg::nn::Linear output = register_module("output", hg::nn::Linear(kHidden, 1));
};
