#pragma once

#include <cstdint>

#include <halfgrad/autograd/tensor.h>

/// Ops of transformers, beside attention.h.
namespace halfgrad {

struct RopeOptions {
  double base = 10000;      ///< Pair i turns by base^(-2i / e) for each position.
  std::int64_t offset = 0;  ///< position of the first row
  /// False: features i and i + e / 2 are a pair, as in Hugging Face's models. True: 2i and 2i + 1,
  /// as in the paper and in torchtune.
  bool interleaved = false;
};

/// Rotary position embedding (Su et al. 2021) of x [..., l, e], where row p has the position
/// offset + p. Turns each pair (a, b) of features:
///
///     (a cos t - b sin t, b cos t + a sin t),  t = (offset + p) base^(-2i / e)
///
/// Angles are computed in float64, products in float32 at least. Throws std::invalid_argument for
/// an odd e, and unless x is floating point.
Tensor rope(const Tensor& x, const RopeOptions& options = {});

/// SwiGLU (Shazeer, "GLU variants improve transformer", 2020), the activation of Llama's
/// feed-forward layers, elementwise:
///
///     silu(gate) up,  silu(x) = x / (1 + e^-x)
///
/// gate and up broadcast, and their dtypes are promoted, under autocast too. Computed in float32 at
/// least and rounded once: silu(gate) alone is below the smallest float16 for gate < -20, and the
/// product of a rounded 0 and a large `up` would be 0, or NaN for an infinite one. A finite gate
/// other than 0 and an infinite `up` give an infinity, even where silu(gate) underflows.
Tensor swiglu(const Tensor& gate, const Tensor& up);
/// swiglu of the halves of x `[..., 2 n]`, gate first: the two products with gate's and up's
/// weights may then be one. F.glu has the gate last. Throws std::invalid_argument unless x is
/// floating point and its last dimension even.
Tensor swiglu(const Tensor& x);

}  // namespace halfgrad
