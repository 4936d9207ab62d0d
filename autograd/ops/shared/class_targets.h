#pragma once

#include <cstdint>
#include <optional>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/array.h>
#include <halfgrad/core/engines/rows.h>

/// The targets of the losses over classes: cross_entropy and nll_loss.
namespace halfgrad::detail {

/// Returns uint8 class indices as int64; other targets unchanged.
Tensor widened_classes(const Tensor& target);

/// Throws std::invalid_argument, in the name of `op`, unless the dtypes and shapes are those of
/// ClassTargets and everything is on one device.
void check_class_targets(const char* op, const Array& input, const Array& target,
                         const Array& weight);

/// Class indices, checked and encoded for row kernels.
struct ClassTargets {
  /// input [n, c]; target [n] int64, each in [0, c) or `ignore_index`, if given; weight [c] or
  /// undefined. Throws std::invalid_argument for other shapes or dtypes, and std::out_of_range for
  /// another class; a GPU reports that when the host next waits for it
  /// (core/cuda/kernels/indices.h).
  ClassTargets(const char* op, const Array& input, const Array& target, const Array& weight,
               std::optional<std::int64_t> ignore_index);

  /// The sum of the weights of all targets that are not ignored: 0-dimensional, in the compute
  /// type, on the targets' device. The host does not wait for it.
  Array total_weight() const;

  Array encoded;  ///< [n, 2] in the compute type: see ClassTarget
};

/// A row of ClassTargets::encoded.
template <class T>
struct ClassTarget {
  HG_HD explicit ClassTarget(const Row<const T>& row)
      : index(static_cast<std::int64_t>(row(std::int64_t{0}))), weight(row(std::int64_t{1})) {}

  HG_HD bool ignored() const { return index < 0; }

  std::int64_t index;
  T weight;
};

/// The targets as rows of probabilities [n, classes]; all 0 where ignored.
///     q_i = (1 - e) w_t [i = t] + e w_i / classes,  e = smoothing, w_i = 1 without `weight`
Array class_probabilities(const Array& encoded, std::int64_t classes, const Array& weight,
                          double smoothing);

}  // namespace halfgrad::detail
