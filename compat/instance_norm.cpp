#include <halfgrad/compat/instance_norm.h>

#include <halfgrad/autograd/group_norm.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::nn::detail {

std::string checked_text(const std::string& name, const InstanceNormOptions& options) {
  if (options.num_features() < 1) {
    halfgrad::detail::fail(name, "expected num_features of at least 1, got {}",
                           options.num_features());
  }
  if (options.track_running_stats()) {
    halfgrad::detail::fail(name, "expected track_running_stats(false), got {}",
                           "true, which halfgrad does not have");
  }
  return text(options.num_features(), ", eps=", options.eps(), ", momentum=", options.momentum(),
              ", affine=", options.affine(),
              ", track_running_stats=", options.track_running_stats());
}

Tensor instance_norm(const std::string& name, const Tensor& input, int spatial_dims,
                     const InstanceNormOptions& options, const Tensor& weight, const Tensor& bias) {
  const bool has_samples = input.dim() == spatial_dims + 2;
  const bool fits = has_samples || input.dim() == spatial_dims + 1;
  if (!fits || input.size(has_samples ? 1 : 0) != options.num_features()) {
    halfgrad::detail::fail(name,
                           "expected [n, {}, ...] or [{}, ...] with {} dimensions after the "
                           "channels, got {}",
                           options.num_features(), options.num_features(), spatial_dims,
                           input.sizes());
  }
  const Tensor samples = has_samples ? input : unsqueeze(input, 0);
  const Tensor output = group_norm(samples, options.num_features(), weight, bias, options.eps());
  return has_samples ? output : squeeze(output, 0);
}

}  // namespace halfgrad::nn::detail

namespace halfgrad::nn::functional {

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options) {
  if (input.dim() < 3) {
    halfgrad::detail::fail("instance_norm", "expected [n, c, ...], got shape {}", input.sizes());
  }
  if (!options.use_input_stats()) {
    halfgrad::detail::fail("instance_norm", "expected use_input_stats(true), got {}",
                           "false, which halfgrad does not have");
  }
  return group_norm(input, input.size(1), options.weight(), options.bias(), options.eps());
}

}  // namespace halfgrad::nn::functional
