#pragma once

#include <string>
#include <vector>

#include <halfgrad/autograd/grad_scale.h>
#include <halfgrad/optim/optimizer.h>

/// What a GradScaler asks of an optimizer's gradients before it touches them. All is known on the
/// host: dtypes, strides, and whose scale they carry.
namespace halfgrad::detail {

/// Throws std::invalid_argument for gradients that cannot be changed in place.
std::vector<Tensor> gradients_of(const optim::Optimizer& optimizer, const std::string& method);

/// Throws std::invalid_argument for float16 gradients of parameters without MasterWeights.
void refuse_float16(const optim::Optimizer& optimizer, const std::string& method);

/// Throws std::runtime_error for a gradient known to carry another scale than `expected`.
void expect_scale(const std::vector<Tensor>& grads, ScaleId expected, const std::string& method);

/// Warns, and sets `warned`, if a gradient is known to be of a loss that no scaler scaled. The user
/// may have multiplied that loss by get_scale().
void warn_of_unscaled_loss(const std::vector<Tensor>& grads, const std::string& method,
                           bool& warned);

/// From now on gradients whose scale is known count as unscaled, those of a skipped step too.
void mark_unscaled(const std::vector<Tensor>& known);

/// The gradients whose scale is known.
std::vector<Tensor> of_known_scale(const std::vector<Tensor>& grads);

std::vector<Array> arrays_of(const std::vector<Tensor>& tensors);

}  // namespace halfgrad::detail
