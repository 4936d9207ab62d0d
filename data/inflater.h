#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace halfgrad::data::detail {

/// The bytes of a gzip stream in memory, unpacked piece by piece.
class Inflater {
 public:
  /// Deflate's best case: "a limit of 1032:1" (zlib.net/zlib_tech.html).
  static constexpr uint64_t kMaxRatio = 1032;

  explicit Inflater(std::span<const std::byte> packed);
  ~Inflater();

  static bool is_gzip(std::span<const std::byte> bytes);

  /// Fills `to` unless the stream ends before; returns the number of bytes written. The checksum is
  /// verified when the end is met. Throws runtime_error with zlib's message for damaged data, and
  /// where `packed` ends within the stream.
  size_t read(std::span<std::byte> to);

  /// The part of `packed` behind the stream's end.
  size_t unread() const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace halfgrad::data::detail
