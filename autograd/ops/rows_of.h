#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// The elements of `x` as a matrix whose rows run over the dimensions of `mask`, and whose row
/// numbers count the other dimensions in row-major order. A view where the strides allow one.
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
