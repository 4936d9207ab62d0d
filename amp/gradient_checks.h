#pragma once

#include <string>
#include <vector>

#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/optim/optimizer.h>

/// Checks of an optimizer's gradients that a GradScaler makes before it touches them. They need
/// only what the host knows: dtypes, strides and scale ids.
namespace halfgrad::detail {

/// Throws if a guard of the optimizer refuses the step. Throws std::invalid_argument for a gradient
/// or a state of another shape than its parameter. Throws std::runtime_error if this rank holds
/// only a part of the parameters and found_inf is not combined over ranks.
void expect_step_allowed(const optim::Optimizer& optimizer, const char* method,
                         bool combines_ranks);

/// The optimizer's gradients. Throws std::invalid_argument for any that cannot be changed in place.
std::vector<Tensor> gradients_of(const optim::Optimizer& optimizer, const std::string& method);

/// Throws std::invalid_argument for float16 gradients of parameters without MasterWeights.
void refuse_float16(const optim::Optimizer& optimizer, const std::string& method);

/// Throws std::runtime_error for a gradient known to carry another scale than `expected`.
void expect_scale(const std::vector<Tensor>& grads, ScaleId expected, const std::string& method);

/// Warns, and sets `warned`, if the loss of a gradient is known to be unscaled. A user who
/// multiplied that loss by get_scale() may ignore the warning.
void warn_of_unscaled_loss(const std::vector<Tensor>& grads, const std::string& method,
                           bool& warned);

/// Sets the scale ids of these gradients to kUnscaled, after a skipped step, too.
void mark_unscaled(const std::vector<Tensor>& known);

/// The gradients whose scale id is known.
std::vector<Tensor> of_known_scale(const std::vector<Tensor>& grads);

std::vector<Array> arrays_of(const std::vector<Tensor>& tensors);

}  // namespace halfgrad::detail
