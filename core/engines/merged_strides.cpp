#include <halfgrad/core/engines/merged_strides.h>

namespace halfgrad::detail {

MergedStrides::MergedStrides(const Array& array, const Shape& sizes) {
  const int added = sizes.size() - array.ndim();
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    const bool repeated = i < added || array.sizes()[i - added] == 1;
    const std::int64_t stride = repeated ? 0 : array.strides()[i - added];
    // A step in the dimension before is as long as this whole dimension: both are one.
    if (dims_ > 0 && strides_[dims_ - 1] == stride * sizes[i]) {
      sizes_[dims_ - 1] *= sizes[i];
      strides_[dims_ - 1] = stride;
    } else {
      sizes_[dims_] = sizes[i];
      strides_[dims_] = stride;
      ++dims_;
    }
  }
}

std::optional<std::int64_t> MergedStrides::offset_of_run(std::int64_t begin, std::int64_t n) const {
  const int inner = dims_ - 1;
  if (strides_[inner] != 1 || begin % sizes_[inner] + n > sizes_[inner]) return std::nullopt;
  std::int64_t offset = 0;
  for (int i = inner; i >= 0; --i) {
    offset += begin % sizes_[i] * strides_[i];
    begin /= sizes_[i];
  }
  return offset;
}

}  // namespace halfgrad::detail
