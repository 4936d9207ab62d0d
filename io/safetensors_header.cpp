#include <halfgrad/io/safetensors_header.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <tuple>

#include <halfgrad/core/fail.h>
#include <halfgrad/files/byte_reader.h>
#include <halfgrad/files/checked_size.h>
#include <halfgrad/io/json_reader.h>
#include <halfgrad/io/utf8.h>

namespace halfgrad::io::detail {
namespace {

using files::ByteReader;
using files::FormatCode;

constexpr std::uint64_t kMaxHeader = 100'000'000;

struct Type {
  std::string_view name;
  std::int64_t bits;
  std::optional<DType> dtype = std::nullopt;
  std::optional<Unsigned> stored = std::nullopt;
};

/// The dtypes in the order of the format's own enumeration, by which its writer sorts.
constexpr Type kTypes[] = {
    {"BOOL", 8, kBool},
    {"F4", 4},
    {"F6_E2M3", 6},
    {"F6_E3M2", 6},
    {"U8", 8, kUInt8},
    {"I8", 8, kInt8},
    {"F8_E5M2", 8},
    {"F8_E4M3", 8},
    {"F8_E8M0", 8},
    {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8},
    {"I16", 16, kInt16},
    {"U16", 16, std::nullopt, Unsigned::u16},
    {"F16", 16, kHalf},
    {"BF16", 16, kBFloat16},
    {"I32", 32, kInt32},
    {"U32", 32, std::nullopt, Unsigned::u32},
    {"F32", 32, kFloat32},
    {"C64", 64},
    {"F64", 64, kFloat64},
    {"I64", 64, kInt64},
    {"U64", 64},
};

const Type* find_type(std::string_view name) {
  const auto* const type = std::ranges::find(kTypes, name, &Type::name);
  return type == std::end(kTypes) ? nullptr : type;
}

const Type& type_of(DType dtype) { return *std::ranges::find(kTypes, dtype, &Type::dtype); }

std::string text(const std::vector<std::uint64_t>& shape) {
  std::string result;
  for (const std::uint64_t size : shape) {
    result += (result.empty() ? "" : ",") + std::to_string(size);
  }
  return '[' + result + ']';
}

std::vector<std::uint64_t> read_integers(JsonReader& json) {
  std::vector<std::uint64_t> values;
  json.array([&] { values.push_back(json.integer()); });
  return values;
}

void check_size(const SafetensorsEntry& entry, const ByteReader& input) {
  const Type& type = *find_type(entry.dtype);
  const auto bits = files::checked_size(entry.shape, type.bits);
  if (!bits) {
    input.fail_at(entry.described_at, FormatCode::size_overflow, "a shape of fewer than 2^63 bits",
                  text(entry.shape));
  }
  if (*bits % 8 != 0 || *bits / 8 != entry.end - entry.begin) {
    input.fail_at(entry.described_at, FormatCode::size_mismatch,
                  "the " + std::to_string(*bits) + " bits that " + entry.dtype + " of shape " +
                      text(entry.shape) + " takes",
                  std::to_string(entry.end - entry.begin) + " bytes");
  }
}

SafetensorsEntry read_entry(JsonReader& json, const ByteReader& input, std::string name) {
  SafetensorsEntry entry{.name = std::move(name), .described_at = json.position()};
  std::vector<std::uint64_t> offsets;
  bool has_dtype = false, has_shape = false, has_offsets = false;
  json.object([&](const std::string& field) {
    const std::uint64_t at = json.position();
    if (field == "dtype") {
      has_dtype = true;
      entry.dtype = json.string();
      if (find_type(entry.dtype) == nullptr) {
        input.fail_at(at, FormatCode::unknown_dtype, "a dtype of the format",
                      '"' + entry.dtype + '"');
      }
    } else if (field == "shape") {
      has_shape = true;
      entry.shape = read_integers(json);
    } else if (field == "data_offsets") {
      has_offsets = true;
      offsets = read_integers(json);
      if (offsets.size() != 2 || offsets[0] > offsets[1]) {
        input.fail_at(at, FormatCode::bad_offsets, "offsets [begin, end] with begin <= end",
                      text(offsets));
      }
    } else {
      input.fail_at(at, FormatCode::unknown_field, "dtype, shape or data_offsets",
                    '"' + field + '"');
    }
  });
  if (!has_dtype || !has_shape || !has_offsets) {
    input.fail_at(entry.described_at, FormatCode::missing_field, "dtype, shape and data_offsets",
                  "an entry without one of them for \"" + entry.name + '"');
  }
  entry.begin = offsets[0];
  entry.end = offsets[1];
  check_size(entry, input);
  return entry;
}

/// Checks that the sorted entries cover the data from its first to its last byte, without gaps.
void check_coverage(const SafetensorsHeader& header, std::uint64_t file_size,
                    const ByteReader& input) {
  const std::uint64_t data_size = file_size - header.data_start;
  std::uint64_t covered = 0;
  for (const SafetensorsEntry& entry : header.entries) {
    const auto fail = [&](FormatCode code, const std::string& expected) {
      input.fail_at(entry.described_at, code, expected,
                    '"' + entry.name + "\" at [" + std::to_string(entry.begin) + ", " +
                        std::to_string(entry.end) + ")");
    };
    if (entry.end > data_size) {
      fail(FormatCode::truncated, "data within the file's " + std::to_string(data_size) + " bytes");
    }
    if (entry.begin < covered) fail(FormatCode::overlap, "tensors that do not overlap");
    if (entry.begin > covered) fail(FormatCode::gap, "data without gaps");
    covered = entry.end;
  }
  if (covered != data_size) {
    input.fail_at(header.data_start + covered, FormatCode::trailing_bytes, "the end of the file",
                  std::to_string(data_size - covered) + " more bytes");
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(const files::ByteSource& file, const std::string& name) {
  ByteReader input(file, "load_safetensors", name);
  const auto size = input.read_integer<std::uint64_t>(std::endian::little, "header size");
  if (size > kMaxHeader) {
    input.fail_at(0, FormatCode::header_too_large, "a header of at most 100000000 bytes",
                  std::to_string(size), "this may not be a safetensors file");
  }
  if (size > file.size() - 8) {
    input.fail_at(
        0, FormatCode::truncated, "a header within the file",
        std::to_string(size) + " bytes of it in a file of " + std::to_string(file.size()));
  }
  auto text = files::allocate<std::string>(size, "load_safetensors", name);
  input.read(std::as_writable_bytes(std::span(text)), "header");
  if (const std::size_t valid = valid_utf8_prefix(text); valid < size) {
    input.fail_at(8 + valid, FormatCode::bad_text, "UTF-8", "other bytes");
  }
  if (!text.starts_with('{')) {
    input.fail_at(8, FormatCode::bad_syntax, "a header that begins with {",
                  '"' + text.substr(0, 1) + '"');
  }

  SafetensorsHeader header{.data_start = 8 + size};
  JsonReader json(text, input, 8);
  json.object([&](const std::string& key) {
    if (key == "__metadata__") {
      json.object([&](const std::string& field) { header.metadata[field] = json.string(); });
    } else {
      header.entries.push_back(read_entry(json, input, key));
    }
  });
  json.expect_end(" ");
  std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& entry) {
    return std::tie(entry.begin, entry.end, entry.name);
  });
  check_coverage(header, file.size(), input);
  return header;
}

std::string format_safetensors_header(const SafetensorsHeader& header) {
  std::string json;
  const auto append = [&json](const std::string& key, const std::string& value) {
    json += (json.empty() ? "" : ",") + json_quoted(key) + ":" + value;
  };
  if (!header.metadata.empty()) {
    std::string fields;
    for (const auto& [key, value] : header.metadata) {
      fields += (fields.empty() ? "" : ",") + json_quoted(key) + ":" + json_quoted(value);
    }
    append("__metadata__", "{" + fields + "}");
  }
  for (const SafetensorsEntry& entry : header.entries) {
    append(entry.name, R"({"dtype":")" + entry.dtype + R"(","shape":)" + text(entry.shape) +
                           R"(,"data_offsets":)" + text({entry.begin, entry.end}) + "}");
  }
  json = "{" + json + "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  if (json.size() > kMaxHeader) {
    halfgrad::detail::fail(
        "save_safetensors",
        "expected names and metadata that fit in a header of 100000000 bytes, got {}", json.size());
  }
  std::string size(8, '\0');
  files::store<std::uint64_t>(json.size(), reinterpret_cast<std::byte*>(size.data()),
                              std::endian::little);
  return size + json;
}

std::string_view safetensors_dtype(DType dtype) { return type_of(dtype).name; }

std::optional<DType> dtype_of_safetensors(std::string_view name) {
  const Type* const type = find_type(name);
  if (type == nullptr) return std::nullopt;
  return type->stored ? kInt64 : type->dtype;
}

std::optional<Unsigned> unsigned_of_safetensors(std::string_view name) {
  const Type* const type = find_type(name);
  return type == nullptr ? std::nullopt : type->stored;
}

int safetensors_rank(DType dtype) { return static_cast<int>(&type_of(dtype) - kTypes); }

}  // namespace halfgrad::io::detail
