#include <halfgrad/nn/linear.h>

#include <cmath>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/init.h>

namespace halfgrad::nn {
namespace {

void draw_linear(const Tensor& weight, const Tensor& bias) {
  // With a = sqrt(5) the bound is sqrt(3) sqrt(2 / (1 + a^2)) / sqrt(fan_in) = 1 / sqrt(fan_in).
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto fan_in = static_cast<double>(weight.size(1));
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  init::uniform_(bias, -bound, bound);
}

std::string described(std::int64_t in_features, std::int64_t out_features, bool bias) {
  return detail::text("in_features=", in_features, ", out_features=", out_features,
                      ", bias=", bias);
}

std::string checked(const Tensor& weight, const Tensor& bias) {
  const bool is_matrix = weight.defined() && weight.dim() == 2;
  if (!is_matrix || (bias.defined() && bias.sizes() != Shape{weight.size(0)})) {
    halfgrad::detail::fail("Linear", "expected weight [out, in] and bias [out], got {} and {}",
                           weight.defined() ? to_string(weight.sizes()) : "none",
                           bias.defined() ? to_string(bias.sizes()) : "none");
  }
  return described(weight.size(1), weight.size(0), bias.defined());
}

}  // namespace

Linear::Linear(Tensor with_weight, Tensor with_bias)
    : Callable("Linear", checked(with_weight, with_bias)),
      options(with_weight.size(1), with_weight.size(0), with_bias.defined()) {
  weight = register_parameter("weight", with_weight, with_weight.requires_grad());
  if (!with_bias.defined()) return;
  bias = register_parameter("bias", with_bias, with_bias.requires_grad());
}

Linear::Linear(std::int64_t in_features, std::int64_t out_features, LinearArguments arguments)
    : Callable("Linear", described(in_features, out_features, arguments.bias)),
      options(in_features, out_features, arguments.bias) {
  if (in_features < 0 || out_features < 0) {
    halfgrad::detail::fail("Linear", "expected sizes of at least 0, got {} and {}", in_features,
                           out_features);
  }
  const auto parameter = [&](const char* name, const Shape& sizes) {
    return register_parameter(name, Tensor(Array::empty(sizes, arguments.dtype, arguments.device)));
  };
  weight = parameter("weight", {out_features, in_features});
  if (arguments.bias) bias = parameter("bias", {out_features});
  initialise([weight = weight, bias = bias] { draw_linear(weight, bias); });
}

Tensor Linear::forward(const Tensor& input) const { return linear(input, weight, bias); }

void Linear::reset_parameters() { draw_linear(weight, bias); }

}  // namespace halfgrad::nn
