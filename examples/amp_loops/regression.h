#pragma once

#include <halfgrad/data/dataset.h>
#include <halfgrad/halfgrad.h>

#include "loops.h"

namespace hg = halfgrad;

/// The first scale is so large that the first gradients overflow; it grows after 4 good steps. The
/// history has the last steps of up to two optimizers.
inline constexpr hg::amp::GradScalerOptions kScaler{
    .init_scale = kFirstScale, .growth_interval = 4, .history = 4};
inline constexpr double kLearningRate = 0.125;

/// A regression from 8 features to 1 target: a small network and endless batches. Weights and
/// inputs are exact in every dtype, so that other frameworks can repeat the training.
struct Regression : hg::nn::Callable<Regression> {
  static constexpr std::int64_t kBatch = 8, kFeatures = 8, kHidden = 16;

  Regression();
  hg::Tensor forward(const hg::Tensor& x) const { return output(hg::tanh(hidden(x))); }
  /// Returns x `[8, 8]` and y `[8, 1]`, where y = x_0 x_1 - x_2.
  hg::data::Batch batch(std::int64_t index) const;

  hg::Device device = hg::cuda::is_available() ? hg::kCUDA : hg::kCPU;
  hg::nn::Linear hidden = register_module("hidden", hg::nn::Linear(kFeatures, kHidden));
  hg::nn::Linear output = register_module("output", hg::nn::Linear(kHidden, 1));
};
