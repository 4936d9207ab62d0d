#include <halfgrad/emulator/runtime/texture_resources.h>

#include <cmath>
#include <string>

#include <halfgrad/emulator/runtime/arrays.h>
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/texture_limits.h>

namespace halfgrad::emulator {
namespace {

using Limits = TextureLimits;

cudaError_t wrong(const char* function, const std::string& why,
                  cudaError_t error = cudaErrorInvalidValue) {
  report_call(FindingKind::invalid_call, function, why, Severity::note);
  return error;
}

bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer) % Limits::alignment == 0;
}

cudaError_t linear_image(const char* function, const cudaResourceDesc& resource, Image& image) {
  const auto& linear = resource.res.linear;
  if (const cudaError_t error = texel_format(function, linear.desc, image.format)) return error;
  const std::size_t width = linear.sizeInBytes / image.format.bytes();
  if (linear.devPtr == nullptr || width == 0) return wrong(function, "the resource is empty");
  if (!is_aligned(linear.devPtr)) {
    return wrong(function, "devPtr must be aligned to textureAlignment, 512 bytes");
  }
  if (width > static_cast<std::size_t>(Limits::texture_1d_linear)) {
    return wrong(function, "linear memory of more than 2^28 elements");
  }
  image.shape = ImageShape::linear;
  image.address = reinterpret_cast<std::uint64_t>(linear.devPtr);
  image.width = static_cast<std::uint32_t>(width);
  return cudaSuccess;
}

cudaError_t pitched_image(const char* function, const cudaResourceDesc& resource, Image& image) {
  const auto& pitched = resource.res.pitch2D;
  if (const cudaError_t error = texel_format(function, pitched.desc, image.format)) return error;
  if (pitched.devPtr == nullptr || pitched.width == 0 || pitched.height == 0) {
    return wrong(function, "the resource is empty");
  }
  if (!is_aligned(pitched.devPtr)) {
    return wrong(function, "devPtr must be aligned to textureAlignment, 512 bytes");
  }
  if (pitched.pitchInBytes % Limits::pitch_alignment != 0 ||
      pitched.pitchInBytes < pitched.width * image.format.bytes()) {
    return wrong(function,
                 "pitchInBytes must hold a row and be a multiple of texturePitchAlignment, 32");
  }
  const auto exceeds = [](std::size_t size, int limit) {
    return size > static_cast<std::size_t>(limit);
  };
  const auto& limits = Limits::texture_2d_linear;
  if (exceeds(pitched.width, limits[0]) || exceeds(pitched.height, limits[1]) ||
      exceeds(pitched.pitchInBytes, limits[2])) {
    return wrong(function, "the size exceeds maxTexture2DLinear");
  }
  image.shape = ImageShape::two;
  image.address = reinterpret_cast<std::uint64_t>(pitched.devPtr);
  image.width = static_cast<std::uint32_t>(pitched.width);
  image.height = static_cast<std::uint32_t>(pitched.height);
  image.row_pitch = pitched.pitchInBytes;
  return cudaSuccess;
}

cudaError_t array_image(const char* function, cudaArray_const_t handle, Image& image,
                        unsigned& flags) {
  const CudaArray* array = find_array(function, handle);
  if (array == nullptr) return cudaErrorInvalidValue;
  image = array->image;
  flags = array->flags;
  return cudaSuccess;
}

cudaError_t mode_of(const char* function, cudaTextureAddressMode mode, AddressMode& result) {
  switch (mode) {
    case cudaAddressModeWrap:
      result = AddressMode::wrap;
      return cudaSuccess;
    case cudaAddressModeClamp:
      result = AddressMode::clamp;
      return cudaSuccess;
    case cudaAddressModeMirror:
      result = AddressMode::mirror;
      return cudaSuccess;
    case cudaAddressModeBorder:
      result = AddressMode::border;
      return cudaSuccess;
  }
  return wrong(function, "address mode " + std::to_string(mode) + " is none");
}

/// Features that would change results, and that the emulator lacks.
cudaError_t refuse_unknown(const char* function, const cudaTextureDesc& description,
                           const Texture& texture) {
  const auto refuse = [&](const char* what) {
    return wrong(function, std::string(what) + " is not implemented by the emulator",
                 cudaErrorNotSupported);
  };
  const TexelFormat& format = texture.image().format;
  const bool bytes = format.kind == TexelKind::unsigned_integer && format.channel_bytes == 1;
  if (description.sRGB != 0 && !(bytes && texture.normalized_floats)) {
    return refuse("sRGB conversion of other formats than normalized unsigned bytes");
  }
  if (description.seamlessCubemap != 0 && is_cube(texture.image().shape)) {
    return refuse("seamless filtering of cubemaps");
  }
  const bool mipmapped = texture.levels.size() > 1;
  if (mipmapped && description.maxAnisotropy > 1) return refuse("anisotropic filtering");
  if (mipmapped && description.normalizedCoords == 0) {
    return refuse("a mipmapped texture without normalized coordinates");
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t levels_of_resource(const char* function, const cudaResourceDesc& resource,
                               std::vector<Image>& levels, unsigned& array_flags) {
  levels.assign(1, Image());
  array_flags = 0;
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return array_image(function, resource.res.array.array, levels[0], array_flags);
    case cudaResourceTypeMipmappedArray: {
      const MipmappedArray* mipmapped = find_mipmapped(function, resource.res.mipmap.mipmap);
      if (mipmapped == nullptr) return cudaErrorInvalidValue;
      levels.resize(mipmapped->levels.size());
      for (std::size_t i = 0; i < levels.size(); ++i) {
        const cudaError_t error =
            array_image(function, mipmapped->levels[i], levels[i], array_flags);
        if (error != cudaSuccess) return error;
      }
      return cudaSuccess;
    }
    case cudaResourceTypeLinear:
      return linear_image(function, resource, levels[0]);
    case cudaResourceTypePitch2D:
      return pitched_image(function, resource, levels[0]);
  }
  return wrong(function, "resource type " + std::to_string(resource.resType) + " is none");
}

cudaError_t describe_sampling(const char* function, const cudaTextureDesc& description,
                              Texture& texture) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    const cudaError_t error =
        mode_of(function, description.addressMode[axis], texture.address_modes[axis]);
    if (error != cudaSuccess) return error;
    texture.border[axis] = description.borderColor[axis];
  }
  texture.border[3] = description.borderColor[3];
  texture.normalized_coordinates = description.normalizedCoords != 0;
  texture.normalized_floats = description.readMode == cudaReadModeNormalizedFloat;
  texture.srgb = description.sRGB != 0;
  texture.linear_mipmaps = description.mipmapFilterMode == cudaFilterModeLinear;
  texture.level_bias = description.mipmapLevelBias;
  texture.least_level = description.minMipmapLevelClamp;
  texture.greatest_level = description.maxMipmapLevelClamp;
  const Image& image = texture.image();
  if (const cudaError_t error = refuse_unknown(function, description, texture)) return error;
  const bool wide = image.format.kind != TexelKind::floating && image.format.channel_bytes == 4;
  if (texture.normalized_floats && wide) {
    return wrong(function, "integers of 32 bits cannot be read as normalized floats",
                 cudaErrorInvalidNormSetting);
  }
  const bool linear = description.filterMode == cudaFilterModeLinear;
  if (image.shape == ImageShape::linear) return cudaSuccess;  // it is never filtered
  if (linear && !texture.returns_floats()) {
    return wrong(function, "a linear filter needs floats, or cudaReadModeNormalizedFloat",
                 cudaErrorInvalidFilterSetting);
  }
  texture.linear_filter = linear;
  return cudaSuccess;
}

}  // namespace halfgrad::emulator
