#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
  DType dtype = kFloat32;
  Device device = get_default_device();
};

/// Normalizes the last dimensions, whose sizes are normalized_shape, to mean 0 and variance 1, then
/// applies weight and bias (Ba, Kiros and Hinton, 2016).
class LayerNorm : public Callable<LayerNorm> {
 public:
  explicit LayerNorm(const Shape& normalized_shape, LayerNormOptions options = {});
  /// Takes `LayerNorm({8})`, which g++ 12 could also parse as a copy of `LayerNorm(8)`.
  explicit LayerNorm(std::initializer_list<std::int64_t> normalized_shape,
                     LayerNormOptions options = {})
      : LayerNorm(Shape(normalized_shape), options) {}

  Tensor forward(const Tensor& input) const;
  /// Sets weight to ones and bias to zeros.
  void reset_parameters();

  Tensor weight;  ///< [normalized_shape]; undefined unless elementwise_affine
  Tensor bias;    ///< [normalized_shape]; undefined unless elementwise_affine and options.bias

 private:
  Shape normalized_shape_;
  double eps_;
};

struct RMSNormOptions {
  std::optional<double> eps = std::nullopt;  ///< default: machine epsilon of the compute dtype
  bool elementwise_affine = true;
  DType dtype = kFloat32;
  Device device = get_default_device();
};

/// Divides by the root mean square over the last dimensions, whose sizes are normalized_shape, then
/// multiplies by weight (Zhang and Sennrich, 2019).
class RMSNorm : public Callable<RMSNorm> {
 public:
  explicit RMSNorm(const Shape& normalized_shape, RMSNormOptions options = {});
  /// Takes `RMSNorm({8})`, which g++ 12 could also parse as a copy of `RMSNorm(8)`.
  explicit RMSNorm(std::initializer_list<std::int64_t> normalized_shape,
                   RMSNormOptions options = {})
      : RMSNorm(Shape(normalized_shape), options) {}

  Tensor forward(const Tensor& input) const;
  /// Sets weight to ones.
  void reset_parameters();

  Tensor weight;  ///< [normalized_shape]; undefined unless elementwise_affine

 private:
  Shape normalized_shape_;
  std::optional<double> eps_;
};

struct BatchNorm1dOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  ///< nullopt: running statistics are plain averages
  bool affine = true;
  bool track_running_stats = true;
  DType dtype = kFloat32;
  Device device = get_default_device();
};

/// Normalizes each channel, dimension 1 of `[n, c]` or `[n, c, l]`, to mean 0 and variance 1, then
/// applies weight and bias (Ioffe and Szegedy, 2015). Uses the statistics of the batch in training
/// mode or if no running statistics are tracked, else the running statistics.
class BatchNorm1d : public Callable<BatchNorm1d> {
 public:
  explicit BatchNorm1d(std::int64_t num_features, BatchNorm1dOptions options = {});

  /// Updates the running statistics in training mode. Throws std::invalid_argument for other
  /// shapes.
  Tensor forward(const Tensor& input) const;
  /// Sets weight to ones and bias to zeros, and resets the running statistics.
  void reset_parameters();

  Tensor weight;               ///< [c]; undefined unless affine
  Tensor bias;                 ///< [c]; undefined unless affine
  Tensor running_mean;         ///< [c]; undefined unless tracked
  Tensor running_var;          ///< [c], unbiased; undefined unless tracked
  Tensor num_batches_tracked;  ///< int64 []; undefined unless tracked

 private:
  Tensor forward_averaging(const Tensor& input) const;

  std::int64_t num_features_;
  std::optional<double> momentum_;
  double eps_;
};

}  // namespace halfgrad::nn
