// Textures in the style of NVIDIA's samples: every address mode and filter, formats of 1, 2 and 4
// channels, 1-D to 3-D, layers, cubemaps, mipmaps, linear and pitched memory. The host computes
// each fetch by the formulas of the programming guide, "Texture Fetching".
#include "texture_reference.h"

template <class T>
__global__ void fetch_all(cudaTextureObject_t texture, int dimensions, const float4* at, T* out,
                          int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 p = at[i];
  if (dimensions == 1) out[i] = tex1D<T>(texture, p.x);
  if (dimensions == 2) out[i] = tex2D<T>(texture, p.x, p.y);
  if (dimensions == 3) out[i] = tex3D<T>(texture, p.x, p.y, p.z);
}

__global__ void fetch_layers(cudaTextureObject_t texture, int dimensions, const float4* at,
                             float4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 p = at[i];
  out[i] = dimensions == 1 ? tex1DLayered<float4>(texture, p.x, int(p.w))
                           : tex2DLayered<float4>(texture, p.x, p.y, int(p.w));
}

__global__ void fetch_cube(cudaTextureObject_t texture, const float4* at, float4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = texCubemap<float4>(texture, at[i].x, at[i].y, at[i].z);
}

__global__ void fetch_level(cudaTextureObject_t texture, const float4* at, float4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex2DLod<float4>(texture, at[i].x, at[i].y, at[i].w);
}

__global__ void gather_red(cudaTextureObject_t texture, const float4* at, float4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex2Dgather<float4>(texture, at[i].x, at[i].y, 0);
}

template <class T>
__global__ void fetch_linear(cudaTextureObject_t texture, T* out, int first, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1Dfetch<T>(texture, first + i);
}

// Runs a kernel for all points and returns the results.
template <class T, class Launch>
std::vector<T> results_at(const std::vector<float4>& points, Launch launch) {
  Buffer<float4> at(points);
  Buffer<T> out(points.size());
  launch(at.data, out.data, int(points.size()), int(points.size() + 63) / 64);
  SUCCEED(cudaGetLastError());
  return out.values();
}

void modes_and_filters(const Picture& picture, unsigned seed) {
  const Array array(picture, 0);
  for (const auto mode : kModes) {
    for (const bool linear : {false, true}) {
      for (const bool normalized : {false, true}) {
        const bool floats = picture.reads_floats();
        if (linear && !floats) continue;
        const Sampling sampling{mode, linear, normalized};
        const Texture texture(array.resource(), sampling, picture);
        const auto points = points_around(picture, normalized, seed);
        const std::string name = picture.name + describe(sampling);
        if (floats) {
          const auto got = results_at<float4>(points, [&](auto at, auto out, int n, int blocks) {
            fetch_all<<<blocks, 64>>>(texture.object, picture.dimensions(), at, out, n);
          });
          for (size_t i = 0; i < points.size(); ++i)
            verify(near(got[i], reference(picture, sampling, points[i])), name.c_str(), long(i));
        } else {
          const auto got = results_at<int4>(points, [&](auto at, auto out, int n, int blocks) {
            fetch_all<<<blocks, 64>>>(texture.object, picture.dimensions(), at, out, n);
          });
          for (size_t i = 0; i < points.size(); ++i)
            verify(same(got[i], reference(picture, sampling, points[i])), name.c_str(), long(i));
        }
      }
    }
  }
}

void layers() {
  for (const Picture& picture : {Picture::random<float4>("layered 1-D", 11, 0, 5),
                                 Picture::random<float4>("layered 2-D", 9, 6, 4)}) {
    const Array array(picture, cudaArrayLayered);
    const Sampling sampling{cudaAddressModeClamp, true, true};
    const Texture texture(array.resource(), sampling, picture);
    auto points = points_around(picture, true, 5);
    for (size_t i = 0; i < points.size(); ++i) points[i].w = float(i % (picture.depth + 1));
    const auto got = results_at<float4>(points, [&](auto at, auto out, int n, int blocks) {
      fetch_layers<<<blocks, 64>>>(texture.object, picture.height == 0 ? 1 : 2, at, out, n);
    });
    for (size_t i = 0; i < points.size(); ++i) {
      const int layer = std::min(int(points[i].w), picture.depth - 1);  // clamped
      verify(near(got[i], reference(picture.slice(layer), sampling, points[i])),
             picture.name.c_str(), long(i));
    }
  }
}

void cubemap() {
  const int size = 8;
  const Picture picture = Picture::random<float4>("cubemap", size, size, 6);
  const Array array(picture, cudaArrayCubemap);
  const Sampling sampling{cudaAddressModeClamp, true, true};
  const Texture texture(array.resource(), sampling, picture);
  std::vector<float4> points, on_face;
  for (int face = 0; face < 6; ++face) {
    for (int i = 0; i < 50; ++i) {
      // The point (u, v) of a face, and the vector to it from the middle of the cube.
      const float u = uniform(i * 6 + face, 1), v = uniform(i * 6 + face, 2);
      const float s = 2 * u - 1, t = 2 * v - 1;
      const float4 vectors[6] = {{1, -t, -s, 0}, {-1, -t, s, 0}, {s, 1, t, 0},
                                 {s, -1, -t, 0}, {s, -t, 1, 0},  {-s, -t, -1, 0}};
      const float length = 0.5f + float(i % 7);
      const float4 vector = vectors[face];
      points.push_back({vector.x * length, vector.y * length, vector.z * length, 0});
      on_face.push_back({u, v, 0, float(face)});
    }
  }
  const auto got = results_at<float4>(points, [&](auto at, auto out, int n, int blocks) {
    fetch_cube<<<blocks, 64>>>(texture.object, at, out, n);
  });
  for (size_t i = 0; i < points.size(); ++i) {
    // Vectors are rounded, so a weight may be 1/256 away.
    verify(near(got[i], reference(picture.slice(int(on_face[i].w)), sampling, on_face[i]), 0.01f),
           "cubemap", long(i));
  }
}

void mipmaps() {
  const int width = 16, height = 8, levels = 4;
  std::vector<Picture> pictures;
  cudaMipmappedArray_t array = nullptr;
  const auto format = cudaCreateChannelDesc<float4>();
  SUCCEED(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(width, height, 0), levels));
  for (int level = 0; level < levels; ++level) {
    pictures.push_back(Picture::random<float4>("level", width >> level, height >> level, 0));
    cudaArray_t one = nullptr;
    SUCCEED(cudaGetMipmappedArrayLevel(&one, array, level));
    pictures.back().copy_to(one);
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = array;
  for (const bool linear : {false, true}) {
    Sampling sampling{cudaAddressModeWrap, true, true};
    sampling.linear_mipmaps = linear;
    sampling.greatest_level = 2.5f;
    const Texture texture(resource, sampling, pictures[0]);
    auto points = points_around(pictures[0], true, 9);
    for (size_t i = 0; i < points.size(); ++i) points[i].w = float(i % 29) / 8 - 0.5f;
    const auto got = results_at<float4>(points, [&](auto at, auto out, int n, int blocks) {
      fetch_level<<<blocks, 64>>>(texture.object, at, out, n);
    });
    for (size_t i = 0; i < points.size(); ++i) {
      const float level = std::min(std::max(points[i].w, 0.0f), sampling.greatest_level);
      const int first = int(linear ? level : level + 0.5f);
      const float part = linear ? level - float(first) : 0;
      const int next = std::min(first + 1, levels - 1);
      const auto a = reference(pictures[first], sampling, points[i]);
      const auto b = reference(pictures[next], sampling, points[i]);
      Value both;
      for (int c = 0; c < 4; ++c) both[c] = a[c] * (1 - part) + b[c] * part;
      verify(near(got[i], both), linear ? "linear mipmaps" : "nearest mipmaps", long(i));
    }
  }
  SUCCEED(cudaFreeMipmappedArray(array));
}

void gathers() {
  const Picture picture = Picture::random<float>("gather", 10, 7, 0);
  const Array array(picture, cudaArrayTextureGather);
  const Texture texture(array.resource(), {cudaAddressModeClamp, false, false}, picture);
  std::vector<float4> points;
  for (int y = 1; y < 7; ++y)
    for (int x = 1; x < 10; ++x) points.push_back({float(x), float(y), 0, 0});
  const auto got = results_at<float4>(points, [&](auto at, auto out, int n, int blocks) {
    gather_red<<<blocks, 64>>>(texture.object, at, out, n);
  });
  for (size_t i = 0; i < points.size(); ++i) {
    const int x = int(points[i].x), y = int(points[i].y);
    const Value expected{picture.texel(x - 1, y, 0)[0], picture.texel(x, y, 0)[0],
                         picture.texel(x, y - 1, 0)[0], picture.texel(x - 1, y - 1, 0)[0]};
    verify(near(got[i], expected), "gather", long(i));
  }
}

void linear_and_pitched_memory() {
  std::vector<float> values(100);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i) + 0.25f;
  Buffer<float> memory(values), out(110);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory.data, cudaCreateChannelDesc<float>(),
                         values.size() * sizeof(float)};
  const Picture none = Picture::random<float>("linear", 100, 0, 0);
  {
    const Texture texture(resource, {cudaAddressModeClamp, false, false}, none);
    fetch_linear<<<2, 64>>>(texture.object, out.data, -5, 110);
    const auto got = out.values();
    for (int i = 0; i < 110; ++i)  // 0 outside
      verify(got[i] == (i < 5 || i >= 105 ? 0 : values[i - 5]), "linear memory", i);
  }
  const Picture picture = Picture::random<unsigned char>("pitched", 37, 11, 0, true);
  void* pitched = nullptr;
  size_t pitch = 0;
  SUCCEED(cudaMallocPitch(&pitched, &pitch, 37, 11));
  SUCCEED(cudaMemcpy2D(pitched, pitch, picture.bytes.data(), 37, 37, 11, cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {pitched, picture.format, 37, 11, pitch};
  const Sampling sampling{cudaAddressModeMirror, true, true};
  const Texture texture(resource, sampling, picture);
  const auto points = points_around(picture, true, 3);
  const auto got = results_at<float4>(points, [&](auto at, auto to, int n, int blocks) {
    fetch_all<<<blocks, 64>>>(texture.object, 2, at, to, n);
  });
  for (size_t i = 0; i < points.size(); ++i)
    verify(near(got[i], reference(picture, sampling, points[i])), "pitched memory", long(i));
  SUCCEED(cudaFree(pitched));
}

int main() {
  modes_and_filters(Picture::random<float>("float 1-D", 13, 0, 0), 1);
  modes_and_filters(Picture::random<float>("float 2-D", 13, 7, 0), 2);
  modes_and_filters(Picture::random<float2>("float2 2-D", 5, 9, 0), 3);
  modes_and_filters(Picture::random<float4>("float4 3-D", 6, 5, 4), 4);
  modes_and_filters(Picture::random_halves("half 2-D", 12, 5), 5);
  modes_and_filters(Picture::random<unsigned char>("uchar 2-D", 13, 7, 0, true), 6);
  modes_and_filters(Picture::random<char4>("char4 2-D", 8, 3, 0, true), 7);
  modes_and_filters(Picture::random<short2>("short2 3-D", 4, 6, 5, true), 8);
  modes_and_filters(Picture::random<ushort4>("ushort4 1-D", 17, 0, 0, true), 9);
  modes_and_filters(Picture::random<unsigned char>("uchar as integers", 13, 7, 0), 10);
  modes_and_filters(Picture::random<short2>("short2 as integers", 6, 7, 0), 11);
  modes_and_filters(Picture::random<int4>("int4 as integers", 7, 4, 0), 12);
  layers();
  cubemap();
  mipmaps();
  gathers();
  linear_and_pitched_memory();
  return exit_code();
}
