#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>

/// Arrays whose elements are functions of their index. They are computed on the array's device, so
/// a captured graph may contain them; every device gives the same bits.
namespace halfgrad::detail {

/// out[i] = start + i step, for a contiguous int64 or float64 `out`. Integers wrap modulo 2^64.
void fill_steps(const char* op, const Array& out, std::int64_t start, std::int64_t step);
void fill_steps(const char* op, const Array& out, double start, double step);

/// n values from `first` to `last` in equal distances, for a contiguous float64 `out` [n]. Counts
/// from the nearer end, so that both ends are exact.
void fill_between(const char* op, const Array& out, double first, double last);

/// out[i, j] = [i = j], for a contiguous float64 `out` [n, m].
void fill_identity(const char* op, const Array& out);

}  // namespace halfgrad::detail
