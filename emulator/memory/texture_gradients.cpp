// Coordinates of cubemaps and levels of detail.
#include <algorithm>
#include <cmath>

#include <halfgrad/emulator/memory/texture_footprint.h>

namespace halfgrad::emulator {

/// CUDA programming guide, "Cubemap Textures": the axis of the largest magnitude m selects the
/// face, and (s / m + 1) / 2, (t / m + 1) / 2 are the coordinates on it. The guide leaves ties
/// open: x comes before y, and y before z.
CubeFace cube_face_of(const std::array<float, 3>& direction) {
  const auto [x, y, z] = direction;
  const float along_x = std::fabs(x), along_y = std::fabs(y), along_z = std::fabs(z);
  unsigned face = 0;
  float m = along_x, s = 0, t = -y;
  if (along_x >= along_y && along_x >= along_z) {
    face = x < 0 ? 1 : 0;
    s = x < 0 ? z : -z;
  } else if (along_y >= along_z) {
    face = y < 0 ? 3 : 2;
    m = along_y;
    s = x;
    t = y < 0 ? -z : z;
  } else {
    face = z < 0 ? 5 : 4;
    m = along_z;
    s = z < 0 ? -x : x;
  }
  if (!(m > 0)) return {face, 0.5f, 0.5f};
  return {face, (s / m + 1) / 2, (t / m + 1) / 2};
}

float level_of_gradients(const Texture& texture, const std::array<float, 3>& dx,
                         const std::array<float, 3>& dy) {
  const Image& image = texture.image();
  const std::array<std::uint32_t, 3> size{image.width, image.height, image.slices};
  double longest = 0;
  for (const auto& step : {dx, dy}) {
    double square = 0;
    for (unsigned axis = 0; axis < dimensions_of(image.shape); ++axis) {
      const double texels = double{step[axis]} * (texture.normalized_coordinates ? size[axis] : 1);
      square += texels * texels;
    }
    longest = std::max(longest, square);
  }
  return static_cast<float>(0.5 * std::log2(longest));
}

}  // namespace halfgrad::emulator
