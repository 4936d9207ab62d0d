#include <halfgrad/io/tensor_bytes.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace halfgrad::io::detail {

static_assert(std::endian::native == std::endian::little,
              "arrays are written without converting the byte order");

namespace {

template <class Stored>
void widen(std::span<const std::byte> from, std::endian order, std::int64_t* to) {
  for (std::size_t at = 0; at < from.size(); at += sizeof(Stored)) {
    *to++ = files::load<Stored>(&from[at], order);
  }
}

/// Reads unsigned integers of 2 or 4 bytes into an int64 array.
void read_widened(const Elements& elements, const files::ByteReader& input, const Array& array) {
  const auto count = static_cast<std::uint64_t>(array.numel());
  const auto size = static_cast<std::uint64_t>(stored_size(elements.dtype, elements.stored));
  std::vector<std::byte> bytes = input.buffer(count * size);
  input.from(elements.offset).read(bytes, "elements");
  auto* const to = reinterpret_cast<std::int64_t*>(array.data());
  switch (*elements.stored) {
    case Unsigned::u16:
      return widen<std::uint16_t>(bytes, elements.order, to);
    case Unsigned::u32:
      return widen<std::uint32_t>(bytes, elements.order, to);
  }
}

}  // namespace

Tensor tensor_of(const Elements& elements, const files::ByteReader& input) {
  using files::FormatCode;
  const auto& [dtype, stored, sizes, offset, order] = elements;
  if (sizes.size() > kMaxDims) {
    input.fail_at(offset, FormatCode::bad_shape,
                  "at most " + std::to_string(kMaxDims) + " dimensions",
                  std::to_string(sizes.size()));
  }
  const Array array = Array::empty(std::vector<std::int64_t>(sizes.begin(), sizes.end()), dtype);
  if (array.numel() == 0) return Tensor(array);
  if (stored) {
    read_widened(elements, input, array);
    return Tensor(array);
  }
  const std::span bytes(array.data(), static_cast<std::size_t>(array.numel() * item_size(dtype)));
  input.from(offset).read(bytes, "elements");
  if (dtype == kBool) {
    const auto wrong = std::ranges::find_if(bytes, [](std::byte b) { return b > std::byte{1}; });
    if (wrong != bytes.end()) {
      input.fail_at(offset + (wrong - bytes.begin()), FormatCode::bad_value,
                    "truth values of 0 or 1", std::to_string(std::to_integer<int>(*wrong)),
                    "store them as 8-bit integers");
    }
  }
  files::convert_order(bytes, item_size(dtype), order);
  return Tensor(array);
}

Array stored_array(const Tensor& tensor) { return tensor.array().to(Device()).contiguous(); }

std::span<const std::byte> bytes_of(const Array& array) {
  return {array.data(), static_cast<std::size_t>(array.numel() * item_size(array.dtype()))};
}

}  // namespace halfgrad::io::detail
