#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/plain_names.h>
#include <halfgrad/nn/layer_config.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

struct LinearArguments {
  bool bias = true;
  DType dtype = get_default_dtype();
  Device device = get_default_device();
};
HALFGRAD_PLAIN_NAME(LinearOptions, LinearArguments)

/// The affine map
///     y = x weight^T + bias
/// from `[..., in_features]` to `[..., out_features]`.
class Linear : public Callable<Linear> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Linear(T empty) : Callable(empty) {}
  /// Throws std::invalid_argument for a negative size.
  Linear(std::int64_t in_features, std::int64_t out_features, LinearArguments arguments = {});
  /// Computes with these parameters, trained if they require gradients. `Linear(table.weight)`
  /// shares the weight of an embedding: tied weights. Throws std::invalid_argument for other shapes
  /// than weight `[out_features, in_features]` and bias `[out_features]`.
  explicit Linear(Tensor weight, Tensor bias = {});
  /// A handle of the same layer, as libtorch's holder of a pointer.
  Linear(const std::shared_ptr<Linear>& layer)
      : Linear(layer == nullptr ? Linear(nullptr) : *layer) {}

  Tensor forward(const Tensor& input) const;
  /// Draws weight and bias uniformly from [-1, 1] / sqrt(in_features), PyTorch's default.
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device, &Linear::weight, &Linear::bias);
  }

  LinearConfig options;
  Tensor weight;  ///< [out_features, in_features]
  Tensor bias;    ///< [out_features]; undefined without bias
};

}  // namespace halfgrad::nn
