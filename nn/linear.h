#pragma once

#include <cstdint>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

struct LinearOptions {
  bool bias = true;
  DType dtype = kFloat32;
  Device device = get_default_device();
};

/// The affine map
///     y = x weight^T + bias
/// from `[..., in_features]` to `[..., out_features]`.
class Linear : public Callable<Linear> {
 public:
  /// Throws std::invalid_argument for a negative size.
  Linear(std::int64_t in_features, std::int64_t out_features, LinearOptions options = {});

  Tensor forward(const Tensor& input) const;
  /// Draws weight and bias uniformly from [-1, 1] / sqrt(in_features), PyTorch's default.
  void reset_parameters();

  Tensor weight;  ///< [out_features, in_features]
  Tensor bias;    ///< [out_features]; undefined if options.bias is false
};

}  // namespace halfgrad::nn
