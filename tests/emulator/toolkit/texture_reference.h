// Pictures of every format, their CUDA arrays and texture objects, and what a fetch returns by the
// formulas of the programming guide. The helpers of textures.cu and surfaces.cu.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include <cuda_fp16.h>

#include "verify.h"

using Value = std::array<double, 4>;

constexpr cudaTextureAddressMode kModes[] = {cudaAddressModeWrap, cudaAddressModeClamp,
                                             cudaAddressModeMirror, cudaAddressModeBorder};
constexpr float kBorder[4] = {2, -3, 4, 5};

struct Sampling {
  cudaTextureAddressMode mode;
  bool linear, normalized;
  bool linear_mipmaps = false;
  float greatest_level = 0;
};

inline std::string describe(const Sampling& sampling) {
  const char* const modes[] = {" wrap", " clamp", " mirror", " border"};
  return std::string(modes[sampling.mode]) + (sampling.linear ? " linear" : " nearest") +
         (sampling.normalized ? " normalized" : "");
}

// A number in [0, 1) with 10 bits, so that products with small sizes are exact.
inline float uniform(unsigned i, unsigned seed) {
  unsigned x = (i + 1) * 2654435761u ^ seed * 2246822519u;
  x ^= x >> 15;
  x *= 2246822519u;
  return float((x ^ x >> 13) & 1023) / 1024;
}

struct Picture {
  std::string name;
  int width = 1, height = 0, depth = 0;  // 0: it lacks the dimension
  cudaChannelFormatDesc format{};
  bool normalized_floats = false;  // integers are read as [0, 1] or [-1, 1]
  std::vector<unsigned char> bytes;

  template <class T>
  static Picture random(const char* name, int width, int height, int depth,
                        bool normalized_floats = false) {
    Picture picture{name, width, height, depth, cudaCreateChannelDesc<T>(), normalized_floats, {}};
    picture.bytes.resize(picture.texels() * sizeof(T));
    if (picture.format.f != cudaChannelFormatKindFloat) {
      unsigned i = 0;
      for (unsigned char& byte : picture.bytes) byte = (unsigned char)(uniform(i++, 77) * 256);
      return picture;
    }
    for (size_t i = 0; i < picture.bytes.size() / sizeof(float); ++i) {
      const float value = uniform(unsigned(i), 78) * 8 - 4;
      std::memcpy(&picture.bytes[i * sizeof value], &value, sizeof value);
    }
    return picture;
  }
  static Picture random_halves(const char* name, int width, int height) {
    Picture picture{name, width, height, 0, cudaCreateChannelDescHalf(), false, {}};
    for (size_t i = 0; i < picture.texels(); ++i) {
      const __half value = __float2half(uniform(unsigned(i), 79) * 8 - 4);
      unsigned char two[2];
      std::memcpy(two, &value, 2);
      picture.bytes.insert(picture.bytes.end(), two, two + 2);
    }
    return picture;
  }

  size_t texels() const { return size_t(width) * std::max(height, 1) * std::max(depth, 1); }
  int dimensions() const { return depth != 0 ? 3 : height != 0 ? 2 : 1; }
  int channels() const {
    return (format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0);
  }
  bool reads_floats() const { return normalized_floats || format.f == cudaChannelFormatKindFloat; }
  Picture slice(int z) const {
    Picture one = *this;
    const size_t size = bytes.size() / depth;
    one.bytes.assign(bytes.begin() + z * size, bytes.begin() + (z + 1) * size);
    one.depth = 0;
    return one;
  }

  template <class T>
  double channel(size_t i) const {
    T value;
    std::memcpy(&value, &bytes[i * sizeof value], sizeof value);
    if constexpr (std::is_same_v<T, __half>) {
      return __half2float(value);
    } else {
      if (!normalized_floats) return double(value);
      return std::max(double(value) / double(T(~T(0)) < 0 ? (1ll << (8 * sizeof(T) - 1)) - 1
                                                          : (1ll << (8 * sizeof(T))) - 1),
                      -1.0);
    }
  }
  // Channels that the format lacks are 0, 0 and 1.
  Value texel(int x, int y, int z) const {
    Value result{0, 0, 0, 1};
    for (int c = 0; c < channels(); ++c) {
      const size_t i = ((size_t(z) * std::max(height, 1) + y) * width + x) * channels() + c;
      const bool is_signed = format.f == cudaChannelFormatKindSigned;
      if (format.f == cudaChannelFormatKindFloat) {
        if (format.x == 16) {
          result[c] = channel<__half>(i);
        } else {
          float value;
          std::memcpy(&value, &bytes[i * 4], 4);
          result[c] = value;
        }
      } else if (format.x == 8) {
        result[c] = is_signed ? channel<signed char>(i) : channel<unsigned char>(i);
      } else if (format.x == 16) {
        result[c] = is_signed ? channel<short>(i) : channel<unsigned short>(i);
      } else {
        result[c] = is_signed ? channel<int>(i) : channel<unsigned>(i);
      }
    }
    return result;
  }

  void copy_to(cudaArray_t array) const {
    cudaMemcpy3DParms copy{};
    const size_t element = bytes.size() / texels();
    copy.srcPtr =
        make_cudaPitchedPtr((void*)bytes.data(), width * element, width, std::max(height, 1));
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, std::max(height, 1), std::max(depth, 1));
    copy.kind = cudaMemcpyHostToDevice;
    SUCCEED(cudaMemcpy3D(&copy));
  }
};

struct Array {
  Array(const Picture& picture, unsigned flags) {
    const cudaExtent extent = make_cudaExtent(picture.width, picture.height, picture.depth);
    SUCCEED(cudaMalloc3DArray(&array, &picture.format, extent, flags));
    picture.copy_to(array);
  }
  ~Array() { cudaFreeArray(array); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  cudaResourceDesc resource() const {
    cudaResourceDesc result{};
    result.resType = cudaResourceTypeArray;
    result.res.array.array = array;
    return result;
  }
  cudaArray_t array = nullptr;
};

struct Texture {
  Texture(const cudaResourceDesc& resource, const Sampling& sampling, const Picture& picture) {
    cudaTextureDesc description{};
    for (auto& mode : description.addressMode) mode = sampling.mode;
    std::copy_n(kBorder, 4, description.borderColor);
    description.filterMode = sampling.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    description.mipmapFilterMode =
        sampling.linear_mipmaps ? cudaFilterModeLinear : cudaFilterModePoint;
    description.maxMipmapLevelClamp = sampling.greatest_level;
    description.normalizedCoords = sampling.normalized;
    description.readMode =
        picture.normalized_floats ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    SUCCEED(cudaCreateTextureObject(&object, &resource, &description, nullptr));
  }
  ~Texture() { cudaDestroyTextureObject(object); }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  cudaTextureObject_t object = 0;
};

template <class T>
struct Buffer {
  explicit Buffer(size_t count) : count(count) { SUCCEED(cudaMalloc(&data, count * sizeof(T))); }
  explicit Buffer(const std::vector<T>& from) : Buffer(from.size()) {
    SUCCEED(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::vector<T> values() const {
    std::vector<T> result(count);
    SUCCEED(cudaMemcpy(result.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
  }
  T* data = nullptr;
  size_t count;
};

// The index of a texel along an axis, or -1 for the border.
inline int fold(int i, int size, cudaTextureAddressMode mode) {
  if (mode == cudaAddressModeBorder) return i < 0 || i >= size ? -1 : i;
  if (mode == cudaAddressModeClamp) return std::min(std::max(i, 0), size - 1);
  while (i < 0 || i >= size) {
    if (mode == cudaAddressModeWrap)
      i += i < 0 ? size : -size;
    else
      i = i < 0 ? -1 - i : 2 * size - 1 - i;
  }
  return i;
}

// A fetch, one axis after the other: the axes before `axis` are in `index`.
inline Value along(const Picture& picture, const Sampling& sampling, const float (&at)[3], int axis,
                   int (&index)[3]) {
  if (axis == 3) {
    if (std::min({index[0], index[1], index[2]}) < 0) {
      return {kBorder[0], kBorder[1], kBorder[2], kBorder[3]};
    }
    return picture.texel(index[0], index[1], index[2]);
  }
  const int sizes[] = {picture.width, picture.height, picture.depth}, size = sizes[axis];
  if (axis >= picture.dimensions()) {
    index[axis] = 0;
    return along(picture, sampling, at, axis + 1, index);
  }
  const bool repeats =
      sampling.mode == cudaAddressModeWrap || sampling.mode == cudaAddressModeMirror;
  const auto mode = repeats && !sampling.normalized ? cudaAddressModeClamp : sampling.mode;
  const double whole = std::floor(at[axis]);
  const bool flips = mode == cudaAddressModeMirror && std::fmod(whole, 2) != 0;
  const double folded = flips ? whole + 1 - at[axis] : at[axis];  // frac(x) becomes 1 - frac(x)
  const double x = sampling.normalized ? folded * size : at[axis];
  const double base = sampling.linear ? x - 0.5 : x;
  const int i = int(std::floor(base));
  index[axis] = fold(i, size, mode);
  const Value a = along(picture, sampling, at, axis + 1, index);
  if (!sampling.linear) return a;
  const double weight = std::floor((base - i) * 256 + 0.5) / 256;  // 8 bits of fraction
  index[axis] = fold(i + 1, size, mode);
  const Value b = along(picture, sampling, at, axis + 1, index);
  Value sum;
  for (int c = 0; c < 4; ++c) sum[c] = (1 - weight) * a[c] + weight * b[c];
  return sum;
}

inline Value reference(const Picture& picture, const Sampling& sampling, const float4& point) {
  const float at[3] = {point.x, point.y, point.z};
  int index[3];
  return along(picture, sampling, at, 0, index);
}

// Points inside and around the picture, in texels or normalized.
inline std::vector<float4> points_around(const Picture& picture, bool normalized, unsigned seed) {
  std::vector<float4> points;
  for (unsigned i = 0; i < 200; ++i) {
    const auto one = [&](int size, unsigned axis) {
      const float x = uniform(i, seed * 4 + axis) * 4 - 1.5f;
      return normalized ? x : x * float(std::max(size, 1));
    };
    points.push_back({one(picture.width, 0), one(picture.height, 1), one(picture.depth, 2), 0});
  }
  return points;
}

inline bool near(const float4& got, const Value& expected, double tolerance = 1e-5) {
  const float values[] = {got.x, got.y, got.z, got.w};
  for (int c = 0; c < 4; ++c) {
    if (!(std::fabs(values[c] - expected[c]) <=
          tolerance * std::max(1.0, std::fabs(expected[c])))) {
      return false;
    }
  }
  return true;
}

inline bool same(const int4& got, const Value& expected) {
  return got.x == expected[0] && got.y == expected[1] && got.z == expected[2] &&
         got.w == expected[3];
}
