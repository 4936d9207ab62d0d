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

/// y = x weight^T + bias: [..., in_features] to [..., out_features].
class Linear : public Callable<Linear> {
 public:
  /// Both sizes are at least 0; else std::invalid_argument.
  Linear(std::int64_t in_features, std::int64_t out_features, LinearOptions options = {});

  Tensor forward(const Tensor& input) const;
  /// PyTorch's default: both uniform on +-1 / sqrt(in_features).
  void reset_parameters();

  Tensor weight;  ///< [out_features, in_features]
  Tensor bias;    ///< [out_features]; undefined without bias
};

}  // namespace halfgrad::nn
