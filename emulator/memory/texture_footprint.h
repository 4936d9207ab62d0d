#pragma once

#include <array>
#include <cstdint>

#include <halfgrad/emulator/memory/texture.h>

namespace halfgrad::emulator {

/// One texel that a fetch reads, with its weight in the result.
struct Tap {
  enum class Source : std::uint8_t { memory, border, zero };
  Source source = Source::memory;
  std::uint8_t level = 0;
  std::uint32_t x = 0, y = 0, slice = 0;
  float weight = 1;
};

/// The texels of one fetch: 1 without a filter, at most 8 in each of 2 mipmap levels. Texels of
/// weight 0 are left out, so they are not read.
struct Footprint {
  std::array<Tap, 16> taps;
  unsigned count = 0;

  void add(const Tap& tap) { taps[count++] = tap; }
};

/// Place of a fetch. `level` is the level of detail before the texture's bias and limits.
struct TexturePlace {
  std::array<float, 3> coordinates{};
  std::uint32_t layer = 0;  ///< clamped to the last layer
  float level = 0;
};

/// Texels of a fetch by coordinates of type f32 (CUDA programming guide, "Texture Fetching").
/// Weights of the linear filter are rounded to multiples of 1/256, as the guide says: 9 bits, 8 of
/// them behind the point.
Footprint footprint_of(const Texture& texture, const TexturePlace& place);

/// The four texels that a linear filter would read, in the order of tld4: counter-clockwise from
/// the lower left. y grows downwards.
Footprint gather_footprint(const Texture& texture, const TexturePlace& place);

/// The texel with integer coordinates. Linear memory reads as 0 outside of its elements.
Footprint texel_footprint(const Texture& texture, const std::array<std::int32_t, 3>& coordinates,
                          std::uint32_t layer, std::int32_t level);

/// The face of a cubemap that a vector points to, and coordinates in [0, 1] on it.
struct CubeFace {
  unsigned face;
  float s, t;
};
CubeFace cube_face_of(const std::array<float, 3>& direction);

/// The level of detail of a fetch with gradients: log2 of the longest step in texels.
float level_of_gradients(const Texture& texture, const std::array<float, 3>& dx,
                         const std::array<float, 3>& dy);

}  // namespace halfgrad::emulator
