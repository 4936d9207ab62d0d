#include <halfgrad/io/tensor_bytes.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace halfgrad::io::detail {

static_assert(std::endian::native == std::endian::little,
              "arrays are written without converting the byte order");

Tensor tensor_of(const Elements& elements, const files::ByteReader& input) {
  using files::FormatCode;
  const auto& [dtype, sizes, bytes, offset, order] = elements;
  if (sizes.size() > kMaxDims) {
    input.fail_at(offset, FormatCode::bad_shape,
                  "at most " + std::to_string(kMaxDims) + " dimensions",
                  std::to_string(sizes.size()));
  }
  if (dtype == kBool) {
    const auto wrong = std::ranges::find_if(bytes, [](std::byte b) { return b > std::byte{1}; });
    if (wrong != bytes.end()) {
      input.fail_at(offset + (wrong - bytes.begin()), FormatCode::bad_value,
                    "truth values of 0 or 1", std::to_string(std::to_integer<int>(*wrong)),
                    "store them as 8-bit integers");
    }
  }
  const Array array = Array::empty(std::vector<std::int64_t>(sizes.begin(), sizes.end()), dtype);
  if (bytes.empty()) return Tensor(array);
  std::memcpy(array.data(), bytes.data(), bytes.size());
  files::convert_order({array.data(), bytes.size()}, item_size(dtype), order);
  return Tensor(array);
}

Array stored_array(const Tensor& tensor) { return tensor.array().to(Device()).contiguous(); }

std::span<const std::byte> bytes_of(const Array& array) {
  return {array.data(), static_cast<std::size_t>(array.numel() * item_size(array.dtype()))};
}

}  // namespace halfgrad::io::detail
