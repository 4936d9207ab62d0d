#include <halfgrad/io/safetensors.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/files/byte_source.h>
#include <halfgrad/files/file_kind.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/io/safetensors_header.h>
#include <halfgrad/io/tensor_bytes.h>
#include <halfgrad/io/utf8.h>

namespace halfgrad::io {
namespace {

constexpr const char* kReader = "load_safetensors";

void check_text(const std::string& text, const char* what) {
  if (detail::valid_utf8_prefix(text) == text.size() && text != "__metadata__") return;
  halfgrad::detail::fail("save_safetensors",
                         "expected {} in UTF-8 other than __metadata__, got \"{}\"", what,
                         files::cut(text));
}

Safetensors read(const files::ByteSource& bytes, const std::string& name) {
  files::expect_kind(files::FileKind::safetensors, bytes, kReader, name);
  const detail::SafetensorsHeader header = detail::parse_safetensors_header(bytes, name);
  const files::ByteReader input(bytes, kReader, name);
  Safetensors result{.tensors = {}, .metadata = header.metadata};
  for (const detail::SafetensorsEntry& entry : header.entries) {
    const auto dtype = detail::dtype_of_safetensors(entry.dtype);
    if (!dtype) {
      input.fail_at(entry.described_at, FormatCode::no_such_dtype,
                    "BOOL, F16, BF16, F32, F64, I64 or an integer of at most 32 bits",
                    entry.dtype + " for \"" + entry.name + '"', "convert it before saving");
    }
    result.tensors[entry.name] =
        detail::tensor_of({.dtype = *dtype,
                           .stored = detail::unsigned_of_safetensors(entry.dtype),
                           .sizes = entry.shape,
                           .offset = header.data_start + entry.begin},
                          input);
  }
  return result;
}

/// Calls `use` with the pieces of the file, in order.
template <class Use>
void format_file(const TensorMap& tensors, const Metadata& metadata, const Use& use) {
  for (const auto& [key, value] : metadata) {
    check_text(key, "a key");
    check_text(value, "a value");
  }
  std::vector<TensorMap::const_iterator> order;
  for (auto item = tensors.begin(); item != tensors.end(); ++item) {
    check_text(item->first, "a name");
    if (!item->second.defined()) {
      halfgrad::detail::fail("save_safetensors",
                             "expected tensors, got an undefined one for \"{}\"", item->first);
    }
    order.push_back(item);
  }
  std::ranges::stable_sort(order, std::ranges::greater(), [](const auto& item) {
    return detail::safetensors_rank(item->second.dtype());
  });

  detail::SafetensorsHeader header{.entries = {}, .metadata = metadata};
  std::vector<Array> arrays;
  std::uint64_t end = 0;
  for (const auto& item : order) {
    const auto& [name, tensor] = *item;
    const Array& array = arrays.emplace_back(detail::stored_array(tensor));
    const std::uint64_t begin = end;
    end += detail::bytes_of(array).size();
    header.entries.push_back({.name = name,
                              .dtype = std::string(detail::safetensors_dtype(array.dtype())),
                              .shape = {array.sizes().begin(), array.sizes().end()},
                              .begin = begin,
                              .end = end});
  }
  const std::string first = detail::format_safetensors_header(header);
  std::vector<files::Bytes> pieces{std::as_bytes(std::span(first))};
  for (const Array& array : arrays) pieces.push_back(detail::bytes_of(array));
  use(pieces);
}

}  // namespace

Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  return read(bytes, name);
}

Safetensors load_safetensors(const std::filesystem::path& path) {
  return read(files::ByteSource::open(path, kReader), path.string());
}

void save_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                      const Metadata& metadata) {
  format_file(tensors, metadata, [&](const auto& pieces) { files::replace_file(path, pieces); });
}

void write_safetensors(std::ostream& stream, const TensorMap& tensors, const Metadata& metadata) {
  format_file(tensors, metadata, [&](const auto& pieces) {
    for (const files::Bytes& piece : pieces) {
      stream.write(reinterpret_cast<const char*>(piece.data()),
                   static_cast<std::streamsize>(piece.size()));
    }
  });
  if (!stream) {
    halfgrad::detail::fail<std::runtime_error>(
        "write_safetensors", "expected a stream that takes {} tensors, got one that failed",
        tensors.size());
  }
}

}  // namespace halfgrad::io
