#pragma once

#include <cstddef>
#include <cstdint>

namespace halfgrad::emulator {

enum class TexelKind : std::uint8_t { signed_integer, unsigned_integer, floating };

/// Format of one element of a texture: 1, 2 or 4 channels of 1, 2 or 4 bytes. A floating channel of
/// 2 bytes is a half.
struct TexelFormat {
  TexelKind kind = TexelKind::floating;
  std::uint8_t channels = 1;
  std::uint8_t channel_bytes = 4;

  unsigned bytes() const { return unsigned{channels} * channel_bytes; }
};

/// Shape of an image, which decides the coordinates that name a texel.
enum class ImageShape : std::uint8_t {
  linear,  ///< linear memory, which tex1Dfetch reads by an index
  one,
  two,
  three,
  layered_one,
  layered_two,
  cube,          ///< six square faces
  layered_cube,  ///< six faces for each layer
};
const char* name_of(ImageShape shape);

constexpr bool is_layered(ImageShape shape) { return shape >= ImageShape::layered_one; }
constexpr bool is_cube(ImageShape shape) { return shape >= ImageShape::cube; }
/// Number of coordinates within a layer.
constexpr unsigned dimensions_of(ImageShape shape) {
  if (shape == ImageShape::three) return 3;
  const bool one = shape == ImageShape::linear || shape == ImageShape::one;
  return one || shape == ImageShape::layered_one ? 1 : 2;
}

/// Texels in device memory: a CUDA array, one level of a mipmapped array, or memory of the program.
/// The emulator keeps CUDA arrays by rows; their layout on a GPU is not documented.
struct Image {
  std::uint64_t address = 0;
  TexelFormat format;
  ImageShape shape = ImageShape::two;
  std::uint32_t width = 1, height = 1;
  std::uint32_t slices = 1;  ///< depth, layers, or faces of all layers
  std::size_t row_pitch = 0, slice_pitch = 0;

  std::uint64_t row_bytes() const { return std::uint64_t{width} * format.bytes(); }
  std::uint64_t address_of(std::uint32_t x, std::uint32_t y, std::uint32_t slice) const {
    return address + slice * slice_pitch + y * row_pitch + std::uint64_t{x} * format.bytes();
  }
};

}  // namespace halfgrad::emulator
