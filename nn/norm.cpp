#include <halfgrad/nn/norm.h>

#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/group_norm.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/init.h>

namespace halfgrad::nn {

LayerNorm::LayerNorm(const Shape& normalized_shape, LayerNormArguments arguments)
    : Callable("LayerNorm",
               detail::text(to_string(normalized_shape), ", eps=", arguments.eps,
                            ", elementwise_affine=", arguments.elementwise_affine,
                            ", bias=", arguments.elementwise_affine && arguments.bias)),
      options(std::vector<std::int64_t>(normalized_shape.begin(), normalized_shape.end()),
              arguments.eps, arguments.elementwise_affine) {
  if (!arguments.elementwise_affine) return;
  const CreationOptions kind{.dtype = arguments.dtype, .device = arguments.device};
  weight = register_parameter("weight", ones(normalized_shape, kind));
  if (arguments.bias) bias = register_parameter("bias", zeros(normalized_shape, kind));
}

Tensor LayerNorm::forward(const Tensor& input) const {
  return layer_norm(input, Shape(options.normalized_shape()), weight, bias, options.eps());
}

void LayerNorm::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

RMSNorm::RMSNorm(const Shape& normalized_shape, RMSNormArguments options)
    : Callable("RMSNorm",
               detail::text(to_string(normalized_shape), ", eps=",
                            options.eps ? detail::text(*options.eps) : std::string("none"),
                            ", elementwise_affine=", options.elementwise_affine)),
      normalized_shape_(normalized_shape),
      eps_(options.eps) {
  if (!options.elementwise_affine) return;
  const CreationOptions kind{.dtype = options.dtype, .device = options.device};
  weight = register_parameter("weight", ones(normalized_shape, kind));
}

Tensor RMSNorm::forward(const Tensor& input) const {
  return rms_norm(input, normalized_shape_, weight, eps_);
}

void RMSNorm::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
}

GroupNorm::GroupNorm(std::int64_t num_groups, std::int64_t num_channels,
                     GroupNormArguments arguments)
    : Callable("GroupNorm", detail::text(num_groups, ", ", num_channels, ", eps=", arguments.eps,
                                         ", affine=", arguments.affine,
                                         ", bias=", arguments.affine && arguments.bias)),
      options(num_groups, num_channels, arguments.eps, arguments.affine) {
  if (num_groups < 1 || num_channels < 1 || num_channels % num_groups != 0) {
    halfgrad::detail::fail("GroupNorm", "expected groups that divide {} channels, got {}",
                           num_channels, num_groups);
  }
  if (!arguments.affine) return;
  const CreationOptions kind{.dtype = arguments.dtype, .device = arguments.device};
  weight = register_parameter("weight", ones({num_channels}, kind));
  if (arguments.bias) bias = register_parameter("bias", zeros({num_channels}, kind));
}

Tensor GroupNorm::forward(const Tensor& input) const {
  if (input.dim() < 2 || input.size(1) != options.num_channels()) {
    halfgrad::detail::fail("GroupNorm", "expected shape [n, {}, ...], got {}",
                           options.num_channels(), input.sizes());
  }
  return group_norm(input, options.num_groups(), weight, bias, options.eps());
}

void GroupNorm::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

BatchNorm1d::BatchNorm1d(std::int64_t num_features, BatchNorm1dArguments arguments)
    : Callable("BatchNorm1d",
               detail::text(
                   num_features, ", eps=", arguments.eps,
                   ", momentum=", arguments.momentum ? detail::text(*arguments.momentum) : "none",
                   ", affine=", arguments.affine, ", bias=", arguments.affine && arguments.bias,
                   ", track_running_stats=", arguments.track_running_stats)),
      options(num_features, arguments.eps, arguments.momentum, arguments.affine,
              arguments.track_running_stats) {
  const CreationOptions kind{.dtype = arguments.dtype, .device = arguments.device};
  if (arguments.affine) {
    weight = register_parameter("weight", ones({num_features}, kind));
    if (arguments.bias) bias = register_parameter("bias", zeros({num_features}, kind));
  }
  if (arguments.track_running_stats) {
    running_mean = register_buffer("running_mean", zeros({num_features}, kind));
    running_var = register_buffer("running_var", ones({num_features}, kind));
    num_batches_tracked = register_buffer("num_batches_tracked",
                                          zeros({}, {.dtype = kInt64, .device = arguments.device}));
  }
}

Tensor BatchNorm1d::forward(const Tensor& input) const {
  if ((input.dim() != 2 && input.dim() != 3) || input.size(1) != options.num_features()) {
    halfgrad::detail::fail("BatchNorm1d", "expected shape [n, {}] or [n, {}, l], got {}",
                           options.num_features(), options.num_features(), input.sizes());
  }
  const bool tracked = running_mean.defined();
  if (is_training() && tracked) {
    const NoGradGuard no_grad;
    Tensor count = num_batches_tracked;
    count.add_(1);
  }
  const bool averages = !options.momentum() || detail::plain_running_averages;
  if (is_training() && tracked && averages) return forward_averaging(input);
  return batch_norm(input, weight, bias, running_mean, running_var, is_training() || !tracked,
                    options.momentum().value_or(0), options.eps());
}

// Updates running statistics as plain averages: after batch n, the new value has the weight 1/n. n
// is read on the device, because reading it on the host would wait for the GPU.
Tensor BatchNorm1d::forward_averaging(const Tensor& input) const {
  const Tensor mean = zeros_like(running_mean);
  const Tensor var = zeros_like(running_var);
  const Tensor output = batch_norm(input, weight, bias, mean, var, true, 1, options.eps());
  const NoGradGuard no_grad;
  const halfgrad::detail::CastRuleScope no_autocast(nullptr);  // statistics keep their dtype
  const Tensor weight_of_batch = reciprocal(num_batches_tracked.to(mean.dtype()));
  Tensor(running_mean).copy_(lerp(running_mean, mean, weight_of_batch));
  Tensor(running_var).copy_(lerp(running_var, var, weight_of_batch));
  return output;
}

void BatchNorm1d::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
  reset_running_stats();
}

void BatchNorm1d::reset_running_stats() {
  if (!running_mean.defined()) return;
  init::zeros_(running_mean);
  init::ones_(running_var);
  init::zeros_(num_batches_tracked);
}

}  // namespace halfgrad::nn
