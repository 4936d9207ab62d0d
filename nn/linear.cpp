#include <halfgrad/nn/linear.h>

#include <cmath>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/init.h>

namespace halfgrad::nn {
namespace {

void draw_linear(const Tensor& weight, const Tensor& bias) {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto fan_in = static_cast<double>(weight.size(1));
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  init::uniform_(bias, -bound, bound);
}

}  // namespace

Linear::Linear(std::int64_t in_features, std::int64_t out_features, LinearOptions options)
    : Callable("Linear", detail::text("in_features=", in_features, ", out_features=", out_features,
                                      ", bias=", options.bias)) {
  if (in_features < 0 || out_features < 0) {
    halfgrad::detail::fail("Linear", "expected sizes of at least 0, got {} and {}", in_features,
                           out_features);
  }
  const auto parameter = [&](const char* name, const Shape& sizes) {
    return register_parameter(name, Tensor(Array::empty(sizes, options.dtype, options.device)));
  };
  weight = parameter("weight", {out_features, in_features});
  if (options.bias) bias = parameter("bias", {out_features});
  initialise([weight = weight, bias = bias] { draw_linear(weight, bias); });
}

Tensor Linear::forward(const Tensor& input) const { return linear(input, weight, bias); }

void Linear::reset_parameters() { draw_linear(weight, bias); }

}  // namespace halfgrad::nn
