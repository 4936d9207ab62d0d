#include <halfgrad/emulator/memory/texture_footprint.h>

#include <algorithm>
#include <cmath>

namespace halfgrad::emulator {
namespace {

constexpr std::int64_t kOutside = -1;  ///< index of a texel that has the border's color
constexpr int kFractionBits = 8;       ///< bits of a filter weight behind the point

/// Texels along one axis: one, or two neighbours with their weights.
struct AxisTaps {
  std::array<std::int64_t, 2> index{};
  std::array<float, 2> weight{1, 0};
};

/// Wrap and mirror need normalized coordinates and count as clamp without them. Faces of a cubemap
/// end at their edges.
AddressMode mode_of(const Texture& texture, unsigned axis) {
  if (is_cube(texture.image().shape)) return AddressMode::clamp;
  const AddressMode mode = texture.address_modes[axis];
  const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
  return repeats && !texture.normalized_coordinates ? AddressMode::clamp : mode;
}

/// A coordinate in texels. Wrap and mirror fold it into the image first.
double position_of(AddressMode mode, bool normalized, float coordinate, std::uint32_t size) {
  if (!std::isfinite(coordinate)) {
    if (std::isnan(coordinate) || mode == AddressMode::wrap || mode == AddressMode::mirror)
      return 0;
    return coordinate < 0 ? -1e9 : 1e9;
  }
  if (!normalized) return std::clamp<double>(coordinate, -1e9, 1e9);
  const float whole = std::floor(coordinate);
  if (mode == AddressMode::wrap) coordinate -= whole;
  if (mode == AddressMode::mirror) {
    const bool odd = std::fmod(whole, 2.0f) != 0;
    coordinate = odd ? 1 - (coordinate - whole) : coordinate - whole;
  }
  const float scaled = coordinate * static_cast<float>(size);
  return std::clamp<double>(scaled, -1e9, 1e9);
}

std::int64_t inside(AddressMode mode, std::int64_t index, std::uint32_t size) {
  const std::int64_t count = size;
  if (index >= 0 && index < count) return index;
  if (mode == AddressMode::border) return kOutside;
  if (mode == AddressMode::wrap) return ((index % count) + count) % count;
  return std::clamp<std::int64_t>(index, 0, count - 1);
}

/// The rounding error that n * (i / n) may have in f32, in texels.
double rounding_of(bool normalized, float coordinate, std::uint32_t size) {
  const double texels = std::fabs(double{coordinate}) * size;
  return normalized && texels < 1e9 ? std::ldexp(texels, -22) : 0;
}

/// A position that rounding has left just below a whole number counts as this number: programs that
/// ask for i / n mean texel i.
AxisTaps nearest(AddressMode mode, double position, double rounding, std::uint32_t size) {
  AxisTaps taps;
  taps.index[0] = inside(mode, static_cast<std::int64_t>(std::floor(position + rounding)), size);
  return taps;
}

AxisTaps neighbours(AddressMode mode, double position, std::uint32_t size) {
  const auto fixed =
      static_cast<std::int64_t>(std::floor((position - 0.5) * (1 << kFractionBits) + 0.5));
  const std::int64_t first = fixed >> kFractionBits;
  const float fraction =
      static_cast<float>(fixed - first * (1 << kFractionBits)) / (1 << kFractionBits);
  return {{inside(mode, first, size), inside(mode, first + 1, size)}, {1 - fraction, fraction}};
}

std::uint32_t size_of(const Image& image, unsigned axis) {
  return axis == 0 ? image.width : axis == 1 ? image.height : image.slices;
}

/// Coordinates within a layer or a face, and the slice that holds them.
struct LayerPlace {
  std::array<float, 3> coordinates;
  std::uint32_t slice;
};

LayerPlace in_layer(const Image& image, const TexturePlace& place) {
  if (image.shape == ImageShape::cube || image.shape == ImageShape::layered_cube) {
    const CubeFace face = cube_face_of(place.coordinates);
    const std::uint32_t layers = image.slices / 6;
    const std::uint32_t layer =
        image.shape == ImageShape::cube ? 0 : std::min(place.layer, layers - 1);
    return {{face.s, face.t, 0}, 6 * layer + face.face};
  }
  if (!is_layered(image.shape)) return {place.coordinates, 0};
  return {place.coordinates, std::min(place.layer, image.slices - 1)};
}

void add_level(const Texture& texture, const TexturePlace& place, std::uint8_t level, float weight,
               Footprint& footprint) {
  const Image& image = texture.levels[level];
  const LayerPlace in = in_layer(image, place);
  const unsigned dimensions = dimensions_of(image.shape);
  const bool filters = texture.linear_filter && texture.returns_floats();
  const bool normalized = texture.normalized_coordinates || is_cube(image.shape);
  std::array<AxisTaps, 3> axes;
  for (unsigned axis = 0; axis < dimensions; ++axis) {
    const AddressMode mode = mode_of(texture, axis);
    const std::uint32_t size = size_of(image, axis);
    const double position = position_of(mode, normalized, in.coordinates[axis], size);
    const double rounding = rounding_of(normalized, in.coordinates[axis], size);
    axes[axis] =
        filters ? neighbours(mode, position, size) : nearest(mode, position, rounding, size);
  }
  const unsigned corners = filters ? 1u << dimensions : 1;
  for (unsigned corner = 0; corner < corners; ++corner) {
    const std::array<unsigned, 3> side{corner & 1, corner >> 1 & 1, corner >> 2};
    Tap tap;
    tap.level = level;
    tap.weight = weight;
    std::array<std::int64_t, 3> index{};
    for (unsigned axis = 0; axis < 3; ++axis) {
      tap.weight *= axes[axis].weight[side[axis]];
      index[axis] = axes[axis].index[side[axis]];
      if (index[axis] == kOutside) tap.source = Tap::Source::border;
    }
    if (tap.weight == 0) continue;
    tap.x = static_cast<std::uint32_t>(index[0]);
    tap.y = static_cast<std::uint32_t>(index[1]);
    tap.slice = dimensions == 3 ? static_cast<std::uint32_t>(index[2]) : in.slice;
    footprint.add(tap);
  }
}

float last_level(const Texture& texture) { return static_cast<float>(texture.levels.size() - 1); }

}  // namespace

Footprint footprint_of(const Texture& texture, const TexturePlace& place) {
  Footprint footprint;
  if (texture.levels.size() == 1) {
    add_level(texture, place, 0, 1, footprint);
    return footprint;
  }
  float level = place.level + texture.level_bias;
  if (!(level > texture.least_level)) level = texture.least_level;  // also NaN
  level = std::min(level, texture.greatest_level);
  level = std::clamp(level, 0.0f, last_level(texture));
  if (!texture.linear_mipmaps) {
    const float nearest = std::min(std::floor(level + 0.5f), last_level(texture));
    add_level(texture, place, static_cast<std::uint8_t>(nearest), 1, footprint);
    return footprint;
  }
  const float fixed = std::floor(level * (1 << kFractionBits) + 0.5f) / (1 << kFractionBits);
  const float first = std::floor(fixed), fraction = fixed - first;
  const auto index = static_cast<std::uint8_t>(first);
  add_level(texture, place, index, 1 - fraction, footprint);
  if (fraction > 0) {
    add_level(texture, place, static_cast<std::uint8_t>(index + 1), fraction, footprint);
  }
  return footprint;
}

Footprint gather_footprint(const Texture& texture, const TexturePlace& place) {
  const Image& image = texture.image();
  const LayerPlace in = in_layer(image, place);
  const bool normalized = texture.normalized_coordinates || is_cube(image.shape);
  std::array<AxisTaps, 2> axes;
  for (unsigned axis = 0; axis < 2; ++axis) {
    const AddressMode mode = mode_of(texture, axis);
    const std::uint32_t size = size_of(image, axis);
    axes[axis] = neighbours(mode, position_of(mode, normalized, in.coordinates[axis], size), size);
  }
  constexpr std::array<std::array<unsigned, 2>, 4> kOrder{{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
  Footprint footprint;
  for (const auto& [right, down] : kOrder) {
    const std::int64_t x = axes[0].index[right], y = axes[1].index[down];
    Tap tap;
    if (x == kOutside || y == kOutside) tap.source = Tap::Source::border;
    tap.x = static_cast<std::uint32_t>(x);
    tap.y = static_cast<std::uint32_t>(y);
    tap.slice = in.slice;
    footprint.add(tap);
  }
  return footprint;
}

Footprint texel_footprint(const Texture& texture, const std::array<std::int32_t, 3>& coordinates,
                          std::uint32_t layer, std::int32_t level) {
  const auto last = static_cast<std::int32_t>(texture.levels.size() - 1);
  Tap tap;
  tap.level = static_cast<std::uint8_t>(std::clamp(level, 0, last));
  const Image& image = texture.levels[tap.level];
  std::array<std::int64_t, 3> index{};
  for (unsigned axis = 0; axis < dimensions_of(image.shape); ++axis) {
    // Integer coordinates are never normalized, so wrap and mirror count as clamp.
    const bool border =
        image.shape == ImageShape::linear || texture.address_modes[axis] == AddressMode::border;
    index[axis] = inside(border ? AddressMode::border : AddressMode::clamp, coordinates[axis],
                         size_of(image, axis));
    if (index[axis] != kOutside) continue;
    tap.source = image.shape == ImageShape::linear ? Tap::Source::zero : Tap::Source::border;
  }
  tap.x = static_cast<std::uint32_t>(index[0]);
  tap.y = static_cast<std::uint32_t>(index[1]);
  tap.slice = image.shape == ImageShape::three ? static_cast<std::uint32_t>(index[2])
              : is_layered(image.shape)        ? std::min(layer, image.slices - 1)
                                               : 0;
  Footprint footprint;
  footprint.add(tap);
  return footprint;
}

}  // namespace halfgrad::emulator
