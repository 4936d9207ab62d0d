#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>

/// Sorting, stable and with the same result on every device: by unsigned integers whose order is
/// that of the numbers.
namespace halfgrad::detail {

/// Which element of each row comes first, which next, to the `count`-th: int64 [rows, count] of
/// `x`, which is contiguous [rows, n], n >= count. Equal numbers stay in order, `descending` or
/// not; zeros of both signs are equal, and NaN is above infinity. A GPU waits for nothing.
Array row_order(const char* op, const Array& x, std::int64_t count, bool descending);

/// Keys in order, and where each of them stood.
struct SortedKeys {
  Array keys, places;
};

/// `keys` is contiguous int64 [n] on a GPU, sorted by the lowest `bits` bits, taken as unsigned;
/// equal keys stay in order.
SortedKeys sort_keys_on_cuda(const char* op, const Array& keys, int bits);

}  // namespace halfgrad::detail
