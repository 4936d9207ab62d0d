#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace halfgrad::report {

/// A message in the wire format of Protocol Buffers, written field by field:
/// https://protobuf.dev/programming-guides/encoding
class ProtobufMessage {
 public:
  ProtobufMessage& integer(int field, std::int64_t value) {
    tag(field, kVarint);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  ProtobufMessage& float64(int field, double value) {
    tag(field, kFixed64);
    return fixed(std::bit_cast<std::uint64_t>(value), 8);
  }
  ProtobufMessage& float32(int field, float value) {
    tag(field, kFixed32);
    return fixed(std::bit_cast<std::uint32_t>(value), 4);
  }
  ProtobufMessage& text(int field, std::string_view value) {
    tag(field, kLength);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufMessage& message(int field, const ProtobufMessage& value) {
    return text(field, value.bytes_);
  }
  ProtobufMessage& packed(int field, std::span<const double> values) {
    tag(field, kLength);
    varint(8 * values.size());
    for (const double value : values) fixed(std::bit_cast<std::uint64_t>(value), 8);
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  enum WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

  void tag(int field, WireType type) { varint(static_cast<std::uint64_t>(field) << 3 | type); }
  /// Seven bits a byte, the lowest first; the highest bit says that more follow.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  ProtobufMessage& fixed(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }

  std::string bytes_;
};

}  // namespace halfgrad::report
