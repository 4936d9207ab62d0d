#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Indices as contiguous int64. Throws std::invalid_argument for another dtype than int64 or int32,
/// and std::out_of_range, naming the first one outside, unless all are in [0, size). On a GPU that
/// comes later: core/cuda/indices.h says when.
Array checked_indices(const char* op, const Array& index, std::int64_t size);

/// A contiguous array as [outer, size, inner] around dimension `dim`.
struct Slabs {
  std::int64_t outer = 1, size = 1, inner = 1;

  Slabs(const Shape& sizes, int dim) {
    for (int i = 0; i < sizes.size(); ++i) {
      (i < dim ? outer : i == dim ? size : inner) *= sizes[i];
    }
  }
};

}  // namespace halfgrad::detail
