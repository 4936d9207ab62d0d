#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>

#include <halfgrad/core/language.h>
#include <halfgrad/files/byte_source.h>

namespace halfgrad::files {

/// The error about compressed data that ends before its stream does.
class TruncatedStream : public std::runtime_error {
 public:
  TruncatedStream() : std::runtime_error("a truncated one") {}
};

/// Unpacks a deflate stream piece by piece.
class Inflater {
 public:
  /// Deflate's largest compression ratio: "a limit of 1032:1" (zlib.net/zlib_tech.html).
  static constexpr std::uint64_t kMaxRatio = 1032;

  /// The wrapping around the stream: gzip's header and checksum, or none, as in zip archives.
  enum class Wrapping { gzip, none };

  /// Unpacks the `size` bytes of `packed` from `start` on.
  Inflater(ByteSource packed, std::uint64_t start, std::uint64_t size, Wrapping wrapping);
  ~Inflater();

  static bool is_gzip(std::span<const std::byte> bytes);

  /// Fills `to`, or less if the stream ends; returns the number of bytes written. Verifies gzip's
  /// checksum at the end of the stream. Throws std::runtime_error with zlib's message for damaged
  /// data, and TruncatedStream if the packed bytes end before the stream does.
  size_t read(std::span<std::byte> to);

  /// Number of packed bytes after the end of the stream.
  std::uint64_t unread() const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace halfgrad::files
