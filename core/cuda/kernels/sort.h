#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Sorts pairs on a GPU by the lowest `bits` bits of their keys, as unsigned integers. The sort is
/// stable. All four arrays are contiguous int64 [n], and no two of them overlap.
void sort_pairs_on_cuda(const char* op, const Array& keys, const Array& values,
                        const Array& sorted_keys, const Array& sorted_values, int bits);

}  // namespace halfgrad::detail
