#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/core/language.h>
#include <halfgrad/files/format_error.h>

namespace halfgrad::files {

/// The bytes of an open file or of memory, read by their offsets. A reader looks at a file's header
/// before it reads or allocates the rest. Files are read and not mapped: a mapped file kills the
/// process if another one truncates it. Copies share the file; use them from one thread.
class ByteSource {
 public:
  /// The memory must outlive the source.
  ByteSource(std::span<const std::byte> memory) : memory_(memory), size_(memory.size()) {}

  /// Owns the bytes.
  static ByteSource owning(std::vector<std::byte> bytes);

  /// Opens a regular file, and waits for nothing: throws FormatError(unreadable), which names
  /// `reader`, for a pipe, a device, a folder, and a file that is missing or may not be read.
  static ByteSource open(const std::filesystem::path& path, const std::string& reader);

  /// Returns `size` bytes from `start` on as a source of its own; they must be within this one.
  ByteSource part(std::uint64_t start, std::uint64_t size) const;

  /// Number of bytes when the source was opened.
  std::uint64_t size() const { return size_; }

  /// Copies the bytes from `offset` on to `to`. Returns how many; fewer than to.size() if the
  /// source ends before, also because another process truncated the file.
  std::size_t read(std::uint64_t offset, std::span<std::byte> to) const;

 private:
  struct File;
  std::span<const std::byte> memory_;
  std::shared_ptr<const std::vector<std::byte>> owned_;  // the memory, unless the caller owns it
  std::shared_ptr<File> file_;                           // null for memory
  std::uint64_t start_ = 0;                              // in the file
  std::uint64_t size_;
  bool is_part_ = false;
};

/// Returns a vector or string of `size` bytes. Throws FormatError(too_large) without enough memory.
template <class Container>
Container allocate(std::uint64_t size, const std::string& reader, const std::string& file) {
  try {
    Container bytes;
    bytes.resize(size);
    return bytes;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw FormatError(
      reader, file,
      {FormatCode::too_large, 0, "memory for " + std::to_string(size) + " bytes", "less of it"});
}

}  // namespace halfgrad::files
