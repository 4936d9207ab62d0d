// Boxes of tensor maps (PTX ISA, "Tensors").
#include <halfgrad/emulator/memory/tensor_map.h>

#include <algorithm>

namespace halfgrad::emulator {

unsigned bytes_of(TensorElement element) {
  switch (element) {
    case TensorElement::u8:
      return 1;
    case TensorElement::u16:
    case TensorElement::f16:
    case TensorElement::bf16:
      return 2;
    case TensorElement::u64:
    case TensorElement::s64:
    case TensorElement::f64:
      return 8;
    default:
      return 4;
  }
}

unsigned TensorMap::tile_bytes() const {
  unsigned bytes = bytes_of(element);
  for (unsigned i = 0; i < rank; ++i) bytes *= tile_size(i);
  return bytes;
}

std::vector<TensorRow> rows_of_box(const TensorMap& map, const TensorCoordinates& first) {
  const auto element = std::int64_t{bytes_of(map.element)};
  const std::int64_t begin = std::max<std::int64_t>(first[0], 0);
  const std::int64_t end = std::min(first[0] + map.box[0], static_cast<std::int64_t>(map.dims[0]));
  std::vector<TensorRow> rows;
  if (begin >= end) return rows;
  unsigned count = 1;
  for (unsigned i = 1; i < map.rank; ++i) count *= map.tile_size(i);
  for (unsigned row = 0; row < count; ++row) {
    TensorRow one;
    one.coordinates[0] = begin;
    one.address = map.address + static_cast<std::uint64_t>(begin * element);
    bool inside = true;
    unsigned rest = row;
    for (unsigned i = 1; i < map.rank; ++i) {
      const unsigned place = rest % map.tile_size(i);
      rest /= map.tile_size(i);
      const std::int64_t coordinate = first[i] + std::int64_t{place} * map.steps[i];
      inside = inside && coordinate >= 0 && coordinate < static_cast<std::int64_t>(map.dims[i]);
      one.coordinates[i] = coordinate;
      one.address += static_cast<std::uint64_t>(coordinate) * map.strides[i];
    }
    if (!inside) continue;
    one.tile_offset = static_cast<std::uint32_t>((row * map.box[0] + begin - first[0]) * element);
    one.bytes = static_cast<std::uint32_t>((end - begin) * element);
    rows.push_back(one);
  }
  return rows;
}

std::string coordinates_text(const TensorMap& map, const TensorCoordinates& coordinates) {
  std::string text = "{";
  for (unsigned i = 0; i < map.rank; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(coordinates[i]);
  }
  return text + "}";
}

}  // namespace halfgrad::emulator
