#pragma once

#include <cmath>
#include <cstdint>

#include <halfgrad/halfgrad.h>

/// The layers of both transformers: sizes, and initialisation as in nanoGPT.
namespace char_lm {

namespace hg = halfgrad;

struct TransformerOptions {
  std::int64_t characters, context, layers, heads, width;
  double dropout = 0;
  bool checkpoint = false;
};

inline constexpr double kStd = 0.02;

/// Standard deviation of the layers that add to the residual stream, twice in each block: without
/// the factor 1 / sqrt(2 layers), the variance of the stream would grow with the depth.
inline double residual_std(const TransformerOptions& options) {
  return kStd / std::sqrt(2.0 * static_cast<double>(options.layers));
}

/// A linear layer without bias, with weights from a normal distribution.
inline hg::nn::Linear matrix(std::int64_t in, std::int64_t out, double std) {
  hg::nn::Linear linear(in, out, {.bias = false});
  hg::nn::init::normal_(linear.weight, 0, std);
  return linear;
}

}  // namespace char_lm
