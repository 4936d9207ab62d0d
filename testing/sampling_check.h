#pragma once

#include <cstdint>
#include <functional>

#include <halfgrad/core/array.h>
#include <halfgrad/testing/dropout_check.h>

namespace halfgrad::testing {

/// A sampling kernel: for each row of `weights` [m, k] it draws a class, an int64 from 0 to k - 1,
/// to `classes` [m]. Weights are probabilities whose sum is exactly 1, or logits; a class of
/// probability 0, or of logit -inf, is never drawn.
using SamplingKernel =
    std::function<void(const Array& weights, RandomState state, const Array& classes)>;

struct SamplingCheckOptions {
  DType dtype = kFloat32;  ///< dtype of the weights
  Device device = {};
  bool logits = false;  ///< the weights are logits, else probabilities
  /// Only the classes of the top_k largest weights are drawn, in proportion to them; 0: all. No two
  /// weights at that border are equal.
  std::int64_t top_k = 0;
  std::uint64_t seed = 0;  ///< seed of the weights and of the kernel's first call
};

/// Checks a sampling kernel on rows of eight different distributions, of 1 to 5003 classes: that
/// classes are in range and possible; that each class, and the classes up to each, are drawn as
/// often as the row's own distribution says; that rows are independent of each other, and calls of
/// those with other seeds and offsets; that a call can be repeated. Seeds are below 2^31; an offset
/// moves by the number of weights. An exception of the kernel is a finding. Throws
/// std::invalid_argument for weights that are not floating-point and for a negative top_k.
DistributionReport check_sampling(const SamplingKernel& kernel,
                                  const SamplingCheckOptions& options = {});

}  // namespace halfgrad::testing
