#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/testing/number_format_of.h>
#include <halfgrad/testing/printed.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::autograd {
namespace {

/// The gradients of <v, output>, computed in `dtype`. Inputs and cotangents are rounded to
/// options.dtype first, so both dtypes start from the same values.
std::vector<std::vector<double>> gradients_in(DType dtype, const GradcheckFunction& function,
                                              const std::vector<Tensor>& inputs,
                                              const ReducedGradcheckOptions& options) {
  std::vector<Tensor> at, leaves;
  for (const Tensor& input : inputs) {
    const bool is_rounded = input.is_floating_point();
    at.push_back(is_rounded ? input.detach().to(options.dtype).to(dtype).clone() : input);
    if (!input.requires_grad()) continue;
    leaves.push_back(at.back().requires_grad_());
  }
  std::vector<Tensor> outputs, cotangents;
  for (const Tensor& output : function(at)) {
    if (!output.requires_grad()) continue;
    const RandomKey key{options.seed, outputs.size()};
    outputs.push_back(output);
    cotangents.push_back(
        random_tensor(output.sizes(), -1, 1, key).to(options.dtype).to(output.dtype()));
  }
  if (leaves.empty() || outputs.empty()) {
    detail::fail("reduced_gradcheck",
                 "expected an input and an output that require grad, got none");
  }
  std::vector<std::vector<double>> values;
  const auto gradients = grad(outputs, leaves, cotangents, {.allow_unused = true});
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const bool used = gradients[k].defined();
    values.push_back((used ? gradients[k] : zeros_like(leaves[k])).to_vector<double>());
  }
  return values;
}

}  // namespace

bool reduced_gradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                       const ReducedGradcheckOptions& options) {
  const auto expected = gradients_in(kFloat64, function, inputs, options);
  const auto got = gradients_in(options.dtype, function, inputs, options);
  const double smallest = testing::limits_of(options.dtype).smallest;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    double largest = 0;
    for (const double g : expected[k]) {
      if (std::isfinite(g)) largest = std::max(largest, std::fabs(g));
    }
    const double allowed = options.roundoffs * roundoff(options.dtype) * largest + smallest;
    for (std::size_t i = 0; i < expected[k].size(); ++i) {
      if (got[k][i] == expected[k][i]) continue;  // also equal infinities: their difference is NaN
      if (std::fabs(got[k][i] - expected[k][i]) <= allowed) continue;
      if (!options.raise_exception) return false;
      std::ostringstream message;
      message.precision(9);
      message << "reduced_gradcheck: expected a gradient of " << testing::printed(expected[k][i])
              << " within " << allowed << " for element " << i << " of differentiable input " << k
              << ", got " << testing::printed(got[k][i]) << " in " << options.dtype;
      throw std::runtime_error(message.str());
    }
  }
  return true;
}

}  // namespace halfgrad::autograd
