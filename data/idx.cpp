#include <halfgrad/data/idx.h>

#include <bit>
#include <cstring>
#include <type_traits>

#include <halfgrad/core/fail.h>
#include <halfgrad/files/byte_reader.h>
#include <halfgrad/files/byte_source.h>
#include <halfgrad/files/checked_size.h>
#include <halfgrad/files/file_kind.h>
#include <halfgrad/files/replace_file.h>

namespace halfgrad::data {
namespace {

using files::ByteReader;
using files::FormatCode;

constexpr size_t kMaxDims = 8;
constexpr const char* kReader = "read_idx";

/// Calls f with a value of the element type in the file and one of the type in memory.
template <class F>
void visit_type_code(std::uint8_t code, const ByteReader& input, F&& f) {
  switch (code) {
    case 0x08:
      return f(std::uint8_t{}, std::uint8_t{});
    case 0x09:
      return f(std::int8_t{}, std::int32_t{});
    case 0x0B:
      return f(std::int16_t{}, std::int32_t{});
    case 0x0C:
      return f(std::int32_t{}, std::int32_t{});
    case 0x0D:
      return f(float{}, float{});
    case 0x0E:
      return f(double{}, double{});
    default:
      input.fail_at(2, FormatCode::unknown_dtype, "type 8, 9, 11, 12, 13 or 14 in the third byte",
                    std::to_string(code));
  }
}

std::uint8_t type_code(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return 0x08;
    case DType::i32:
      return 0x0C;
    case DType::f32:
      return 0x0D;
    case DType::f64:
      return 0x0E;
    default:
      halfgrad::detail::fail("write_idx", "expected uint8, int32, float32 or float64, got {}",
                             dtype);
  }
}

/// Reads the dimensions into `dims` and returns the number of elements.
std::uint64_t read_dims(ByteReader& input, size_t ndim, size_t element_size,
                        std::vector<std::int64_t>& dims) {
  std::uint64_t count = 1;
  std::vector<std::uint64_t> sizes;
  for (size_t i = 0; i < ndim; ++i) {
    const std::uint64_t dim = input.read_integer<std::uint32_t>(std::endian::big, "dimension");
    const std::uint64_t most = input.limit() / element_size;
    if (dim != 0 && count > most / dim) {
      input.fail(FormatCode::truncated,
                 "at most " + std::to_string(most) + " elements in a file of this size",
                 std::to_string(count) + " x " + std::to_string(dim));
    }
    count *= dim;
    sizes.push_back(dim);
  }
  if (!files::checked_size(sizes, static_cast<std::int64_t>(element_size))) {
    input.fail(FormatCode::size_overflow, "sizes whose product is below 2^63", "larger ones");
  }
  dims.assign(sizes.begin(), sizes.end());
  return count;
}

/// Converts elements from their type in the file to their type in memory.
template <class Stored, class Value>
std::vector<std::byte> widened(std::vector<std::byte> raw, const ByteReader& input) {
  if constexpr (std::is_same_v<Stored, Value>) return raw;
  std::vector<std::byte> data = input.buffer(raw.size() / sizeof(Stored) * sizeof(Value));
  for (size_t i = 0; i < raw.size() / sizeof(Stored); ++i) {
    const Value value = files::load<Stored>(&raw[i * sizeof(Stored)], std::endian::native);
    std::memcpy(&data[i * sizeof(Value)], &value, sizeof(Value));
  }
  return data;
}

IdxFile read(const files::ByteSource& bytes, const std::string& name,
             const files::ReadOptions& options) {
  files::expect_kind(files::FileKind::idx, bytes, kReader, name);
  ByteReader input(bytes, kReader, name, ByteReader::Gzip::unpack);
  std::byte magic[4];
  input.read(magic, "magic number");
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0}) {
    input.fail_at(0, FormatCode::bad_magic,
                  "an IDX file, which begins with two zero bytes, or gzip's 1F 8B",
                  std::to_string(files::load<std::uint16_t>(magic, std::endian::big)));
  }
  const auto ndim = std::to_integer<size_t>(magic[3]);
  if (ndim == 0 || ndim > kMaxDims) {
    input.fail_at(3, FormatCode::bad_shape, "1 to 8 dimensions", std::to_string(ndim));
  }

  IdxFile file;
  visit_type_code(std::to_integer<std::uint8_t>(magic[2]), input, [&](auto stored, auto value) {
    using Stored = decltype(stored);
    using Value = decltype(value);
    const std::uint64_t count = read_dims(input, ndim, sizeof(Stored), file.dims);
    const std::uint64_t size = count * sizeof(Stored);
    if (input.is_packed()) files::check_unpacked(input.position() + size, options, input);
    std::vector<std::byte> raw = input.buffer(size);
    input.read(raw, "data");
    input.expect_end();
    files::convert_order(raw, sizeof(Stored), std::endian::big);
    file.dtype = dtype_of<Value>();
    file.data = widened<Stored, Value>(std::move(raw), input);
  });
  return file;
}

}  // namespace

IdxFile parse_idx(std::span<const std::byte> bytes, const std::string& name,
                  const files::ReadOptions& options) {
  return read(bytes, name, options);
}

IdxFile read_idx(const std::filesystem::path& path, const files::ReadOptions& options) {
  return read(files::ByteSource::open(path, kReader), path.string(), options);
}

void write_idx(const std::filesystem::path& path, const IdxFile& file) {
  const size_t ndim = file.dims.size();
  if (ndim == 0 || ndim > kMaxDims)
    halfgrad::detail::fail("write_idx", "expected 1 to 8 dimensions, got {}", ndim);
  std::vector<std::byte> bytes{std::byte{0}, std::byte{0}, std::byte{type_code(file.dtype)},
                               static_cast<std::byte>(ndim)};
  const size_t size = file.data.size();
  std::vector<std::uint64_t> sizes;
  for (std::int64_t dim : file.dims) {
    if (dim < 0 || dim > UINT32_MAX)
      halfgrad::detail::fail("write_idx", "expected dimensions in [0, 2^32), got {}", dim);
    sizes.push_back(static_cast<std::uint64_t>(dim));
    bytes.resize(bytes.size() + 4);
    files::store(static_cast<std::uint32_t>(dim), &bytes[bytes.size() - 4], std::endian::big);
  }
  const auto expected_size = files::checked_size(sizes, item_size(file.dtype));
  if (!expected_size)
    halfgrad::detail::fail("write_idx",
                           "expected dimensions whose product is below 2^63, got larger ones");
  if (*expected_size != size)
    halfgrad::detail::fail("write_idx", "expected {} bytes of data for these dimensions, got {}",
                           *expected_size, size);
  std::vector<std::byte> data = file.data;
  files::convert_order(data, item_size(file.dtype), std::endian::big);
  const files::Bytes pieces[] = {bytes, data};
  files::replace_file(path, pieces);
}

}  // namespace halfgrad::data
