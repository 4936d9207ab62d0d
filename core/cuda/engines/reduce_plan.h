#pragma once

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/engines/group.h>

namespace halfgrad::detail {

/// The partition of a reduction among blocks. Depends on the operand's shape and strides alone.
struct ReducePlan {
  ReducePlan(const Array& in, unsigned dims);

  bool by_column = false;    ///< memory is contiguous along a dimension that is kept
  bool whole_block = false;  ///< by row: a block takes each part, else a warp
  std::int64_t outputs = 1;
  std::int64_t count = 1;    ///< elements that an output combines
  std::int64_t columns = 1;  ///< outputs that are neighbours in memory
  std::int64_t parts = 1;    ///< parts of an output, each of `chunk` elements
  std::int64_t chunk = 1;
  /// Permutes the operand's dimensions to [outer, count, columns] or [outputs, count].
  Shape order;

  std::int64_t column_blocks() const { return outputs / columns * ((columns + kWarp - 1) / kWarp); }
  /// Returns the index of a part's total in an array [outer, parts, columns].
  __device__ std::int64_t part_index(std::int64_t output, std::int64_t part) const {
    return (output / columns * parts + part) * columns + output % columns;
  }

 private:
  void cut(std::int64_t blocks, std::int64_t smallest_chunk);
};

inline ReducePlan::ReducePlan(const Array& in, unsigned dims) {
  const auto reduced = [dims](int d) { return (dims >> static_cast<unsigned>(d) & 1U) != 0; };
  const int last = in.ndim() - 1;
  by_column = last >= 0 && !reduced(last) && in.sizes()[last] > 1;
  for (int d = 0; d < last; ++d) {
    const bool is_inner = in.sizes()[d] > 1 && in.strides()[d] < in.strides()[last];
    if (reduced(d) && is_inner) by_column = false;
  }
  for (int d = 0; d < in.ndim(); ++d) {
    if (reduced(d)) continue;
    outputs *= in.sizes()[d];
    if (!by_column || d != last) order.push_back(d);
  }
  for (int d = 0; d < in.ndim(); ++d) {
    if (!reduced(d)) continue;
    count *= in.sizes()[d];
    order.push_back(d);
  }
  if (by_column) {
    order.push_back(last);
    columns = in.sizes()[last];
    cut(column_blocks(), 128);
  } else {
    whole_block = count > 1024;
    cut(outputs, 4096);
  }
}

// Cuts outputs into so many parts that there are about 2000 blocks, more than any GPU runs at a
// time. A chunk is a multiple of 8, so that packs stay aligned.
inline void ReducePlan::cut(std::int64_t blocks, std::int64_t smallest_chunk) {
  const std::int64_t most_parts =
      std::max<std::int64_t>(1, 2048 / std::max<std::int64_t>(1, blocks));
  chunk = std::max(smallest_chunk, (count + most_parts - 1) / most_parts);
  chunk = (chunk + 7) / 8 * 8;
  parts = std::max<std::int64_t>(1, (count + chunk - 1) / chunk);
}

}  // namespace halfgrad::detail
