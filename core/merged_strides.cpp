#include <halfgrad/core/merged_strides.h>

namespace halfgrad::detail {

MergedStrides::MergedStrides(const Array& array, const Shape& sizes) {
  const int added = sizes.size() - array.ndim();
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    const bool repeated = i < added || array.sizes()[i - added] == 1;
    const std::int64_t stride = repeated ? 0 : array.strides()[i - added];
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

}  // namespace halfgrad::detail
