#include <halfgrad/testing/gradcheck.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/testing/printed.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::autograd {
namespace {

std::vector<Tensor> requiring_grad(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) {
    if (tensor.defined() && tensor.requires_grad()) result.push_back(tensor);
  }
  return result;
}

/// Leaves with copies of the elements, and the same requires_grad.
std::vector<Tensor> copies(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> result;
  for (const Tensor& input : inputs) {
    result.emplace_back(input.array().clone());
    if (input.requires_grad()) result.back().requires_grad_();
  }
  return result;
}

std::vector<Tensor> cotangents_for(const std::vector<Tensor>& outputs, std::uint64_t seed) {
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const RandomKey key{seed, i};
    const Tensor drawn = random_tensor(outputs[i].sizes(), -1, 1, key);
    result.push_back(drawn.to(outputs[i].dtype()).to(outputs[i].device()));
  }
  return result;
}

/// <v, ahead - behind>. Subtracts elements before summing: a difference of two sums would lose
/// digits to the elements that have not changed.
double projected_difference(const std::vector<Tensor>& ahead, const std::vector<Tensor>& behind,
                            const std::vector<Tensor>& cotangents) {
  double sum = 0;
  for (std::size_t k = 0; k < ahead.size(); ++k) {
    const auto plus = ahead[k].to_vector<double>();
    const auto minus = behind[k].to_vector<double>();
    const auto v = cotangents[k].to_vector<double>();
    for (std::size_t i = 0; i < v.size(); ++i) sum += v[i] * (plus[i] - minus[i]);
  }
  return sum;
}

void check_inputs(const char* op, const std::vector<Tensor>& inputs) {
  const auto differentiable = requiring_grad(inputs);
  if (differentiable.empty()) {
    detail::fail(op, "expected an input that requires grad, got none");
  }
  for (const Tensor& input : differentiable) {
    if (input.dtype() != kFloat64) {
      detail::fail(op, "expected inputs of float64, got {}", input.dtype());
    }
  }
}

/// The direction in which an input of `count` elements is moved: the nth unit vector, or in fast
/// mode a random one of length 1.
std::vector<double> direction_of(std::size_t count, std::size_t nth, std::size_t input,
                                 const GradcheckOptions& options) {
  std::vector<double> direction(count);
  if (!options.fast_mode) {
    direction[nth] = 1;
    return direction;
  }
  const RandomKey key{options.seed, ~std::uint64_t{input}};
  direction = random_tensor({static_cast<std::int64_t>(count)}, -1, 1, key).to_vector<double>();
  const double length =
      std::sqrt(std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0));
  for (double& x : direction) x /= length;
  return direction;
}

/// The gradient's elements; zeros for an input that is not used.
std::vector<double> elements_of(const Tensor& gradient, std::int64_t count) {
  if (gradient.defined()) return gradient.to_vector<double>();
  return std::vector<double>(static_cast<std::size_t>(count));
}

}  // namespace

bool gradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options) {
  check_inputs("gradcheck", inputs);
  const std::vector<Tensor> at = copies(inputs);
  const std::vector<Tensor> outputs = requiring_grad(function(at));
  if (outputs.empty()) {
    detail::fail("gradcheck", "expected an output that requires grad, got none");
  }
  const std::vector<Tensor> cotangents = cotangents_for(outputs, options.seed);
  const auto gradients =
      grad(outputs, requiring_grad(at), cotangents, {.retain_graph = true, .allow_unused = true});

  for (std::size_t k = 0, nth = 0; k < inputs.size(); ++k) {
    if (!inputs[k].requires_grad()) continue;
    const auto analytic = elements_of(gradients[nth++], inputs[k].numel());
    const std::size_t moves =
        options.fast_mode ? std::min<std::size_t>(1, analytic.size()) : analytic.size();
    for (std::size_t i = 0; i < moves; ++i) {
      const std::vector<double> direction = direction_of(analytic.size(), i, k, options);
      const auto moved = [&](double distance) {
        const std::vector<Tensor> x = copies(inputs);
        const Tensor step = tensor(direction, x[k].sizes(), kDouble).to(x[k].device());
        x[k].detach().add_(step * distance);
        return requiring_grad(function(x));
      };
      const double numeric =
          projected_difference(moved(options.eps), moved(-options.eps), cotangents) /
          (2 * options.eps);
      const double slope =
          std::inner_product(direction.begin(), direction.end(), analytic.begin(), 0.0);
      const double allowed = options.atol + options.rtol * std::fabs(numeric);
      const bool close = std::isfinite(numeric) && std::fabs(numeric - slope) <= allowed;
      if (close || numeric == slope) continue;
      if (!options.raise_exception) return false;
      std::ostringstream message;
      message.precision(12);
      message << "gradcheck: expected a gradient of " << testing::printed(numeric) << " for ";
      if (options.fast_mode) {
        message << "a random direction";
      } else {
        message << "element " << i;
      }
      message << " of input " << k << " by finite differences, got " << testing::printed(slope);
      throw std::runtime_error(message.str());
    }
  }
  return true;
}

bool gradgradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                   const GradcheckOptions& options) {
  check_inputs("gradgradcheck", inputs);
  std::vector<Tensor> arguments = inputs;
  for (Tensor& v : cotangents_for(requiring_grad(function(copies(inputs))), options.seed + 1)) {
    arguments.push_back(v.requires_grad_());
  }
  const GradcheckFunction gradient = [&](const std::vector<Tensor>& in) {
    const auto middle = in.begin() + static_cast<std::ptrdiff_t>(inputs.size());
    const std::vector<Tensor> x(in.begin(), middle);
    return grad(requiring_grad(function(x)), requiring_grad(x), {middle, in.end()},
                {.create_graph = true, .allow_unused = true});
  };
  return gradcheck(gradient, arguments, options);
}

bool gradcheck(const GradcheckSingleFunction& function, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options) {
  return gradcheck([&](const std::vector<Tensor>& in) { return std::vector{function(in)}; }, inputs,
                   options);
}

bool gradgradcheck(const GradcheckSingleFunction& function, const std::vector<Tensor>& inputs,
                   const GradcheckOptions& options) {
  return gradgradcheck([&](const std::vector<Tensor>& in) { return std::vector{function(in)}; },
                       inputs, options);
}

}  // namespace halfgrad::autograd
