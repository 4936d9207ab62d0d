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

/// Mean 0 and variance 1 over the last dimensions, whose sizes are normalized_shape, then weight
/// and bias (Ba, Kiros and Hinton, 2016).
class LayerNorm : public Callable<LayerNorm> {
 public:
  explicit LayerNorm(const Shape& normalized_shape, LayerNormOptions options = {});
  /// For `LayerNorm({8})`, which g++ 12 could also read as a copy of `LayerNorm(8)`.
  explicit LayerNorm(std::initializer_list<std::int64_t> normalized_shape,
                     LayerNormOptions options = {})
      : LayerNorm(Shape(normalized_shape), options) {}

  Tensor forward(const Tensor& input) const;
  /// Ones and zeros.
  void reset_parameters();

  Tensor weight;  ///< [normalized_shape]; undefined unless elementwise_affine
  Tensor bias;    ///< [normalized_shape]; undefined without bias

 private:
  Shape normalized_shape_;
  double eps_;
};

struct RMSNormOptions {
  std::optional<double> eps = std::nullopt;  ///< when absent the epsilon of the compute type
  bool elementwise_affine = true;
  DType dtype = kFloat32;
  Device device = get_default_device();
};

/// Divided by the root mean square over the last dimensions, then times weight (Zhang and Sennrich,
/// 2019).
class RMSNorm : public Callable<RMSNorm> {
 public:
  explicit RMSNorm(const Shape& normalized_shape, RMSNormOptions options = {});
  /// For `RMSNorm({8})`, which g++ 12 could also read as a copy of `RMSNorm(8)`.
  explicit RMSNorm(std::initializer_list<std::int64_t> normalized_shape,
                   RMSNormOptions options = {})
      : RMSNorm(Shape(normalized_shape), options) {}

  Tensor forward(const Tensor& input) const;
  /// Ones.
  void reset_parameters();

  Tensor weight;  ///< [normalized_shape]; undefined unless elementwise_affine

 private:
  Shape normalized_shape_;
  std::optional<double> eps_;
};

struct BatchNorm1dOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  ///< when absent, running statistics are plain averages
  bool affine = true;
  bool track_running_stats = true;
  DType dtype = kFloat32;
  Device device = get_default_device();
};

/// Each of num_features channels, dimension 1 of [n, c] or [n, c, l], to mean 0 and variance 1,
/// then weight and bias (Ioffe and Szegedy, 2015). In training over the batch; in evaluation, or
/// without a batch, by the running statistics if they are tracked.
class BatchNorm1d : public Callable<BatchNorm1d> {
 public:
  explicit BatchNorm1d(std::int64_t num_features, BatchNorm1dOptions options = {});

  /// In training updates the running statistics. Throws std::invalid_argument for other shapes.
  Tensor forward(const Tensor& input) const;
  /// Ones and zeros; forgets the running statistics.
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
