#pragma once

namespace halfgrad::emulator {

/// Limits of CUDA arrays, textures and surfaces, the same for compute capability 8.0, 8.6, 8.9 and
/// 9.0 (CUDA programming guide, "Technical Specifications per Compute Capability").
struct TextureLimits {
  static constexpr int texture_1d = 131072;
  static constexpr int texture_1d_linear = 1 << 28;
  static constexpr int texture_1d_mipmapped = 32768;
  static constexpr int texture_2d[2] = {131072, 65536};
  static constexpr int texture_2d_linear[3] = {131072, 65000, 2097120};  ///< width, height, pitch
  static constexpr int texture_2d_gather[2] = {32768, 32768};
  static constexpr int texture_2d_mipmapped[2] = {32768, 32768};
  static constexpr int texture_3d = 16384;  ///< in every direction
  static constexpr int texture_3d_alternate[3] = {8192, 8192, 32768};
  static constexpr int surface_1d = 32768;
  static constexpr int surface_2d[2] = {131072, 65536};
  static constexpr int surface_3d = 16384;
  static constexpr int layered = 32768;  ///< width and height of layers, also of cubemaps' faces
  static constexpr int layers = 2048;
  static constexpr int cube_layers = 2046;  ///< six for each layer of a layered cubemap
  static constexpr int alignment = 512;     ///< bytes, for linear memory
  static constexpr int pitch_alignment = 32;
};

}  // namespace halfgrad::emulator
