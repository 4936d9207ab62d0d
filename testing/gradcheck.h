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
///   (L(x + eps e_i) - L(x - eps e_i)) / (2 eps).   (e_i: the i-th unit vector)
///
/// In fast mode a random direction of length 1 stands for the e_i of an input: two evaluations for
/// each input, not for each element. An error in one of n elements then counts about 1 / sqrt(n).
namespace halfgrad::autograd {

struct GradcheckOptions {
  /// The cube root of float64's roundoff u, where the truncation error, of order eps^2, meets the
  /// rounding error, of order u / eps.
  double eps = 0x1p-18;
  /// A gradient g may be off by atol + rtol |g|: a thousand times either of the two errors. One
  /// that is infinite by finite differences must be that infinity.
  double atol = 0x1p-26;
  double rtol = 0x1p-26;
  bool fast_mode = false;
  bool raise_exception = true;  ///< throw std::runtime_error where false would be returned
  std::uint64_t seed = 0;       ///< of the random cotangent and directions
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

/// The same for the gradient itself, as a function of the inputs and the cotangent: checks second
/// derivatives.
bool gradgradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                   const GradcheckOptions& options = {});
bool gradgradcheck(const GradcheckSingleFunction& function, const std::vector<Tensor>& inputs,
                   const GradcheckOptions& options = {});

struct ReducedGradcheckOptions {
  DType dtype = kFloat16;  ///< in which the gradients are judged: float16, bfloat16 or float32
  /// An element of an input's gradient g may be off by so many roundoffs of the largest finite |g|,
  /// and by one of the dtype's smallest numbers: one for storing each intermediate gradient it
  /// passes through. An infinite element must be that infinity.
  double roundoffs = 8;
  bool raise_exception = true;
  std::uint64_t seed = 0;  ///< of the random cotangent
};

/// True if the gradients of `function` in a short dtype are those of float64 at the same, rounded,
/// inputs and cotangent, within the stated budget. Inputs may be of any floating dtype.
bool reduced_gradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                       const ReducedGradcheckOptions& options = {});

}  // namespace halfgrad::autograd
