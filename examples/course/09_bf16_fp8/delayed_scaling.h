#pragma once
// Tensors in few bits with one scale each, in exact emulated arithmetic: a value x is stored as the
// number nearest to x * scale in the format, and read back as that number / scale.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/core/numbers/number_format.h>

namespace fp8 {

/// The source of a tensor's scale.
enum class Recipe : std::uint8_t {
  unscaled,  ///< the scale is 1
  delayed,   ///< from the amax of the last steps, which is known before the tensor is
};

/// The scale of one tensor of a network, from step to step. amax is the largest magnitude of a
/// step's tensor. Delayed scaling as NVIDIA's Transformer Engine documents it:
///
///     scale = largest(format) / max(history) / 2^margin
class TensorScale {
 public:
  TensorScale(const halfgrad::NumberFormat& format, Recipe recipe, std::size_t history_length,
              int margin = 0)
      : format_(format), recipe_(recipe), length_(history_length), margin_(margin) {}

  double scale() const { return scale_; }
  /// Number of values of all steps that were clipped to the format's largest.
  std::int64_t clipped() const { return clipped_; }
  /// Number of values of all steps that were not zero and became zero.
  std::int64_t flushed() const { return flushed_; }

  /// Returns the values of one step's float64 tensor as the format holds them, and then chooses the
  /// scale of the next step.
  halfgrad::Array quantized(const halfgrad::Array& values) {
    const halfgrad::Array given = values.contiguous();
    const auto* x = given.data_as<double>();
    double amax = 0;
    for (std::int64_t i = 0; i < given.numel(); ++i) amax = std::max(amax, std::fabs(x[i]));
    const halfgrad::Array result = halfgrad::Array::empty(given.sizes(), halfgrad::kFloat64);
    for (std::int64_t i = 0; i < given.numel(); ++i) result.data_as<double>()[i] = stored(x[i]);
    if (recipe_ == Recipe::delayed) remember(amax);
    return result;
  }

  /// Appends an amax to the history and computes the scale from it. A tensor of zeros leaves the
  /// scale as it is, and so does one with inf or NaN, which would make every later value 0.
  void remember(double amax) {
    history_.push_back(std::isfinite(amax) ? amax : 0);
    if (history_.size() > length_) history_.erase(history_.begin());
    const double largest = *std::max_element(history_.begin(), history_.end());
    if (largest > 0) scale_ = std::ldexp(max_finite() / largest, -margin_);
  }

 private:
  double max_finite() const { return halfgrad::decode(format_.max_finite(), format_); }

  double stored(double x) {
    const double scaled = x * scale_;
    const double rounded = halfgrad::rounded_to(format_, scaled, {.saturate = true});
    if (std::fabs(scaled) > max_finite()) ++clipped_;
    if (x != 0 && rounded == 0) ++flushed_;
    return rounded / scale_;
  }

  const halfgrad::NumberFormat& format_;
  Recipe recipe_;
  std::size_t length_;
  int margin_;
  std::vector<double> history_;  // the last length_ values of amax
  double scale_ = 1;
  std::int64_t clipped_ = 0, flushed_ = 0;
};

}  // namespace fp8
