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

namespace functional {

class InstanceNormFuncOptions {
 public:
  TORCH_ARG(Tensor, running_mean) = {};
  TORCH_ARG(Tensor, running_var) = {};
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Tensor, bias) = {};
  TORCH_ARG(bool, use_input_stats) = true;
  TORCH_ARG(double, momentum) = 0.1;
  TORCH_ARG(double, eps) = 1e-5;
};

/// Normalizes each channel of each sample of [n, c, ...]: by its own mean and variance, or with
/// use_input_stats(false) by the running ones, each [c]. In the first case each running statistic r
/// becomes (1 - momentum) r + momentum s, where s is the mean over the samples of their means or
/// unbiased variances. Throws std::invalid_argument for fewer than three dimensions, for one
/// running statistic without the other, for use_input_stats(false) without them, and otherwise for
/// channels of one element.
Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});

}  // namespace functional

namespace detail {

/// The options as they are printed. Throws std::invalid_argument for a number of features below 1.
std::string checked_text(const std::string& name, const InstanceNormOptions& options);
/// functional::instance_norm() of an input with `spatial_dims` dimensions after the channels.
Tensor instance_norm(const std::string& name, const Tensor& input, int spatial_dims,
                     std::int64_t num_features, const functional::InstanceNormFuncOptions& options);

}  // namespace detail

/// functional::instance_norm() of [n, c, ...] or without samples [c, ...]. Without
/// track_running_stats it computes the same in training and in evaluation. With it, evaluation
/// normalizes with the running statistics.
template <int spatial_dims>
class InstanceNorm : public Callable<InstanceNorm<spatial_dims>> {
 public:
  using Base = Callable<InstanceNorm>;

  template <std::same_as<std::nullptr_t> T>
  InstanceNorm(T empty) : Base(empty), options(0) {}
  explicit InstanceNorm(const InstanceNormOptions& with_options)
      : Base(kName, detail::checked_text(kName, with_options)), options(with_options) {
    const std::int64_t c = with_options.num_features();
    if (with_options.affine()) {
      weight = this->register_parameter("weight", ones({c}));
      bias = this->register_parameter("bias", zeros({c}));
    }
    if (with_options.track_running_stats()) {
      running_mean = this->register_buffer("running_mean", zeros({c}));
      running_var = this->register_buffer("running_var", ones({c}));
      num_batches_tracked = this->register_buffer("num_batches_tracked", tensor(std::int64_t{0}));
    }
  }
  explicit InstanceNorm(std::int64_t num_features)
      : InstanceNorm(InstanceNormOptions(num_features)) {}

  /// Throws std::invalid_argument for another number of dimensions or channels.
  Tensor forward(const Tensor& input) const {
    return detail::instance_norm(
        kName, input, spatial_dims, options.num_features(),
        functional::InstanceNormFuncOptions()
            .running_mean(running_mean)
            .running_var(running_var)
            .weight(weight)
            .bias(bias)
            .use_input_stats(this->is_training() || !options.track_running_stats())
            .momentum(options.momentum())
            .eps(options.eps()));
  }
  void reset_running_stats() {
    if (!options.track_running_stats()) return;
    running_mean.zero_();
    running_var.fill_(1);
    num_batches_tracked.zero_();
  }
  void reset_parameters() {
    reset_running_stats();
    if (!options.affine()) return;
    init::ones_(weight);
    init::zeros_(bias);
  }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return this->clone_with(device, &InstanceNorm::weight, &InstanceNorm::bias,
                            &InstanceNorm::running_mean, &InstanceNorm::running_var,
                            &InstanceNorm::num_batches_tracked);
  }

  InstanceNormOptions options;
  Tensor weight;  ///< [num_features]; undefined unless affine
  Tensor bias;    ///< [num_features]; undefined unless affine
  // Undefined unless track_running_stats.
  Tensor running_mean;         ///< [num_features]
  Tensor running_var;          ///< [num_features]
  Tensor num_batches_tracked;  ///< 0: libtorch never counts it

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

}  // namespace halfgrad::nn
