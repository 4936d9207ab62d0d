#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>

/// Sums whose items are known only at run time, as in the gradient of an embedding, or a histogram.
/// The items of each sum are found first, and then added in their order. There are no atomic
/// additions, so the bits do not depend on threads or on the device.
namespace halfgrad::detail {

/// A partition of n items into groups.
struct Grouping {
  Array order;   ///< int64 [n]: items sorted by group, stable
  Array starts;  ///< int64 [groups + 1]: group g is order[starts[g]] ... order[starts[g + 1] - 1]
};

/// Groups items by `group`, contiguous int64 [n] with values in [0, groups): a counting sort on the
/// CPU, a stable radix sort on a GPU. The host does not wait.
Grouping group_by(const char* op, const Array& group, std::int64_t groups);

/// Computes
///
///     sums[o, g, :] = initial[o, g, :] + the sum of items[o, j, :] over the j of group g
///
/// in the compute type, adds the items in their order, and rounds once.
///
/// All three are contiguous and of one dtype: sums and initial [outer, groups, inner], items
/// [outer, n, inner]. An undefined `initial` counts as 0. Group `skipped` keeps its initial value.
void sum_groups(const char* op, const Array& sums, const Array& initial, const Array& items,
                const Grouping& grouping, std::int64_t outer, std::int64_t inner,
                std::int64_t skipped = -1);

/// Computes the same sums from `group`, which has the form that group_by() takes. It is faster on
/// the CPU if the grouping is used once: where the compute type is the dtype, items are added to
/// `sums` without being sorted. `initial` may have any strides.
void sum_by_group(const char* op, const Array& sums, const Array& initial, const Array& items,
                  const Array& group, std::int64_t groups, std::int64_t outer, std::int64_t inner);

}  // namespace halfgrad::detail
