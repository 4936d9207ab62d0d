#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/plain_names.h>
#include <halfgrad/nn/layer_config.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

struct LayerNormArguments {
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
  DType dtype = get_default_dtype();
  Device device = get_default_device();
};
HALFGRAD_PLAIN_NAME(LayerNormOptions, LayerNormArguments)

/// Normalizes the last dimensions, whose sizes are normalized_shape, to mean 0 and variance 1, then
/// applies weight and bias (Ba, Kiros and Hinton, 2016).
class LayerNorm : public Callable<LayerNorm> {
 public:
  template <std::same_as<std::nullptr_t> T>
  LayerNorm(T empty) : Callable(empty) {}
  explicit LayerNorm(const Shape& normalized_shape, LayerNormArguments arguments = {});
  /// Takes `LayerNorm({8})`, which g++ 12 could also parse as a copy of `LayerNorm(8)`.
  explicit LayerNorm(std::initializer_list<std::int64_t> normalized_shape,
                     LayerNormArguments arguments = {})
      : LayerNorm(Shape(normalized_shape), arguments) {}

  Tensor forward(const Tensor& input) const;
  /// Sets weight to ones and bias to zeros.
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device, &LayerNorm::weight, &LayerNorm::bias);
  }

  LayerNormConfig options;
  Tensor weight;  ///< [normalized_shape]; undefined unless elementwise_affine
  Tensor bias;    ///< [normalized_shape]; undefined unless elementwise_affine and bias
};

struct RMSNormArguments {
  std::optional<double> eps = std::nullopt;  ///< default: machine epsilon of the compute dtype
  bool elementwise_affine = true;
  DType dtype = get_default_dtype();
  Device device = get_default_device();
};
HALFGRAD_PLAIN_NAME(RMSNormOptions, RMSNormArguments)

/// Divides by the root mean square over the last dimensions, whose sizes are normalized_shape, then
/// multiplies by weight (Zhang and Sennrich, 2019).
class RMSNorm : public Callable<RMSNorm> {
 public:
  template <std::same_as<std::nullptr_t> T>
  RMSNorm(T empty) : Callable(empty) {}
  explicit RMSNorm(const Shape& normalized_shape, RMSNormArguments options = {});
  /// Takes `RMSNorm({8})`, which g++ 12 could also parse as a copy of `RMSNorm(8)`.
  explicit RMSNorm(std::initializer_list<std::int64_t> normalized_shape,
                   RMSNormArguments options = {})
      : RMSNorm(Shape(normalized_shape), options) {}

  Tensor forward(const Tensor& input) const;
  /// Sets weight to ones.
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device, &RMSNorm::weight);
  }

  Tensor weight;  ///< [normalized_shape]; undefined unless elementwise_affine

 private:
  Shape normalized_shape_;
  std::optional<double> eps_;
};

struct GroupNormArguments {
  double eps = 1e-5;
  bool affine = true;
  DType dtype = get_default_dtype();
  Device device = get_default_device();
  bool bias = true;  ///< with affine
};
HALFGRAD_PLAIN_NAME(GroupNormOptions, GroupNormArguments)

/// Normalizes groups of channels, dimension 1 of `[n, num_channels, ...]`, to mean 0 and variance
/// 1, then applies weight and bias (Wu and He, 2018); see group_norm().
class GroupNorm : public Callable<GroupNorm> {
 public:
  template <std::same_as<std::nullptr_t> T>
  GroupNorm(T empty) : Callable(empty) {}
  /// Throws std::invalid_argument unless num_groups divides num_channels.
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, GroupNormArguments arguments = {});

  /// Throws std::invalid_argument for another number of channels.
  Tensor forward(const Tensor& input) const;
  /// Sets weight to ones and bias to zeros.
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device, &GroupNorm::weight, &GroupNorm::bias);
  }

  GroupNormConfig options;
  Tensor weight;  ///< [num_channels]; undefined unless affine
  Tensor bias;    ///< [num_channels]; undefined unless affine and bias
};

struct BatchNorm1dArguments {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  ///< nullopt: running statistics are plain averages
  bool affine = true;
  bool track_running_stats = true;
  DType dtype = get_default_dtype();
  Device device = get_default_device();
  bool bias = true;  ///< with affine
};

/// Normalizes each channel to mean 0 and variance 1, then applies weight and bias (Ioffe and
/// Szegedy, 2015). Channels are dimension 1 of `[n, c]` or `[n, c, l]`. Uses the statistics of the
/// batch in training mode or if no running statistics are tracked, else the running statistics.
class BatchNorm1d : public Callable<BatchNorm1d> {
 public:
  template <std::same_as<std::nullptr_t> T>
  BatchNorm1d(T empty) : Callable(empty) {}
  explicit BatchNorm1d(std::int64_t num_features, BatchNorm1dArguments arguments = {});

  /// Updates the running statistics in training mode. Throws std::invalid_argument for other
  /// shapes.
  Tensor forward(const Tensor& input) const;
  /// Sets weight to ones and bias to zeros, and resets the running statistics.
  void reset_parameters();
  /// Sets running_mean to zeros, running_var to ones and the number of batches to 0.
  void reset_running_stats();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device, &BatchNorm1d::weight, &BatchNorm1d::bias, &BatchNorm1d::running_mean,
                      &BatchNorm1d::running_var, &BatchNorm1d::num_batches_tracked);
  }

  BatchNormConfig options;
  Tensor weight;               ///< [c]; undefined unless affine
  Tensor bias;                 ///< [c]; undefined unless affine and bias
  Tensor running_mean;         ///< [c]; undefined unless tracked
  Tensor running_var;          ///< [c], unbiased; undefined unless tracked
  Tensor num_batches_tracked;  ///< int64 []; undefined unless tracked

 private:
  Tensor forward_averaging(const Tensor& input) const;
};

namespace detail {

/// While true, every BatchNorm1d of this thread averages its running statistics plainly, as one
/// without momentum. optim::update_bn() sets it.
inline thread_local constinit bool plain_running_averages = false;

}  // namespace detail

}  // namespace halfgrad::nn
