#include <halfgrad/data/dataset.h>

#include <cstring>
#include <stdexcept>

#include <halfgrad/core/fail.h>

namespace halfgrad::data {
namespace {

Array checked(const Tensor& tensor) {
  if (tensor.dim() == 0 || !tensor.device().is_cpu())
    halfgrad::detail::fail("TensorDataset", "expected [n, ...] on cpu, got {} on {}",
                           tensor.sizes(), tensor.device());
  return tensor.array().contiguous();
}

Tensor copy_rows(const Array& source, std::span<const std::int64_t> indices) {
  Shape sizes = source.sizes();
  const std::int64_t count = sizes[0];
  sizes[0] = static_cast<std::int64_t>(indices.size());
  const Array rows = Array::empty(sizes, source.dtype());
  sizes[0] = 1;
  const std::int64_t row_bytes = numel(sizes) * item_size(source.dtype());
  std::byte* to = rows.data();
  for (const std::int64_t index : indices) {
    if (index < 0 || index >= count)
      halfgrad::detail::fail<std::out_of_range>(
          "TensorDataset", "expected an index in [0, {}), got {}", count, index);
    if (row_bytes > 0) std::memcpy(to, source.data() + index * row_bytes, row_bytes);
    to += row_bytes;
  }
  return Tensor(rows);
}

}  // namespace

TensorDataset::TensorDataset(const Tensor& x, const Tensor& y) : x_(checked(x)), y_(checked(y)) {
  if (x_.size(0) != y_.size(0))
    halfgrad::detail::fail("TensorDataset", "expected one y for each x, got {} and {}", x_.sizes(),
                           y_.sizes());
}

Batch TensorDataset::get_batch(std::span<const std::int64_t> indices) const {
  return {copy_rows(x_, indices), copy_rows(y_, indices)};
}

}  // namespace halfgrad::data
