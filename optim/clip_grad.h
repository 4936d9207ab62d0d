#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// Gradients of a scaled loss have to be unscaled before they are clipped: all but get_total_norm()
/// throw std::runtime_error for gradients known to carry a GradScaler's scale, and change nothing.
/// To clip them as they are, by a limit that is scaled too, say so:
///
///   clip_grad_norm_(params, max_norm * scaler.get_scale(), 2, false, ScaledGradients::allow);
///
/// Gradients may lie on several devices. What one device must tell another is copied there; between
/// a GPU and the CPU that waits.
namespace halfgrad::nn::utils {

enum class ScaledGradients : std::uint8_t { refuse, allow };

/// The p-norm of the vector of the tensors' p-norms, as torch.nn.utils.get_total_norm: 0-dim, of
/// the tensors' common dtype, in which each tensor's norm is rounded too, so the norm of large
/// float16 numbers is infinite. `norm_type` may be infinite (largest magnitude), minus infinite
/// (smallest) or 0 (how many tensors are not all zero). Float32 zero for no tensors. Throws
/// std::runtime_error if `error_if_nonfinite` and the norm is NaN or infinite; only then is it read
/// on the host.
Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type = 2,
                      bool error_if_nonfinite = false);

/// Multiplies the parameters' gradients by min(1, max_norm / (total_norm + 1e-6)), on the device.
void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm,
                           const Tensor& total_norm,
                           ScaledGradients scaled = ScaledGradients::refuse);

/// Scales all gradients down together so that their total norm is at most `max_norm`, and returns
/// the norm they had; see get_total_norm() and clip_grads_with_norm_(). Parameters without a
/// gradient are passed over. A norm that is not finite turns gradients to zero or NaN, unless
/// `error_if_nonfinite`, which throws std::runtime_error before it changes any.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false,
                       ScaledGradients scaled = ScaledGradients::refuse);
Tensor clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false,
                       ScaledGradients scaled = ScaledGradients::refuse);

/// Clamps every element of the gradients to [-clip_value, clip_value]; NaN stays NaN.
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value,
                      ScaledGradients scaled = ScaledGradients::refuse);
void clip_grad_value_(const Tensor& parameter, double clip_value,
                      ScaledGradients scaled = ScaledGradients::refuse);

}  // namespace halfgrad::nn::utils
