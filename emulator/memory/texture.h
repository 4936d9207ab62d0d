#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <halfgrad/emulator/memory/image.h>

namespace halfgrad::emulator {

/// Treatment of coordinates outside of [0, size) (CUDA programming guide, "Texture Memory").
enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };

/// A texture object: an image with its mipmap levels, and how it is sampled.
struct Texture {
  std::vector<Image> levels;  ///< one, unless mipmapped
  std::array<AddressMode, 3> address_modes{AddressMode::clamp, AddressMode::clamp,
                                           AddressMode::clamp};
  bool linear_filter = false, linear_mipmaps = false;
  bool normalized_coordinates = false;
  bool normalized_floats = false;  ///< reads integers of 8 and 16 bits as [0, 1] or [-1, 1]
  bool srgb = false;               ///< converts the first three channels from sRGB to linear
  bool allows_gather = false;
  std::array<float, 4> border{};
  float level_bias = 0, least_level = 0, greatest_level = 0;

  const Image& image() const { return levels.front(); }
  bool returns_floats() const {
    const TexelFormat& format = image().format;
    return format.kind == TexelKind::floating || (normalized_floats && format.channel_bytes < 4);
  }
};

/// Four channels as registers hold them: bits of a float, or an integer extended to 32 bits.
using Channels = std::array<std::uint32_t, 4>;

/// The value of the texel whose bytes begin at `bytes`. Channels that the format lacks are 0, 0 and
/// 1.
Channels channels_of(const Texture& texture, const std::byte* bytes);
/// The value of a texel outside of the image under AddressMode::border.
Channels border_channels(const Texture& texture);

}  // namespace halfgrad::emulator
