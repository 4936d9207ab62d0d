#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>

/// Stable sorting with the same result on every device. Values are mapped to unsigned integers of
/// the same order, and those are sorted.
namespace halfgrad::detail {

/// Returns the indices of the first `count` elements of each row in sorted order: int64 [rows,
/// count]. `x` is contiguous [rows, n] with n >= count. Equal values keep their order, also if
/// `descending`. Zeros of both signs are equal, and NaN is above infinity. The host does not wait
/// for a GPU.
Array row_order(const char* op, const Array& x, std::int64_t count, bool descending);

/// Returns the index of the element at place[r] in the same ascending order of each row r: int64
/// [rows, 1]. `x` is contiguous [rows, n]; `place` is contiguous int64 with an element in [0, n)
/// for each row. Does not sort the rows on the CPU.
Array row_selection(const char* op, const Array& x, const Array& place);

/// Returns how many elements of a sorted sequence come before each value in the same order, by
/// binary search: int64 of the shape of `values`. Equal elements count if `right`. `values` is
/// contiguous [..., m]; `sequence` is contiguous and of its dtype, a vector [n] or [..., n].
Array count_before(const char* op, const Array& sequence, const Array& values, bool right);

/// Sorted keys, and the index that each had before.
struct SortedKeys {
  Array keys, places;
};

/// Sorts `keys`, contiguous int64 [n] on a GPU, by their lowest `bits` bits as unsigned integers.
/// Equal keys keep their order.
SortedKeys sort_keys_on_cuda(const char* op, const Array& keys, int bits);

}  // namespace halfgrad::detail
