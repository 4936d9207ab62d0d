#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <halfgrad/autograd/tensor.h>

/// Every gradient has a scale id: which GradScaler's loss scale multiplies it. The value of the
/// scale is on the device only. With the ids, clipping scaled gradients and adding gradients of two
/// scales are errors instead of wrong results. Other writes into a gradient make its scale unknown,
/// and an unknown scale is never an error.
namespace halfgrad::detail {

/// One scaler's scale in one iteration has one id. In a captured graph, whose iterations the host
/// does not see, scales are unknown.
using ScaleId = std::uint64_t;
inline constexpr ScaleId kUnknownScale = 0;
inline constexpr ScaleId kNeverScaled = 1;  ///< its loss was not scaled by a scaler
inline constexpr ScaleId kUnscaled = 2;     ///< the scale was divided out, or the step was skipped
inline constexpr ScaleId kMixedScales = 3;  ///< a sum of gradients of different scales
inline constexpr ScaleId kFirstScaleId = 4;

ScaleId new_scale_id();

/// Scale of a sum of two gradients.
constexpr ScaleId scale_of_sum(ScaleId a, ScaleId b) {
  if (a == b || a == kUnknownScale) return b;
  if (b == kUnknownScale) return a;
  return a <= kUnscaled && b <= kUnscaled ? kUnscaled : kMixedScales;
}

ScaleId scale_id(const Tensor& grad);
/// Does nothing for kUnknownScale, and before the first scaler is made.
void set_scale_id(const Tensor& grad, ScaleId id);

/// Bumps the version after an in-place change that keeps the scale.
void bump_version_of_scaled(const Tensor& grad);

/// Throws std::runtime_error for a gradient that a known scale multiplies. The message begins with
/// `op` and ends with `fix`.
void expect_unscaled(std::span<const Tensor> grads, const char* op, const char* fix);

/// A backward pass of this thread, and the scale of the gradient that it is processing. The hooks
/// of scaled losses change that scale.
class BackwardScale {
 public:
  [[nodiscard]] BackwardScale();
  ~BackwardScale();
  BackwardScale(const BackwardScale&) = delete;
  BackwardScale& operator=(const BackwardScale&) = delete;

  ScaleId now = kUnknownScale;

  /// Scale of the gradient with which the pass starts; `grad` is undefined if the pass makes its
  /// own. A gradient without a scale id counts as unscaled, except inside a nested backward pass.
  ScaleId of_root(const Tensor& grad) const;

  /// True while this thread runs a backward pass.
  static bool is_running();

  /// Called by a hook: from here on the gradient of the innermost pass is multiplied by scale `id`.
  /// After two scales the result is unknown: the user may have divided by one of them.
  static void meet(ScaleId id);

 private:
  BackwardScale* outer_;
};

}  // namespace halfgrad::detail
