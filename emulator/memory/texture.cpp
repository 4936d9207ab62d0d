#include <halfgrad/emulator/memory/texture.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <halfgrad/emulator/ptx/instructions/float_formats.h>

namespace halfgrad::emulator {
namespace {

template <class T>
T read(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::int64_t signed_channel(const std::byte* bytes, unsigned size) {
  if (size == 1) return read<std::int8_t>(bytes);
  if (size == 2) return read<std::int16_t>(bytes);
  return read<std::int32_t>(bytes);
}

std::uint32_t unsigned_channel(const std::byte* bytes, unsigned size) {
  if (size == 1) return read<std::uint8_t>(bytes);
  if (size == 2) return read<std::uint16_t>(bytes);
  return read<std::uint32_t>(bytes);
}

/// The largest integer stands for 1; the two smallest signed ones stand for -1.
float normalized(const std::byte* bytes, const TexelFormat& format) {
  const unsigned bits = 8u * format.channel_bytes;
  if (format.kind == TexelKind::unsigned_integer) {
    const auto largest = static_cast<float>((1u << bits) - 1);
    return static_cast<float>(unsigned_channel(bytes, format.channel_bytes)) / largest;
  }
  const auto largest = static_cast<float>((1u << (bits - 1)) - 1);
  const auto value = static_cast<float>(signed_channel(bytes, format.channel_bytes));
  return std::max(value / largest, -1.0f);
}

/// IEC 61966-2-1, from sRGB to linear.
float linear_of(float srgb) {
  return srgb <= 0.04045f ? srgb / 12.92f : std::pow((srgb + 0.055f) / 1.055f, 2.4f);
}

std::uint32_t channel(const Texture& texture, const std::byte* bytes, unsigned index) {
  const TexelFormat& format = texture.image().format;
  if (format.kind == TexelKind::floating) {
    if (format.channel_bytes == 4) return read<std::uint32_t>(bytes);
    return std::bit_cast<std::uint32_t>(widen<F16>(read<std::uint16_t>(bytes)));
  }
  if (texture.returns_floats()) {
    const float value = normalized(bytes, format);
    const bool converts = texture.srgb && index < 3;
    return std::bit_cast<std::uint32_t>(converts ? linear_of(value) : value);
  }
  if (format.kind == TexelKind::unsigned_integer) {
    return unsigned_channel(bytes, format.channel_bytes);
  }
  return static_cast<std::uint32_t>(signed_channel(bytes, format.channel_bytes));
}

}  // namespace

const char* name_of(ImageShape shape) {
  switch (shape) {  // clang-format off
    case ImageShape::linear: return "linear memory";
    case ImageShape::one: return "1-D";
    case ImageShape::two: return "2-D";
    case ImageShape::three: return "3-D";
    case ImageShape::layered_one: return "layered 1-D";
    case ImageShape::layered_two: return "layered 2-D";
    case ImageShape::cube: return "cubemap";
    case ImageShape::layered_cube: return "layered cubemap";
  }  // clang-format on
  return "image";
}

Channels channels_of(const Texture& texture, const std::byte* bytes) {
  const TexelFormat& format = texture.image().format;
  Channels result{0, 0, 0, texture.returns_floats() ? std::bit_cast<std::uint32_t>(1.0f) : 1u};
  for (unsigned i = 0; i < format.channels; ++i) {
    result[i] = channel(texture, bytes + std::size_t{i} * format.channel_bytes, i);
  }
  return result;
}

Channels border_channels(const Texture& texture) {
  Channels result{};
  for (unsigned i = 0; i < 4; ++i) {
    const float value = texture.border[i];
    result[i] = texture.returns_floats()
                    ? std::bit_cast<std::uint32_t>(value)
                    : static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  }
  return result;
}

}  // namespace halfgrad::emulator
