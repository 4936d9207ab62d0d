#include <halfgrad/compat/instance_norm.h>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/group_norm.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::nn::detail {

std::string checked_text(const std::string& name, const InstanceNormOptions& options) {
  if (options.num_features() < 1) {
    halfgrad::detail::fail(name, "expected num_features of at least 1, got {}",
                           options.num_features());
  }
  return text(options.num_features(), ", eps=", options.eps(), ", momentum=", options.momentum(),
              ", affine=", options.affine(),
              ", track_running_stats=", options.track_running_stats());
}

Tensor instance_norm(const std::string& name, const Tensor& input, int spatial_dims,
                     std::int64_t num_features,
                     const functional::InstanceNormFuncOptions& options) {
  const bool has_samples = input.dim() == spatial_dims + 2;
  const bool fits = has_samples || input.dim() == spatial_dims + 1;
  if (!fits || input.size(has_samples ? 1 : 0) != num_features) {
    halfgrad::detail::fail(name,
                           "expected [n, {}, ...] or [{}, ...] with {} dimensions after the "
                           "channels, got {}",
                           num_features, num_features, spatial_dims, input.sizes());
  }
  const Tensor samples = has_samples ? input : unsqueeze(input, 0);
  const Tensor output = functional::instance_norm(samples, options);
  return has_samples ? output : squeeze(output, 0);
}

}  // namespace halfgrad::nn::detail

namespace halfgrad::nn::functional {

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options) {
  using halfgrad::detail::fail;
  if (input.dim() < 3) fail("instance_norm", "expected [n, c, ...], got shape {}", input.sizes());
  const Tensor &mean = options.running_mean(), &var = options.running_var();
  if (mean.defined() != var.defined()) {
    fail("instance_norm", "expected running_mean and running_var, got {}", "one of them");
  }
  if (!options.use_input_stats()) {
    if (!mean.defined()) {
      fail("instance_norm", "expected running statistics, got {}",
           "none; use_input_stats(true) needs none");
    }
    return halfgrad::batch_norm(input, options.weight(), options.bias(), mean, var, false,
                                options.momentum(), options.eps());
  }
  if (input.numel() == input.size(0) * input.size(1)) {
    fail("instance_norm", "expected more than one element in each channel of a sample, got {}",
         input.sizes());
  }
  if (mean.defined()) {
    const NoGradGuard no_grad;
    const Tensor x = input.flatten(2).to(mean.dtype());
    mean.lerp_(x.mean(Shape{0, 2}), options.momentum());
    var.lerp_(x.var(Shape{2}).mean(0), options.momentum());
  }
  return group_norm(input, input.size(1), options.weight(), options.bias(), options.eps());
}

}  // namespace halfgrad::nn::functional
