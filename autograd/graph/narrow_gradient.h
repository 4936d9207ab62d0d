#pragma once

#include <cstdint>
#include <memory>

#include <halfgrad/autograd/tensor.h>

/// A float32 gradient that is kept as the product left it, in 16 bits.
///
/// The backward of a cast from float32 widens a 16-bit gradient. An optimizer that reads the
/// gradient once can widen it in registers: it then moves 2 bytes an element instead of 2 + 4 + 4.
/// So backward() gives a leaf the 16-bit elements, and Tensor::array() widens them when something
/// looks at the gradient. To every caller it is a float32 tensor with the same bits.
namespace halfgrad::detail {

class PendingUnscale;

struct NarrowGradient {
  NarrowGradient(TensorImpl& owner, Array stored, bool captured);
  ~NarrowGradient();
  NarrowGradient(const NarrowGradient&) = delete;
  NarrowGradient& operator=(const NarrowGradient&) = delete;

  TensorImpl& gradient;
  Array elements;  ///< 16-bit, contiguous; nothing else refers to its storage
  /// float32 [2] on the same device: widen() multiplies by the first, then by the second. Undefined
  /// before unscale_() is called, or an optimizer has read the gradient.
  Array factors = {};
  std::shared_ptr<PendingUnscale> pending = {};  ///< computes the factors, unless it is null
  /// The backward pass was captured: each replay of the graph writes new elements.
  bool is_captured;
  std::uint64_t widened_at = 0;  ///< Graph::replays() when such a gradient was last widened
};

/// Returns a float32 gradient with these 16-bit elements.
Tensor narrow_gradient(const Array& elements);

/// The 16-bit elements of a gradient, if nothing has changed it since; else null. Unlike
/// Tensor::array() this does not widen it.
const Array* narrow_elements(const Tensor& gradient);

/// The 16-bit elements of a gradient that widen() would multiply by these `factors`, else null.
const Array* elements_before(const Tensor& gradient, const Array& factors);

/// True while `gradient` is narrow, with factors or without.
bool is_narrow(const Tensor& gradient);

/// The dtype and the version of a gradient. Unlike Tensor's functions they do not widen it.
DType gradient_dtype(const Tensor& gradient);
std::uint32_t gradient_version(const Tensor& gradient);

/// Multiplies a narrow gradient by both elements of `factors`, later, when something looks at it.
void set_factors(const Tensor& gradient, const Array& factors);

}  // namespace halfgrad::detail
