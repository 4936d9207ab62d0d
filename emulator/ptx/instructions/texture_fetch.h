#pragma once

#include <cstdint>

#include <halfgrad/emulator/memory/image.h>
#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

/// The choice of a mipmap level: none, by number, or by gradients.
enum class Detail : std::uint8_t { none, level, gradients };

/// Options of an executing tex or tld4 (Instruction::options).
struct TextureOptions {
  ImageShape geometry = ImageShape::two;
  Detail detail = Detail::none;
  bool integer_coordinates = false;
  bool float_result = true;
  bool gathers = false;
  bool tells_residency = false;    ///< `|p`: whether the texel is resident, which it always is
  std::uint8_t component = 0;      ///< channel that tld4 gathers
  std::uint8_t gradient_size = 0;  ///< elements of a gradient
};

inline constexpr unsigned kTextureResults = 4;

/// Coordinates without the layer: a vector of three for cubemaps.
constexpr unsigned coordinates_of(ImageShape geometry) {
  return is_cube(geometry) ? 3 : dimensions_of(geometry);
}

constexpr bool has_layer(ImageShape geometry) {
  return is_layered(geometry) && geometry != ImageShape::cube;
}

/// Runs tex or tld4. `instruction.list` holds the results, the layer if there is one, the
/// coordinates, then the level or two gradients.
void fetch_textures(Execution& execution, const Instruction& instruction);

}  // namespace halfgrad::emulator
