#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// Gradients of a scaled loss have to be unscaled before they are clipped: all functions except
/// get_total_norm() throw std::runtime_error for gradients known to carry a GradScaler's scale, and
/// change nothing. They clip scaled gradients, by a limit that is scaled too, on request:
///
///   clip_grad_norm_(params, max_norm * scaler.get_scale(), 2, false, ScaledGradients::allow);
///
/// Gradients may be on several devices. Norms and coefficients are copied between them; a copy
/// between a GPU and the CPU waits.
namespace halfgrad::nn::utils {

enum class ScaledGradients : std::uint8_t { refuse, allow };

/// The p-norm of the vector of the tensors' p-norms, as torch.nn.utils.get_total_norm: 0-dim, in
/// the tensors' common dtype. Each tensor's norm is rounded to that dtype as well, so the norm of
/// large float16 values is infinite. `norm_type` may be infinite (largest magnitude), minus
/// infinite (smallest) or 0 (number of tensors that are not all zero). Float32 zero for no tensors.
/// With `error_if_nonfinite`, waits for the norm and throws std::runtime_error if it is NaN or
/// infinite.
Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type = 2,
                      bool error_if_nonfinite = false);

/// Multiplies the parameters' gradients by min(1, max_norm / (total_norm + 1e-6)), on the device.
void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm,
                           const Tensor& total_norm,
                           ScaledGradients scaled = ScaledGradients::refuse);

namespace tensors {

/// Shrinks all gradients by one factor so that their total norm is at most `max_norm`, and returns
/// the norm they had; see get_total_norm() and clip_grads_with_norm_(). Skips parameters without a
/// gradient. A norm that is not finite turns gradients to zero or NaN, unless `error_if_nonfinite`,
/// which throws std::runtime_error before it changes any.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false,
                       ScaledGradients scaled = ScaledGradients::refuse);
Tensor clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false,
                       ScaledGradients scaled = ScaledGradients::refuse);

}  // namespace tensors

// In a program for libtorch the function of compat/clip_grad.h has this name.
#if !defined(HALFGRAD_COMPAT)
#define HALFGRAD_HAS_PLAIN_NAMES
using tensors::clip_grad_norm_;
#endif

/// Clamps every element of the gradients to [-clip_value, clip_value]; NaN stays NaN.
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value,
                      ScaledGradients scaled = ScaledGradients::refuse);
void clip_grad_value_(const Tensor& parameter, double clip_value,
                      ScaledGradients scaled = ScaledGradients::refuse);

}  // namespace halfgrad::nn::utils
