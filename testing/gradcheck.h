#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// Derivatives against finite differences, with PyTorch's names.
///
/// The outputs are projected on a random cotangent v, L = sum <v_k, output_k>: a plain sum would
/// hide the error of any op whose outputs have a constant sum, such as softmax. The gradient of L
/// that backward computes is compared, element by element, with
///
///   (L(x + eps e_i) - L(x - eps e_i)) / (2 eps).
namespace halfgrad::autograd {

struct GradcheckOptions {
  /// The cube root of float64's roundoff u, where the truncation error, of order eps^2, meets the
  /// rounding error, of order u / eps.
  double eps = 0x1p-18;
  /// A gradient g may be off by atol + rtol |g|: a thousand times either of the two errors.
  double atol = 0x1p-26;
  double rtol = 0x1p-26;
  bool raise_exception = true;  ///< throw std::runtime_error where false would be returned
  std::uint64_t seed = 0;       ///< of the random cotangent
};

using GradcheckFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
using GradcheckSingleFunction = std::function<Tensor(const std::vector<Tensor>&)>;

/// True if the gradient of `function` is right for every input that requires one. Outputs that are
/// not differentiable are ignored. Throws std::invalid_argument unless at least one input requires a
/// gradient, and all that do are float64.
bool gradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options = {});
bool gradcheck(const GradcheckSingleFunction& function, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options = {});

/// The same for the gradient itself, as a function of the inputs and the cotangent: checks second
/// derivatives.
bool gradgradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                   const GradcheckOptions& options = {});
bool gradgradcheck(const GradcheckSingleFunction& function, const std::vector<Tensor>& inputs,
                   const GradcheckOptions& options = {});

}  // namespace halfgrad::autograd
