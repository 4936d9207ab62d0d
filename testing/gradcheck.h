#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// Checks of derivatives against finite differences, with PyTorch's names.
///
/// The outputs are projected on random cotangents v_k: a plain sum would hide the error of any op
/// whose outputs have a constant sum, such as softmax. The gradient of L that backward computes is
/// compared, element by element, with a central difference, where e_i is the i-th unit vector:
///
///     L = sum_k <v_k, output_k>
///     (L(x + eps e_i) - L(x - eps e_i)) / (2 eps)
///
/// Fast mode replaces the e_i of an input by one random direction of length 1: two evaluations for
/// each input, not for each element. An error in one of n elements then counts about 1 / sqrt(n).
namespace halfgrad::autograd {

struct GradcheckOptions {
  /// About the cube root of float64's roundoff u: there the truncation error, of order eps^2,
  /// equals the rounding error, of order u / eps.
  double eps = 0x1p-18;
  /// A gradient g may be off by atol + rtol |g|: a thousand times either of the two errors. If the
  /// finite difference is infinite, g must be the same infinity.
  double atol = 0x1p-26;
  double rtol = 0x1p-26;
  bool fast_mode = false;
  bool raise_exception = true;  ///< throw std::runtime_error instead of returning false
  std::uint64_t seed = 0;       ///< seed of the random cotangents and directions
};

using GradcheckFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
using GradcheckSingleFunction = std::function<Tensor(const std::vector<Tensor>&)>;

/// True if the gradient of `function` is right for every input that requires one. Outputs that are
/// not differentiable are ignored. Throws std::invalid_argument unless at least one input requires
/// a gradient, and all that do are float64.
bool gradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options = {});
bool gradcheck(const GradcheckSingleFunction& function, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options = {});

/// Checks second derivatives: gradcheck of the gradient as a function of inputs and cotangents.
bool gradgradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                   const GradcheckOptions& options = {});
bool gradgradcheck(const GradcheckSingleFunction& function, const std::vector<Tensor>& inputs,
                   const GradcheckOptions& options = {});

struct ReducedGradcheckOptions {
  DType dtype = kFloat16;  ///< dtype of the gradients to check: float16, bfloat16 or float32
  /// An element of an input's gradient g may be off by this many roundoffs of the largest finite
  /// |g|, plus the dtype's smallest subnormal. Count one roundoff for each intermediate gradient
  /// that is stored. An infinite element must be the same infinity.
  double roundoffs = 8;
  bool raise_exception = true;
  std::uint64_t seed = 0;  ///< seed of the random cotangents
};

/// True if the gradients of `function` in options.dtype agree, within the stated budget, with those
/// of float64 at the same rounded inputs and cotangents. Inputs may have any floating dtype.
bool reduced_gradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                       const ReducedGradcheckOptions& options = {});

}  // namespace halfgrad::autograd
