#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>

/// Sums of which it is known only at run time what goes where: the gradient of an embedding, a
/// histogram. The items of each sum are found first, and then added in their order, so that the
/// bits depend neither on threads nor on the device; nothing is added atomically.
namespace halfgrad::detail {

/// n items, sorted into groups.
struct Grouping {
  Array order;   ///< int64 [n]: items by group, in their own order within a group
  Array starts;  ///< int64 [groups + 1]: group g is order[starts[g]] ... order[starts[g + 1] - 1]
};

/// `group` is contiguous int64 [n], each number in [0, groups). Counting sort on the CPU, a stable
/// radix sort on a GPU. Waits for nothing.
Grouping group_by(const char* op, const Array& group, std::int64_t groups);

/// sums[o, g, :] = initial[o, g, :] + the sum of items[o, j, :] over the j of group g, added in
/// their order in the accumulating type, rounded once.
///
/// All three are contiguous and of one dtype: sums and initial [outer, groups, inner], items
/// [outer, n, inner]. An undefined `initial` is 0. Group `skipped` stays as it was at first.
void sum_groups(const char* op, const Array& sums, const Array& initial, const Array& items,
                const Grouping& grouping, std::int64_t outer, std::int64_t inner,
                std::int64_t skipped = -1);

}  // namespace halfgrad::detail
