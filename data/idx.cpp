#include <halfgrad/data/idx.h>

#include <bit>
#include <utility>

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

/// The type codes of the format, which has no 64-bit integers.
constexpr std::pair<std::uint8_t, DType> kTypes[] = {
    {0x08, kUInt8}, {0x09, kInt8}, {0x0B, kInt16}, {0x0C, kInt32}, {0x0D, kFloat}, {0x0E, kDouble}};

DType dtype_of_code(std::uint8_t code, const ByteReader& input) {
  for (const auto& [known, dtype] : kTypes) {
    if (known == code) return dtype;
  }
  input.fail_at(2, FormatCode::unknown_dtype, "type 8, 9, 11, 12, 13 or 14 in the third byte",
                std::to_string(code));
}

std::uint8_t type_code(DType wanted) {
  for (const auto& [code, dtype] : kTypes) {
    if (dtype == wanted) return code;
  }
  halfgrad::detail::fail("write_idx",
                         "expected uint8, int8, int16, int32, float32 or float64, got {}", wanted);
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
  file.dtype = dtype_of_code(std::to_integer<std::uint8_t>(magic[2]), input);
  const auto item = static_cast<size_t>(item_size(file.dtype));
  const std::uint64_t size = read_dims(input, ndim, item, file.dims) * item;
  if (input.is_packed()) files::check_unpacked(input.position() + size, options, input);
  file.data = input.buffer(size);
  input.read(file.data, "data");
  input.expect_end();
  files::convert_order(file.data, item, std::endian::big);
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
