#include <halfgrad/data/idx.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include <halfgrad/data/inflater.h>
#include <halfgrad/data/replace_file.h>

namespace halfgrad::data {
namespace {

constexpr size_t kMaxDims = 8;

/// The file's unpacked bytes in order, and the messages about them.
class Input {
 public:
  Input(std::span<const std::byte> bytes, std::string name)
      : bytes_(bytes), name_(std::move(name)) {
    if (detail::Inflater::is_gzip(bytes)) inflater_.emplace(bytes);
  }

  [[noreturn]] void fail(const std::string& expected, const std::string& got) const {
    throw std::runtime_error("read_idx: expected " + expected + ", got " + got + " in " + name_ +
                             " at byte " + std::to_string(position_));
  }

  void read(std::span<std::byte> to, const char* what) {
    const size_t count = read_some(to);
    if (count < to.size())
      fail(std::to_string(to.size()) + " bytes of " + what, std::to_string(count));
    position_ += count;
  }

  void expect_end() {
    std::byte extra;
    if (read_some({&extra, 1}) != 0) fail("the end of the data", "more bytes");
    if (inflater_ && inflater_->unread() > 0)
      fail("the end of the file after the gzip stream",
           std::to_string(inflater_->unread()) + " more bytes");
  }

  /// No more bytes than this can follow.
  uint64_t limit() const {
    return inflater_ ? bytes_.size() * detail::Inflater::kMaxRatio : bytes_.size() - position_;
  }

 private:
  size_t read_some(std::span<std::byte> to) {
    if (!inflater_) {
      const size_t count = std::min(to.size(), bytes_.size() - position_);
      std::copy_n(bytes_.begin() + position_, count, to.begin());
      return count;
    }
    try {
      return inflater_->read(to);
    } catch (const std::runtime_error& error) {
      fail("a whole gzip stream", error.what());
    }
  }

  std::span<const std::byte> bytes_;
  std::string name_;
  size_t position_ = 0;
  std::optional<detail::Inflater> inflater_;
};

template <size_t size>
using Unsigned = std::conditional_t<
    size == 1, uint8_t,
    std::conditional_t<size == 2, uint16_t, std::conditional_t<size == 4, uint32_t, uint64_t>>>;

template <class T>
T from_big_endian(const std::byte* bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i) bits = bits << 8 | std::to_integer<uint64_t>(bytes[i]);
  return std::bit_cast<T>(static_cast<Unsigned<sizeof(T)>>(bits));
}

template <class T>
void to_big_endian(T value, std::byte* bytes) {
  uint64_t bits = std::bit_cast<Unsigned<sizeof(T)>>(value);
  for (size_t i = sizeof(T); i-- > 0; bits >>= 8) bytes[i] = static_cast<std::byte>(bits & 0xFF);
}

/// Calls f with the type of the elements in the file and the type in memory.
template <class F>
void visit_type_code(uint8_t code, const Input& input, F&& f) {
  switch (code) {
    case 0x08:
      return f(uint8_t{}, uint8_t{});
    case 0x09:
      return f(int8_t{}, int32_t{});
    case 0x0B:
      return f(int16_t{}, int32_t{});
    case 0x0C:
      return f(int32_t{}, int32_t{});
    case 0x0D:
      return f(float{}, float{});
    case 0x0E:
      return f(double{}, double{});
    default:
      input.fail("type 8, 9, 11, 12, 13 or 14 in the third byte", std::to_string(code));
  }
}

uint8_t type_code(DType dtype) {
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
      throw std::invalid_argument("write_idx: expected uint8, int32, float32 or float64, got " +
                                  std::string(name(dtype)));
  }
}

uint64_t read_dims(Input& input, size_t ndim, size_t element_size, std::vector<int64_t>& dims) {
  uint64_t count = 1;
  for (size_t i = 0; i < ndim; ++i) {
    std::byte word[4];
    input.read(word, "dimension");
    const uint64_t dim = from_big_endian<uint32_t>(word);
    const uint64_t most = input.limit() / element_size;
    if (dim != 0 && count > most / dim)
      input.fail("at most " + std::to_string(most) + " elements in a file of this size",
                 std::to_string(count) + " x " + std::to_string(dim));
    count *= dim;
    dims.push_back(static_cast<int64_t>(dim));
  }
  return count;
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error)
    throw std::runtime_error("read_idx: expected a file, got " + error.message() + " for " +
                             path.string());
  std::vector<std::byte> bytes(size);
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!stream)
    throw std::runtime_error("read_idx: expected " + std::to_string(size) +
                             " bytes, got a read error in " + path.string());
  return bytes;
}

}  // namespace

IdxFile parse_idx(std::span<const std::byte> bytes, const std::string& name) {
  Input input(bytes, name);
  std::byte magic[4];
  input.read(magic, "magic number");
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0})
    input.fail("an IDX file, which begins with two zero bytes, or gzip's 1F 8B",
               std::to_string(from_big_endian<uint16_t>(magic)));
  const auto ndim = std::to_integer<size_t>(magic[3]);
  if (ndim == 0 || ndim > kMaxDims) input.fail("1 to 8 dimensions", std::to_string(ndim));

  IdxFile file;
  visit_type_code(std::to_integer<uint8_t>(magic[2]), input, [&](auto stored, auto value) {
    using Stored = decltype(stored);
    using Value = decltype(value);
    const uint64_t count = read_dims(input, ndim, sizeof(Stored), file.dims);
    std::vector<std::byte> raw(count * sizeof(Stored));
    input.read(raw, "data");
    input.expect_end();
    file.dtype = dtype_of<Value>();
    file.data.resize(count * sizeof(Value));
    for (uint64_t i = 0; i < count; ++i) {
      const Value element = from_big_endian<Stored>(&raw[i * sizeof(Stored)]);
      std::memcpy(&file.data[i * sizeof(Value)], &element, sizeof(Value));
    }
  });
  return file;
}

IdxFile read_idx(const std::filesystem::path& path) {
  return parse_idx(read_file(path), path.string());
}

void write_idx(const std::filesystem::path& path, const IdxFile& file) {
  const size_t ndim = file.dims.size();
  if (ndim == 0 || ndim > kMaxDims)
    throw std::invalid_argument("write_idx: expected 1 to 8 dimensions, got " +
                                std::to_string(ndim));
  std::vector<std::byte> bytes{std::byte{0}, std::byte{0}, std::byte{type_code(file.dtype)},
                               static_cast<std::byte>(ndim)};
  const size_t size = file.data.size();
  uint64_t expected_size = static_cast<uint64_t>(item_size(file.dtype));
  for (int64_t dim : file.dims) {
    if (dim < 0 || dim > UINT32_MAX)
      throw std::invalid_argument("write_idx: expected dimensions on [0, 2^32), got " +
                                  std::to_string(dim));
    if (__builtin_mul_overflow(expected_size, static_cast<uint64_t>(dim), &expected_size))
      throw std::invalid_argument(
          "write_idx: expected fewer than 2^64 bytes, got dimensions up to " + std::to_string(dim));
    bytes.resize(bytes.size() + 4);
    to_big_endian(static_cast<uint32_t>(dim), &bytes[bytes.size() - 4]);
  }
  if (expected_size != size)
    throw std::invalid_argument("write_idx: expected as much data as the dimensions say, got " +
                                std::to_string(size) + " bytes");
  const size_t header = bytes.size();
  bytes.resize(header + size);
  visit(file.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T>)
      for (size_t at = 0; at < size; at += sizeof(T)) {
        T element;
        std::memcpy(&element, &file.data[at], sizeof(T));
        to_big_endian(element, &bytes[header + at]);
      }
  });
  replace_file(path, bytes);
}

}  // namespace halfgrad::data
