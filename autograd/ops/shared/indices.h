#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Returns the indices as contiguous int64. Throws std::invalid_argument for a dtype other than
/// int64 or int32, and std::out_of_range, naming the first index outside [0, size). A GPU reports
/// such an index later, see core/cuda/kernels/indices.h.
Array checked_indices(const char* op, const Array& index, std::int64_t size);

/// The sizes [outer, size, inner] of a contiguous array before, in and after dimension `dim`.
struct Slabs {
  std::int64_t outer = 1, size = 1, inner = 1;

  Slabs(const Shape& sizes, int dim) {
    for (int i = 0; i < sizes.size(); ++i) {
      (i < dim ? outer : i == dim ? size : inner) *= sizes[i];
    }
  }
};

}  // namespace halfgrad::detail
