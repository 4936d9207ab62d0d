#include <halfgrad/dist/flat_layout.h>

#include <algorithm>

namespace halfgrad::detail {

FlatLayout::FlatLayout(const std::vector<std::int64_t>& numels, int ranks)
    : ranks_(ranks), offsets_{0} {
  for (const std::int64_t numel : numels) offsets_.push_back(offsets_.back() + numel);
  part_size_ = (offsets_.back() + ranks - 1) / ranks;
}

Array FlatLayout::part(const Array& flat, int rank) const {
  return flat.slice(0, rank * part_size_, (rank + 1) * part_size_);
}

Array FlatLayout::parameter(const Array& flat, std::size_t index) const {
  return flat.slice(0, offsets_[index], offsets_[index + 1]);
}

FlatLayout::Range FlatLayout::segment(std::size_t index, int rank) const {
  const std::int64_t first = rank * part_size_, last = first + part_size_;
  return {std::clamp(offsets_[index], first, last), std::clamp(offsets_[index + 1], first, last)};
}

Array FlatLayout::segment_of_part(const Array& part, std::size_t index, int rank) const {
  const auto [begin, end] = segment(index, rank);
  return part.slice(0, begin - rank * part_size_, end - rank * part_size_);
}

Array FlatLayout::segment_of_parameter(const Array& elements, std::size_t index, int rank) const {
  const auto [begin, end] = segment(index, rank);
  if (begin == end) return elements.slice(0, 0, 0);  // the clamped range may lie outside
  return elements.slice(0, begin - offsets_[index], end - offsets_[index]);
}

}  // namespace halfgrad::detail
