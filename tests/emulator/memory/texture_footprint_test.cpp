#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <halfgrad/emulator/memory/texture_footprint.h>

namespace halfgrad::emulator {
namespace {

constexpr AddressMode kModes[] = {AddressMode::wrap, AddressMode::clamp, AddressMode::mirror,
                                  AddressMode::border};

Texture texture_of(ImageShape shape, std::uint32_t width, std::uint32_t height,
                   std::uint32_t slices) {
  Image image;
  image.shape = shape;
  image.width = width;
  image.height = height;
  image.slices = slices;
  Texture texture;
  texture.levels = {image};
  return texture;
}

/// A value for each texel, and one for the border.
double value_of(std::int64_t x, std::int64_t y, std::int64_t slice) {
  return static_cast<double>((x * 31 + y * 57 + slice * 83) % 101);
}
constexpr double kBorder = 1000;

double sum_of(const Footprint& footprint) {
  double sum = 0;
  for (unsigned i = 0; i < footprint.count; ++i) {
    const Tap& tap = footprint.taps[i];
    const bool memory = tap.source == Tap::Source::memory;
    sum += double{tap.weight} * (memory ? value_of(tap.x, tap.y, tap.slice) : kBorder);
  }
  return sum;
}

/// The texel's index along one axis by repeated reflection or shifts; -1 for the border.
std::int64_t folded(std::int64_t i, std::int64_t size, AddressMode mode) {
  if (mode == AddressMode::border) return i < 0 || i >= size ? -1 : i;
  if (mode == AddressMode::clamp) return i < 0 ? 0 : i >= size ? size - 1 : i;
  while (i < 0 || i >= size) {
    if (mode == AddressMode::wrap) {
      i += i < 0 ? size : -size;
    } else {
      i = i < 0 ? -1 - i : 2 * size - 1 - i;
    }
  }
  return i;
}

/// CUDA programming guide, "Linear Filtering": tex(x) = (1 - a) T[i] + a T[i + 1], one axis after
/// the other.
double reference(const Texture& texture, const std::array<float, 3>& at, unsigned axis,
                 std::array<std::int64_t, 3> index) {
  const Image& image = texture.image();
  if (axis == dimensions_of(image.shape)) {
    if (std::min({index[0], index[1], index[2]}) < 0) return kBorder;
    return value_of(index[0], index[1], index[2]);
  }
  const std::int64_t size = axis == 0 ? image.width : axis == 1 ? image.height : image.slices;
  AddressMode mode = texture.address_modes[axis];
  double x = at[axis];
  if (texture.normalized_coordinates) {
    const double whole = std::floor(x);
    const bool flips = mode == AddressMode::mirror && std::fmod(whole, 2) != 0;
    x = (flips ? whole + 1 - x : x) * static_cast<double>(size);
  } else if (mode == AddressMode::wrap || mode == AddressMode::mirror) {
    mode = AddressMode::clamp;
  }
  const double base = texture.linear_filter ? x - 0.5 : x;
  const auto i = static_cast<std::int64_t>(std::floor(base));
  index[axis] = folded(i, size, mode);
  const double first = reference(texture, at, axis + 1, index);
  if (!texture.linear_filter) return first;
  index[axis] = folded(i + 1, size, mode);
  const double weight = std::floor((base - static_cast<double>(i)) * 256 + 0.5) / 256;
  return (1 - weight) * first + weight * reference(texture, at, axis + 1, index);
}

TEST(TextureFootprint, FollowsTheGuideInEveryModeAndFilter) {
  std::mt19937 random(7);
  const Texture shapes[] = {texture_of(ImageShape::one, 13, 1, 1),
                            texture_of(ImageShape::two, 5, 11, 1),
                            texture_of(ImageShape::three, 7, 3, 5)};
  for (Texture texture : shapes) {
    for (unsigned choice = 0; choice < 256; ++choice) {
      for (unsigned axis = 0; axis < 3; ++axis) {
        texture.address_modes[axis] = kModes[choice >> 2 * axis & 3];
      }
      texture.linear_filter = (choice & 64) != 0;
      texture.normalized_coordinates = (choice & 128) != 0;
      for (unsigned n = 0; n < 40; ++n) {
        // Multiples of 1/512 make every product exact.
        TexturePlace place;
        for (float& x : place.coordinates) {
          const float unit = static_cast<float>(static_cast<int>(random() % 2048) - 768) / 512;
          x = texture.normalized_coordinates ? unit : unit * 9;
        }
        EXPECT_NEAR(sum_of(footprint_of(texture, place)),
                    reference(texture, place.coordinates, 0, {}), 1e-9)
            << "choice " << choice << " at " << place.coordinates[0] << ", " << place.coordinates[1]
            << ", " << place.coordinates[2];
      }
    }
  }
}

TEST(TextureFootprint, QuotientsNameTheirTexels) {
  for (std::uint32_t size = 1; size < 400; ++size) {
    Texture texture = texture_of(ImageShape::one, size, 1, 1);
    texture.normalized_coordinates = true;
    texture.address_modes[0] = AddressMode::wrap;
    for (std::uint32_t i = 0; i < 3 * size; ++i) {
      const float coordinate = static_cast<float>(i) / static_cast<float>(size);
      EXPECT_EQ(footprint_of(texture, {{coordinate, 0, 0}}).taps[0].x, i % size)
          << i << " / " << size;
    }
  }
}

TEST(TextureFootprint, TexelsOfWeightZeroAreLeftOut) {
  Texture texture = texture_of(ImageShape::two, 4, 4, 1);
  texture.linear_filter = true;
  EXPECT_EQ(footprint_of(texture, {{1.5f, 2.5f, 0}}).count, 1u);
  EXPECT_EQ(footprint_of(texture, {{1.25f, 2.5f, 0}}).count, 2u);
  EXPECT_EQ(footprint_of(texture, {{1.25f, 2.75f, 0}}).count, 4u);
}

TEST(TextureFootprint, LayersAreClampedAndNotFiltered) {
  Texture texture = texture_of(ImageShape::layered_two, 4, 4, 3);
  texture.linear_filter = true;
  const Footprint footprint = footprint_of(texture, {{1.25f, 2.25f, 0}, 9});
  ASSERT_EQ(footprint.count, 4u);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(footprint.taps[i].slice, 2u);
}

TEST(TextureFootprint, CubemapsSelectTheFaceOfTheLongestAxis) {
  const struct {
    std::array<float, 3> direction;
    unsigned face;
    float s, t;
  } cases[] = {{{2, 1, -1}, 0, 0.75f, 0.25f}, {{-2, 1, -1}, 1, 0.25f, 0.25f},
               {{1, 2, -1}, 2, 0.75f, 0.25f}, {{1, -2, -1}, 3, 0.75f, 0.75f},
               {{1, -1, 2}, 4, 0.75f, 0.75f}, {{1, -1, -2}, 5, 0.25f, 0.75f}};
  for (const auto& one : cases) {
    const CubeFace face = cube_face_of(one.direction);
    EXPECT_EQ(face.face, one.face);
    EXPECT_EQ(face.s, one.s) << one.face;
    EXPECT_EQ(face.t, one.t) << one.face;
  }
  const Texture texture = texture_of(ImageShape::layered_cube, 8, 8, 12);
  EXPECT_EQ(footprint_of(texture, {{0, 0, -1}, 1}).taps[0].slice, 11u);
}

TEST(TextureFootprint, MipmapLevelsAreBiasedClampedAndBlended) {
  Texture texture = texture_of(ImageShape::two, 8, 8, 1);
  texture.normalized_coordinates = true;
  for (std::uint32_t size : {4u, 2u}) {
    Image level = texture.image();
    level.width = level.height = size;
    texture.levels.push_back(level);
  }
  texture.level_bias = 0.25f;
  texture.greatest_level = 1.75f;
  const auto levels = [&](float level) {
    return footprint_of(texture, {{0.5f, 0.5f, 0}, 0, level});
  };
  EXPECT_EQ(levels(0).taps[0].level, 0);
  EXPECT_EQ(levels(0.25f).taps[0].level, 1);
  EXPECT_EQ(levels(9).taps[0].level, 2);
  texture.linear_mipmaps = true;
  ASSERT_EQ(levels(9).count, 2u);
  EXPECT_EQ(levels(9).taps[0].level, 1);
  EXPECT_EQ(levels(9).taps[0].weight, 0.25f);
  EXPECT_EQ(levels(9).taps[1].weight, 0.75f);
  EXPECT_EQ(level_of_gradients(texture, {0.25f, 0, 0}, {0, 0.125f, 0}), 1);
}

TEST(TextureFootprint, LinearMemoryIsZeroOutside) {
  const Texture texture = texture_of(ImageShape::linear, 10, 1, 1);
  EXPECT_EQ(texel_footprint(texture, {9, 0, 0}, 0, 0).taps[0].source, Tap::Source::memory);
  EXPECT_EQ(texel_footprint(texture, {10, 0, 0}, 0, 0).taps[0].source, Tap::Source::zero);
  EXPECT_EQ(texel_footprint(texture, {-1, 0, 0}, 0, 0).taps[0].source, Tap::Source::zero);
}

// ---- Values of texels

template <class T>
Channels channels_of_values(TexelKind kind, bool normalized, std::vector<T> values) {
  Texture texture = texture_of(ImageShape::two, 1, 1, 1);
  texture.levels[0].format = {kind, static_cast<std::uint8_t>(values.size()), sizeof(T)};
  texture.normalized_floats = normalized;
  return channels_of(texture, reinterpret_cast<const std::byte*>(values.data()));
}

float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }

TEST(TexelValues, IntegersAreExtendedOrNormalized) {
  using Kind = TexelKind;
  EXPECT_EQ(channels_of_values<std::int8_t>(Kind::signed_integer, false, {-3, 4}),
            (Channels{0xfffffffdu, 4, 0, 1}));
  EXPECT_EQ(channels_of_values<std::uint16_t>(Kind::unsigned_integer, false, {65533}),
            (Channels{65533, 0, 0, 1}));
  const Channels bytes =
      channels_of_values<std::uint8_t>(Kind::unsigned_integer, true, {0, 255, 51, 1});
  EXPECT_EQ(as_float(bytes[1]), 1);
  EXPECT_EQ(as_float(bytes[2]), 51.0f / 255);
  const Channels shorts =
      channels_of_values<std::int16_t>(Kind::signed_integer, true, {-32768, -32767, 32767, 1});
  EXPECT_EQ(as_float(shorts[0]), -1);
  EXPECT_EQ(as_float(shorts[1]), -1);
  EXPECT_EQ(as_float(shorts[2]), 1);
  EXPECT_EQ(as_float(shorts[3]), 1.0f / 32767);
  EXPECT_EQ(channels_of_values<std::int32_t>(Kind::signed_integer, true, {-7})[0], 0xfffffff9u);
}

TEST(TexelValues, SrgbIsConvertedButForAlpha) {
  Texture texture = texture_of(ImageShape::two, 1, 1, 1);
  texture.levels[0].format = {TexelKind::unsigned_integer, 4, 1};
  texture.normalized_floats = texture.srgb = true;
  const std::array<std::byte, 4> texel{std::byte{10}, std::byte{188}, std::byte{255},
                                       std::byte{188}};
  const Channels channels = channels_of(texture, texel.data());
  EXPECT_NEAR(as_float(channels[0]), 0.003035, 1e-6);
  EXPECT_NEAR(as_float(channels[1]), 0.502886, 1e-5);
  EXPECT_EQ(as_float(channels[2]), 1);
  EXPECT_EQ(as_float(channels[3]), 188.0f / 255);
}

TEST(TexelValues, HalvesAreWidened) {
  const Channels halves = channels_of_values<std::uint16_t>(TexelKind::floating, false,
                                                            {0x3c00, 0xc000, 0x0001, 0x7c00});
  EXPECT_EQ(as_float(halves[0]), 1);
  EXPECT_EQ(as_float(halves[1]), -2);
  EXPECT_EQ(as_float(halves[2]), std::ldexp(1.0f, -24));
  EXPECT_TRUE(std::isinf(as_float(halves[3])));
  EXPECT_EQ(as_float(channels_of_values<float>(TexelKind::floating, false, {5})[3]), 1);
}

}  // namespace
}  // namespace halfgrad::emulator
