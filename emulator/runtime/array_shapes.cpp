#include <halfgrad/emulator/runtime/array_shapes.h>

#include <algorithm>
#include <bit>
#include <string>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/texture_limits.h>

namespace halfgrad::emulator {
namespace {

using Limits = TextureLimits;

bool within(const cudaExtent& extent, int width, int height, int depth) {
  const auto fits = [](std::size_t size, int limit) {
    return size <= static_cast<std::size_t>(limit);
  };
  return fits(extent.width, width) && fits(extent.height, height) && fits(extent.depth, depth);
}

cudaError_t wrong(const char* function, const char* why) {
  report_call(FindingKind::invalid_call, function, why, Severity::note);
  return cudaErrorInvalidValue;
}

bool is_within_limits(ImageShape shape, const cudaExtent& extent, unsigned flags) {
  const bool surface = (flags & cudaArraySurfaceLoadStore) != 0;
  const bool gather = (flags & cudaArrayTextureGather) != 0;
  switch (shape) {
    case ImageShape::one:
      return within(extent, surface ? Limits::surface_1d : Limits::texture_1d, 0, 0);
    case ImageShape::two:
      return gather ? within(extent, Limits::texture_2d_gather[0], Limits::texture_2d_gather[1], 0)
                    : within(extent, Limits::texture_2d[0], Limits::texture_2d[1], 0);
    case ImageShape::three: {
      const auto& other = Limits::texture_3d_alternate;
      return within(extent, Limits::texture_3d, Limits::texture_3d, Limits::texture_3d) ||
             (!surface && within(extent, other[0], other[1], other[2]));
    }
    case ImageShape::cube:
      return within(extent, Limits::layered, Limits::layered, 6);
    case ImageShape::layered_cube:
      return within(extent, Limits::layered, Limits::layered, Limits::cube_layers);
    default:
      return within(extent, Limits::layered, Limits::layered, Limits::layers);
  }
}

/// The shape that flags and zeros of the extent choose ("cudaMalloc3DArray" of the CUDA runtime's
/// manual).
cudaError_t choose_shape(const char* function, const cudaExtent& extent, unsigned flags,
                         ImageShape& shape) {
  const bool layered = (flags & cudaArrayLayered) != 0, cube = (flags & cudaArrayCubemap) != 0;
  if (extent.width == 0) return wrong(function, "the width is 0");
  if (cube) {
    shape = layered ? ImageShape::layered_cube : ImageShape::cube;
    const bool faces = layered ? extent.depth != 0 && extent.depth % 6 == 0 : extent.depth == 6;
    return extent.width == extent.height && faces
               ? cudaSuccess
               : wrong(function, "a cubemap needs a square extent and six faces for each layer");
  }
  if (layered) {
    shape = extent.height == 0 ? ImageShape::layered_one : ImageShape::layered_two;
    return extent.depth == 0 ? wrong(function, "a layered array needs its layers as the depth")
                             : cudaSuccess;
  }
  if (extent.height == 0 && extent.depth != 0) {
    return wrong(function, "a depth needs a height, or cudaArrayLayered");
  }
  shape = extent.depth != 0    ? ImageShape::three
          : extent.height != 0 ? ImageShape::two
                               : ImageShape::one;
  return cudaSuccess;
}

}  // namespace

cudaError_t shape_image(const char* function, const cudaExtent& extent, unsigned flags,
                        Image& image) {
  constexpr unsigned known = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                             cudaArrayTextureGather | cudaArrayColorAttachment;
  if ((flags & ~known) != 0) return wrong(function, "sparse and deferred arrays are not emulated");
  if (const cudaError_t error = choose_shape(function, extent, flags, image.shape)) return error;
  if ((flags & cudaArrayTextureGather) != 0 && image.shape != ImageShape::two) {
    return wrong(function, "cudaArrayTextureGather needs a 2-D array");
  }
  if (!is_within_limits(image.shape, extent, flags)) {
    return wrong(function, "the extent exceeds the limits of the device");
  }
  image.width = static_cast<std::uint32_t>(extent.width);
  image.height = static_cast<std::uint32_t>(std::max<std::size_t>(extent.height, 1));
  image.slices = static_cast<std::uint32_t>(std::max<std::size_t>(extent.depth, 1));
  image.row_pitch = image.row_bytes();
  image.slice_pitch = image.row_pitch * image.height;
  return cudaSuccess;
}

cudaExtent level_extent(const cudaExtent& extent, unsigned flags, unsigned level) {
  const auto shrunk = [level](std::size_t size) {
    return size == 0 ? 0 : std::max<std::size_t>(size >> level, 1);
  };
  const bool has_layers = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
  return {shrunk(extent.width), shrunk(extent.height),
          has_layers ? extent.depth : shrunk(extent.depth)};
}

unsigned most_levels(const cudaExtent& extent, unsigned flags) {
  const bool has_layers = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
  const std::size_t largest =
      std::max({extent.width, extent.height, has_layers ? 0 : extent.depth});
  return static_cast<unsigned>(std::bit_width(largest));
}

}  // namespace halfgrad::emulator
