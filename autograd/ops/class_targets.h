#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>
#include <halfgrad/core/rows.h>

/// What the losses over classes (cross_entropy, nll_loss) make of their targets.
namespace halfgrad::detail {

/// Class indices, checked and encoded for row kernels.
struct ClassTargets {
  /// input [n, c]; target [n] int64, each in [0, c) or `ignore_index`; weight [c] or undefined.
  /// Throws std::invalid_argument for other shapes or dtypes, and std::out_of_range for another
  /// class: on a GPU when the host next waits for it, see core/cuda/indices.h.
  ClassTargets(const char* op, const Array& input, const Array& target, const Array& weight,
               std::int64_t ignore_index);

  /// Of the targets that are not ignored, in the compute type: a number on their device, which the
  /// host need not know.
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

/// The targets as rows of probabilities [n, classes], e being `smoothing`:
/// q_i = (1 - e) w_t [i = t] + e w_i / classes; all 0 where ignored. w_i is 1 without `weight`.
Array class_probabilities(const Array& encoded, std::int64_t classes, const Array& weight,
                          double smoothing);

}  // namespace halfgrad::detail
