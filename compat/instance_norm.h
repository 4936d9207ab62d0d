#pragma once

#include <halfgrad/compat/names.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/compat/option.h>
#include <halfgrad/nn/init.h>
#include <halfgrad/nn/module.h>

/// libtorch's InstanceNorm: each channel of each sample is normalized alone.
namespace halfgrad::nn {

class InstanceNormOptions {
 public:
  InstanceNormOptions(std::int64_t num_features) : num_features_(num_features) {}
  TORCH_ARG(std::int64_t, num_features);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(double, momentum) = 0.1;
  TORCH_ARG(bool, affine) = false;
  TORCH_ARG(bool, track_running_stats) = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

namespace detail {

/// The options as they are printed. Throws std::invalid_argument for a number of features below 1,
/// and for track_running_stats, which halfgrad lacks.
std::string checked_text(const std::string& name, const InstanceNormOptions& options);
/// group_norm() of an input with `spatial_dims` dimensions after the channels.
Tensor instance_norm(const std::string& name, const Tensor& input, int spatial_dims,
                     const InstanceNormOptions& options, const Tensor& weight, const Tensor& bias);

}  // namespace detail

/// group_norm() with a group for each channel, of [n, c, ...] or without samples [c, ...]. Computes
/// the same in training and in evaluation.
template <int spatial_dims>
class InstanceNorm : public Callable<InstanceNorm<spatial_dims>> {
 public:
  using Base = Callable<InstanceNorm>;

  template <std::same_as<std::nullptr_t> T>
  InstanceNorm(T empty) : Base(empty), options(0) {}
  explicit InstanceNorm(const InstanceNormOptions& with_options)
      : Base(kName, detail::checked_text(kName, with_options)), options(with_options) {
    if (!with_options.affine()) return;
    weight = this->register_parameter("weight", ones({with_options.num_features()}));
    bias = this->register_parameter("bias", zeros({with_options.num_features()}));
  }
  explicit InstanceNorm(std::int64_t num_features)
      : InstanceNorm(InstanceNormOptions(num_features)) {}

  /// Throws std::invalid_argument for another number of dimensions or channels.
  Tensor forward(const Tensor& input) const {
    return detail::instance_norm(kName, input, spatial_dims, options, weight, bias);
  }
  void reset_parameters() {
    if (!options.affine()) return;
    init::ones_(weight);
    init::zeros_(bias);
  }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return this->clone_with(device, &InstanceNorm::weight, &InstanceNorm::bias);
  }

  InstanceNormOptions options;
  Tensor weight;  ///< [num_features]; undefined unless affine
  Tensor bias;    ///< [num_features]; undefined unless affine

 private:
  static constexpr const char* kName = spatial_dims == 1   ? "InstanceNorm1d"
                                       : spatial_dims == 2 ? "InstanceNorm2d"
                                                           : "InstanceNorm3d";
};

using InstanceNorm1d = InstanceNorm<1>;
using InstanceNorm2d = InstanceNorm<2>;
using InstanceNorm3d = InstanceNorm<3>;
using InstanceNorm1dImpl = InstanceNorm1d;
using InstanceNorm2dImpl = InstanceNorm2d;
using InstanceNorm3dImpl = InstanceNorm3d;

namespace functional {

/// Running statistics are not there.
class InstanceNormFuncOptions {
 public:
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Tensor, bias) = {};
  TORCH_ARG(bool, use_input_stats) = true;
  TORCH_ARG(double, momentum) = 0.1;
  TORCH_ARG(double, eps) = 1e-5;
};

/// Normalizes each channel of each sample of [n, c, ...]. Throws std::invalid_argument for fewer
/// than three dimensions, and for use_input_stats(false).
Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});

}  // namespace functional
}  // namespace halfgrad::nn
