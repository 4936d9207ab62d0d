#pragma once

#include <limits>

#include <halfgrad/core/dtype.h>

namespace halfgrad::detail {

/// The smallest magnitude that rounds to infinity in `dtype`; infinity if every float fits.
inline double overflow_limit(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 65520;
    case DType::bf16:
      return 0x1.ffp127;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

}  // namespace halfgrad::detail
