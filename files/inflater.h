#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>

#include <halfgrad/core/language.h>

namespace halfgrad::files {

/// Compressed data that ends within its stream.
class TruncatedStream : public std::runtime_error {
 public:
  TruncatedStream() : std::runtime_error("a truncated one") {}
};

/// The bytes of a deflate stream in memory, unpacked piece by piece.
class Inflater {
 public:
  /// Deflate's best case: "a limit of 1032:1" (zlib.net/zlib_tech.html).
  static constexpr uint64_t kMaxRatio = 1032;

  /// What surrounds the stream: gzip's header and checksum, or nothing, as in zip archives.
  enum class Wrapping { gzip, none };

  Inflater(std::span<const std::byte> packed, Wrapping wrapping);
  ~Inflater();

  static bool is_gzip(std::span<const std::byte> bytes);

  /// Fills `to` unless the stream ends before; returns the number of bytes written. Gzip's checksum
  /// is verified when the end is met. Throws runtime_error with zlib's message for damaged data,
  /// and TruncatedStream where `packed` ends within the stream.
  size_t read(std::span<std::byte> to);

  /// The part of `packed` behind the stream's end.
  size_t unread() const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace halfgrad::files
