#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Sorts pairs on a GPU by the lowest `bits` bits of their keys, taken as unsigned; pairs of equal
/// keys stay in order. All four are contiguous int64 [n], and no two the same.
void sort_pairs_on_cuda(const char* op, const Array& keys, const Array& values,
                        const Array& sorted_keys, const Array& sorted_values, int bits);

}  // namespace halfgrad::detail
