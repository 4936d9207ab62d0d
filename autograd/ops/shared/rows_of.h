#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Returns `x` as a matrix: a row runs over the dimensions of `mask`, and the rows over the others
/// in row-major order. A view if the strides allow it, else a copy.
inline Array rows_of(const Array& x, unsigned mask) {
  Shape order;
  std::int64_t columns = 1;
  const auto reduced = [mask](int d) { return (mask >> static_cast<unsigned>(d) & 1U) != 0; };
  for (int d = 0; d < x.ndim(); ++d) {
    if (!reduced(d)) order.push_back(d);
  }
  std::int64_t rows = 1;
  for (const std::int64_t d : order) rows *= x.sizes()[static_cast<int>(d)];
  for (int d = 0; d < x.ndim(); ++d) {
    if (!reduced(d)) continue;
    order.push_back(d);
    columns *= x.sizes()[d];
  }
  return x.permute(order).reshape({rows, columns});
}

}  // namespace halfgrad::detail
