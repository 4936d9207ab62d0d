#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Indices as contiguous int64. Throws std::invalid_argument for another dtype than int64 or int32,
/// and std::out_of_range, naming the first one outside, unless all are in [0, size).
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

/// Where element `flat`, in row-major order, of an array of these sizes and strides lies.
inline std::int64_t offset_of(std::int64_t flat, const Shape& sizes, const Shape& strides) {
  std::int64_t offset = 0;
  for (int i = sizes.size() - 1; i >= 0; --i) {
    offset += flat % sizes[i] * strides[i];
    flat /= sizes[i];
  }
  return offset;
}

/// The dtype that sums of these numbers are accumulated in: float64, float32 or int64.
inline DType accumulator_of(DType dtype) {
  return visit(dtype, [](auto tag) { return dtype_of<compute_t<typename decltype(tag)::type>>(); });
}

/// Calls f with std::type_identity of the accumulator's type.
template <class F>
void visit_accumulator(DType dtype, const F& f) {
  visit(dtype,
        [&f](auto tag) { f(std::type_identity<compute_t<typename decltype(tag)::type>>{}); });
}

}  // namespace halfgrad::detail
