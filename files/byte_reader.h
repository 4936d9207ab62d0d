#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/files/byte_order.h>
#include <halfgrad/files/byte_source.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/files/inflater.h>

namespace halfgrad::files {

/// Reads a file's bytes from first to last, unpacks gzip on the way, and throws the errors about
/// them.
class ByteReader {
 public:
  enum class Gzip : bool { refuse, unpack };

  ByteReader(ByteSource source, std::string reader, std::string file, Gzip gzip = Gzip::refuse);
  /// Reads bytes in memory, which must outlive the reader.
  ByteReader(std::span<const std::byte> bytes, std::string reader, std::string file,
             Gzip gzip = Gzip::refuse)
      : ByteReader(ByteSource(bytes), std::move(reader), std::move(file), gzip) {}

  /// Returns a second reader of the same plain file, which starts at `offset`.
  ByteReader from(std::uint64_t offset) const;

  /// Throws a FormatError at this position; fail_at() throws one at another offset.
  [[noreturn]] void fail(FormatCode code, const std::string& expected, const std::string& got,
                         const std::string& fix = {}) const;
  [[noreturn]] void fail_at(std::uint64_t offset, FormatCode code, const std::string& expected,
                            const std::string& got, const std::string& fix = {}) const;

  /// Fills `to`; fails with `truncated` ("expected 4 bytes of <what>") if too few bytes are left.
  void read(std::span<std::byte> to, const char* what);

  template <class T>
  T read_integer(std::endian order, const char* what) {
    std::byte bytes[sizeof(T)];
    read(bytes, what);
    return load<T>(bytes, order);
  }

  /// Fails with `trailing_bytes` unless everything has been read.
  void expect_end();

  /// Skips bytes of a plain file; fails as read() does.
  void skip(std::uint64_t count, const char* what);

  /// Returns memory for `size` bytes; fails with `too_large` if there is not enough.
  std::vector<std::byte> buffer(std::uint64_t size) const {
    return allocate<std::vector<std::byte>>(size, reader_, file_);
  }

  const ByteSource& source() const { return source_; }
  bool is_packed() const { return inflater_ != nullptr; }
  std::uint64_t position() const { return position_; }
  /// Upper bound for the number of bytes that can follow.
  std::uint64_t limit() const;

 private:
  void require(std::uint64_t wanted, std::uint64_t available, const char* what) const;
  std::size_t read_some(std::span<std::byte> to);

  /// Number of bytes of a plain file that follow.
  std::uint64_t left() const { return source_.size() - std::min(position_, source_.size()); }

  ByteSource source_;
  std::string reader_, file_;
  std::uint64_t position_ = 0;          // in the unpacked data
  std::shared_ptr<Inflater> inflater_;  // null for a plain file
};

}  // namespace halfgrad::files
