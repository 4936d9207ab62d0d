// tex, tld4 (PTX ISA, "Texture Instructions"): what they do. texture_decoding.cpp reads their
// forms.
#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/memory/texture_footprint.h>
#include <halfgrad/emulator/ptx/instructions/texture_fetch.h>
#include <halfgrad/emulator/ptx/instructions/texture_operands.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

/// Coordinates of one lane, from the instruction's list: results, layer, coordinates, then the
/// level or two gradients.
class LaneOperands {
 public:
  LaneOperands(const Execution& execution, const Instruction& instruction, unsigned lane)
      : execution_(execution), instruction_(instruction), lane_(lane) {}

  std::uint32_t bits(unsigned i) const {
    return execution_.lanes<std::uint32_t>(instruction_.list[kTextureResults + i])[lane_];
  }
  template <class T>
  std::array<T, 3> values(unsigned first, unsigned count) const {
    std::array<T, 3> result{};
    for (unsigned i = 0; i < count; ++i) result[i] = std::bit_cast<T>(bits(first + i));
    return result;
  }

 private:
  const Execution& execution_;
  const Instruction& instruction_;
  unsigned lane_;
};

Footprint footprint_of_lane(const Texture& texture, const TextureOptions& options,
                            const LaneOperands& operands) {
  const unsigned count = coordinates_of(options.geometry);
  const unsigned first = has_layer(options.geometry) ? 1 : 0;
  const std::uint32_t layer = first != 0 ? operands.bits(0) : 0;
  if (options.integer_coordinates) {
    const bool level = options.detail == Detail::level;
    return texel_footprint(texture, operands.values<std::int32_t>(first, count), layer,
                           level ? static_cast<std::int32_t>(operands.bits(first + count)) : 0);
  }
  TexturePlace place{operands.values<float>(first, count), layer};
  if (options.gathers) return gather_footprint(texture, place);
  if (options.detail == Detail::level) {
    place.level = std::bit_cast<float>(operands.bits(first + count));
  } else if (options.detail == Detail::gradients) {
    const unsigned dx = first + count, size = options.gradient_size;
    place.level = level_of_gradients(texture, operands.values<float>(dx, size),
                                     operands.values<float>(dx + size, size));
  }
  return footprint_of(texture, place);
}

/// Reads tap `i` of every lane that has one, and passes f(lane, tap, channels).
template <class F>
void read_taps(Execution& execution, const Instruction& instruction, const Texture& texture,
               const std::array<Footprint, kWarpSize>& footprints, unsigned i, F f) {
  const unsigned bytes = texture.image().format.bytes();
  Execution readers = execution;
  readers.mask = 0;
  LaneAddresses addresses{};
  each_lane(execution.mask, [&](unsigned lane) {
    const Footprint& footprint = footprints[lane];
    if (i >= footprint.count) return;
    const Tap& tap = footprint.taps[i];
    if (tap.source != Tap::Source::memory) {
      f(lane, tap, tap.source == Tap::Source::border ? border_channels(texture) : Channels{});
      return;
    }
    readers.mask |= LaneMask{1} << lane;
    addresses[lane] = texture.levels[tap.level].address_of(tap.x, tap.y, tap.slice);
  });
  if (readers.mask == 0) return;
  const Access access{.space = Space::global,
                      .kind = AccessKind::load,
                      .bytes = static_cast<std::uint8_t>(bytes),
                      .alignment = texture.image().format.channel_bytes,
                      .path = AccessPath::texture};
  const HostPointers pointers = resolve(readers, instruction, access, addresses);
  each_lane(readers.mask, [&](unsigned lane) {
    f(lane, footprints[lane].taps[i], channels_of(texture, pointers.lane[lane]));
  });
}

void check_shape(Execution& execution, const Instruction& instruction, const Texture& texture) {
  const auto& options = instruction.options<TextureOptions>();
  ImageShape expected = texture.image().shape;
  if (expected == ImageShape::linear && options.integer_coordinates) expected = ImageShape::one;
  if (expected == options.geometry) return;
  abort_kernel(execution, instruction, first_lane(execution.mask), FindingKind::invalid_call,
               std::string("a fetch for ") + name_of(options.geometry) +
                   " textures reads a texture of kind: " + name_of(texture.image().shape));
}

/// A GPU returns the bits as they are, which is seldom meant.
void check_result_type(Execution& execution, const Instruction& instruction,
                       const Texture& texture) {
  const bool wanted = instruction.options<TextureOptions>().float_result;
  if (wanted == texture.returns_floats()) return;
  report(execution, instruction, first_lane(execution.mask), FindingKind::invalid_call,
         wanted ? "a fetch of floats reads a texture of integers, so it returns their bits"
                : "a fetch of integers reads a texture of floats, so it returns their bits",
         texture.image().address, "", Severity::note);
}

void check_gather(Execution& execution, const Instruction& instruction, const Texture& texture) {
  if (texture.allows_gather) return;
  report(execution, instruction, first_lane(execution.mask), FindingKind::invalid_call,
         "a gather reads a CUDA array that was made without cudaArrayTextureGather",
         texture.image().address);
}

using Results = std::array<Channels, kWarpSize>;

void gather(Execution& execution, const Instruction& instruction, const Texture& texture,
            const std::array<Footprint, kWarpSize>& footprints, Results& results) {
  const unsigned component = instruction.options<TextureOptions>().component;
  for (unsigned i = 0; i < 4; ++i) {
    read_taps(execution, instruction, texture, footprints, i,
              [&](unsigned lane, const Tap&, const Channels& channels) {
                results[lane][i] = channels[component];
              });
  }
}

/// The weighted sum of the texels; one texel keeps its bits.
void filter(Execution& execution, const Instruction& instruction, const Texture& texture,
            const std::array<Footprint, kWarpSize>& footprints, Results& results) {
  unsigned most = 0;
  each_lane(execution.mask, [&](unsigned lane) { most = std::max(most, footprints[lane].count); });
  std::array<std::array<double, 4>, kWarpSize> sums{};
  for (unsigned i = 0; i < most; ++i) {
    read_taps(execution, instruction, texture, footprints, i,
              [&](unsigned lane, const Tap& tap, const Channels& channels) {
                if (footprints[lane].count == 1) {
                  results[lane] = channels;
                  return;
                }
                for (unsigned c = 0; c < 4; ++c) {
                  sums[lane][c] += double{tap.weight} * std::bit_cast<float>(channels[c]);
                  results[lane][c] =
                      std::bit_cast<std::uint32_t>(static_cast<float>(sums[lane][c]));
                }
              });
  }
}

void fetch_texture(Execution& execution, const Instruction& instruction, const Texture& texture) {
  const auto& options = instruction.options<TextureOptions>();
  check_shape(execution, instruction, texture);
  check_result_type(execution, instruction, texture);
  std::array<Footprint, kWarpSize> footprints;
  each_lane(execution.mask, [&](unsigned lane) {
    footprints[lane] =
        footprint_of_lane(texture, options, LaneOperands(execution, instruction, lane));
  });
  Results results;
  if (options.gathers) {
    check_gather(execution, instruction, texture);
    gather(execution, instruction, texture, footprints, results);
  } else {
    filter(execution, instruction, texture, footprints, results);
  }
  for (unsigned c = 0; c < kTextureResults; ++c) {
    auto* registers = execution.lanes<std::uint32_t>(instruction.list[c]);
    each_lane(execution.mask, [&](unsigned lane) { registers[lane] = results[lane][c]; });
  }
  if (options.tells_residency) execution.predicate(instruction.operands[0]) |= execution.mask;
}

}  // namespace

void fetch_textures(Execution& execution, const Instruction& instruction) {
  each_object(execution, instruction, false, [&](Execution& part, const TextureObject& object) {
    fetch_texture(part, instruction, object.texture);
  });
}

}  // namespace halfgrad::emulator
