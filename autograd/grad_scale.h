#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <halfgrad/autograd/tensor.h>

/// Gradients know which loss scale they carry: not its value, which only the device knows, but
/// whose it is. Scaled gradients that are clipped, or added to gradients of another scale, are then
/// an error instead of wrong numbers. What is written into a gradient in other ways than those
/// below makes its scale unknown, and unknown is never an error.
namespace halfgrad::detail {

/// One scaler's scale in one iteration has one id. Unknown are also those in a captured graph,
/// whose iterations the host does not see.
using ScaleId = std::uint64_t;
inline constexpr ScaleId kUnknownScale = 0;
inline constexpr ScaleId kNeverScaled = 1;  ///< of a loss that no scaler scaled: right by itself,
                                            ///< for a user may have, but not beside scaled ones
inline constexpr ScaleId kUnscaled = 2;     ///< divided out, or left behind by a skipped step
inline constexpr ScaleId kMixedScales = 3;  ///< a sum of gradients of different scales
inline constexpr ScaleId kFirstScaleId = 4;

ScaleId new_scale_id();

/// The scale of a sum of gradients of two scales.
constexpr ScaleId scale_of_sum(ScaleId a, ScaleId b) {
  if (a == b || a == kUnknownScale) return b;
  if (b == kUnknownScale) return a;
  return a <= kUnscaled && b <= kUnscaled ? kUnscaled : kMixedScales;
}

ScaleId scale_id(const Tensor& grad);
/// Nothing happens for kUnknownScale, nor while no scaler has been made yet.
void set_scale_id(const Tensor& grad, ScaleId id);

/// Counts an in-place change that leaves the scale as it was.
void bump_version_of_scaled(const Tensor& grad);

/// Throws std::runtime_error, beginning with `op` and ending with `fix`, for a gradient that a
/// scale is known to multiply.
void expect_unscaled(std::span<const Tensor> grads, const char* op, const char* fix);

/// A backward pass of this thread, and the scale of the gradients that it is at. Hooks of scaled
/// losses change it on the way.
class BackwardScale {
 public:
  [[nodiscard]] BackwardScale();
  ~BackwardScale();
  BackwardScale(const BackwardScale&) = delete;
  BackwardScale& operator=(const BackwardScale&) = delete;

  ScaleId now = kUnknownScale;

  /// That of a gradient handed to backward(), undefined where the pass makes its own. One that no
  /// scaler is known to have scaled never was; but unknown is that of a pass inside another, which
  /// may have begun from a scaled gradient.
  ScaleId of_root(const Tensor& grad) const;

  /// For a hook: the gradient that the innermost pass is at has met the scale `id`. Two scales one
  /// after the other are unknown: the user may have divided by one.
  static void meet(ScaleId id);

 private:
  BackwardScale* outer_;
};

}  // namespace halfgrad::detail
