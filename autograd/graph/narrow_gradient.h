#pragma once

#include <cstdint>
#include <memory>

#include <halfgrad/autograd/tensor.h>

/// A float32 gradient that is kept as the backward pass left it.
///
/// The backward of a cast from float32 widens a 16-bit gradient. An optimizer that reads the
/// gradient once can widen it in registers: it then moves 2 bytes an element instead of 2 + 4 + 4.
/// So backward() gives a leaf the 16-bit elements, and Tensor::array() widens them when something
/// looks at the gradient. To every caller it is a float32 tensor with the same bits.
///
/// unscale_() and clipping multiply such a gradient later, too: see `factors`. For their sake a
/// gradient with float32 elements is also "narrow" until something looks at it.
namespace halfgrad::detail {

class PendingUnscale;

/// The elements of such a gradient until something looks at it.
struct NarrowGradient {
  NarrowGradient(TensorImpl& owner, Array stored, bool captured);
  ~NarrowGradient();
  NarrowGradient(const NarrowGradient&) = delete;
  NarrowGradient& operator=(const NarrowGradient&) = delete;

  TensorImpl& gradient;
  Array elements;  ///< 16-bit or float32, contiguous; nothing else refers to its storage
  /// float32 [2] on the same device: widen() multiplies by the first, then by the second. Undefined
  /// before the gradient is unscaled or clipped.
  Array factors = {};
  std::shared_ptr<PendingUnscale> pending = {};  ///< computes the factors, unless it is null
  /// The backward pass was captured: each replay of the graph writes new elements.
  bool is_captured;
  std::uint64_t widened_at = 0;  ///< Graph::replays() when such a gradient was last widened
};

/// Returns a float32 gradient with these elements.
Tensor narrow_gradient(const Array& elements);

/// The elements of a narrow gradient, if nothing has changed it since; else null. Unlike
/// Tensor::array() this does not widen it.
const Array* narrow_elements(const Tensor& gradient);

/// The elements of a gradient that widen() would multiply by these `factors`, else null.
const Array* elements_before(const Tensor& gradient, const Array& factors);

/// The operands of a pass that reads a gradient: elements, times both factors unless null.
struct GradientOperands {
  const Array* elements = nullptr;
  const Array* factors = nullptr;
};
/// Returns the operands of a narrow gradient, after computing pending factors. Null for others.
GradientOperands narrow_operands(const Tensor& gradient);

/// True while `gradient` is narrow, with factors or without.
bool is_narrow(const Tensor& gradient);

/// The dtype, sizes and version of a gradient. Unlike Tensor's functions they do not widen it.
DType gradient_dtype(const Tensor& gradient);
const Shape& gradient_sizes(const Tensor& gradient);
std::uint32_t gradient_version(const Tensor& gradient);

/// Multiplies a narrow gradient by both elements of `factors`, later, when something looks at it.
void set_factors(const Tensor& gradient, const Array& factors);

}  // namespace halfgrad::detail
