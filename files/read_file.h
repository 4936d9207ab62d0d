#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/core/language.h>
#include <halfgrad/files/byte_source.h>

namespace halfgrad::files {

/// Returns all bytes of a regular file as a vector of bytes or a string. Throws FormatError, which
/// names `reader`: unreadable, or too_large without enough memory.
template <class Container = std::vector<std::byte>>
Container read_file(const std::filesystem::path& path, const std::string& reader) {
  const auto source = ByteSource::open(path, reader);
  auto bytes = allocate<Container>(source.size(), reader, path.string());
  bytes.resize(source.read(0, std::as_writable_bytes(std::span(bytes))));
  // Files of /proc and growing ones have more bytes than their size says.
  Container more;
  more.resize(1 << 16);
  while (const auto count = source.read(bytes.size(), std::as_writable_bytes(std::span(more)))) {
    bytes.insert(bytes.end(), more.begin(), more.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return bytes;
}

}  // namespace halfgrad::files
