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

}  // namespace halfgrad
