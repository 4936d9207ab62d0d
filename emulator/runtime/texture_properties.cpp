#include <halfgrad/emulator/runtime/texture_properties.h>

#include <algorithm>

#include <halfgrad/emulator/runtime/texture_limits.h>

namespace halfgrad::emulator {

using Limits = TextureLimits;

void add_texture_properties(cudaDeviceProp& p) {
  p.textureAlignment = p.surfaceAlignment = Limits::alignment;
  p.texturePitchAlignment = Limits::pitch_alignment;
  p.maxTexture1D = Limits::texture_1d;
  p.maxTexture1DMipmap = Limits::texture_1d_mipmapped;
  std::copy_n(Limits::texture_2d, 2, p.maxTexture2D);
  std::copy_n(Limits::texture_2d_mipmapped, 2, p.maxTexture2DMipmap);
  std::copy_n(Limits::texture_2d_linear, 3, p.maxTexture2DLinear);
  std::copy_n(Limits::texture_2d_gather, 2, p.maxTexture2DGather);
  std::fill_n(p.maxTexture3D, 3, Limits::texture_3d);
  std::copy_n(Limits::texture_3d_alternate, 3, p.maxTexture3DAlt);
  p.maxTextureCubemap = p.maxSurfaceCubemap = Limits::layered;
  for (int* layered : {p.maxTexture1DLayered, p.maxSurface1DLayered}) {
    layered[0] = Limits::layered;
    layered[1] = Limits::layers;
  }
  for (int* layered : {p.maxTexture2DLayered, p.maxSurface2DLayered}) {
    layered[0] = layered[1] = Limits::layered;
    layered[2] = Limits::layers;
  }
  for (int* layered : {p.maxTextureCubemapLayered, p.maxSurfaceCubemapLayered}) {
    layered[0] = Limits::layered;
    layered[1] = Limits::cube_layers;
  }
  p.maxSurface1D = Limits::surface_1d;
  std::copy_n(Limits::surface_2d, 2, p.maxSurface2D);
  std::fill_n(p.maxSurface3D, 3, Limits::surface_3d);
}

void add_texture_attributes(std::map<int, int>& attributes) {
  attributes.insert({
      {cudaDevAttrTextureAlignment, Limits::alignment},
      {cudaDevAttrTexturePitchAlignment, Limits::pitch_alignment},
      {cudaDevAttrSurfaceAlignment, Limits::alignment},
      {cudaDevAttrMaxTexture1DWidth, Limits::texture_1d},
      {cudaDevAttrMaxTexture1DLinearWidth, Limits::texture_1d_linear},
      {cudaDevAttrMaxTexture1DMipmappedWidth, Limits::texture_1d_mipmapped},
      {cudaDevAttrMaxTexture2DWidth, Limits::texture_2d[0]},
      {cudaDevAttrMaxTexture2DHeight, Limits::texture_2d[1]},
      {cudaDevAttrMaxTexture2DLinearWidth, Limits::texture_2d_linear[0]},
      {cudaDevAttrMaxTexture2DLinearHeight, Limits::texture_2d_linear[1]},
      {cudaDevAttrMaxTexture2DLinearPitch, Limits::texture_2d_linear[2]},
      {cudaDevAttrMaxTexture2DGatherWidth, Limits::texture_2d_gather[0]},
      {cudaDevAttrMaxTexture2DGatherHeight, Limits::texture_2d_gather[1]},
      {cudaDevAttrMaxTexture2DMipmappedWidth, Limits::texture_2d_mipmapped[0]},
      {cudaDevAttrMaxTexture2DMipmappedHeight, Limits::texture_2d_mipmapped[1]},
      {cudaDevAttrMaxTexture3DWidth, Limits::texture_3d},
      {cudaDevAttrMaxTexture3DHeight, Limits::texture_3d},
      {cudaDevAttrMaxTexture3DDepth, Limits::texture_3d},
      {cudaDevAttrMaxTexture3DWidthAlt, Limits::texture_3d_alternate[0]},
      {cudaDevAttrMaxTexture3DHeightAlt, Limits::texture_3d_alternate[1]},
      {cudaDevAttrMaxTexture3DDepthAlt, Limits::texture_3d_alternate[2]},
      {cudaDevAttrMaxTexture1DLayeredWidth, Limits::layered},
      {cudaDevAttrMaxTexture1DLayeredLayers, Limits::layers},
      {cudaDevAttrMaxTexture2DLayeredWidth, Limits::layered},
      {cudaDevAttrMaxTexture2DLayeredHeight, Limits::layered},
      {cudaDevAttrMaxTexture2DLayeredLayers, Limits::layers},
      {cudaDevAttrMaxTextureCubemapWidth, Limits::layered},
      {cudaDevAttrMaxTextureCubemapLayeredWidth, Limits::layered},
      {cudaDevAttrMaxTextureCubemapLayeredLayers, Limits::cube_layers},
      {cudaDevAttrMaxSurface1DWidth, Limits::surface_1d},
      {cudaDevAttrMaxSurface2DWidth, Limits::surface_2d[0]},
      {cudaDevAttrMaxSurface2DHeight, Limits::surface_2d[1]},
      {cudaDevAttrMaxSurface3DWidth, Limits::surface_3d},
      {cudaDevAttrMaxSurface3DHeight, Limits::surface_3d},
      {cudaDevAttrMaxSurface3DDepth, Limits::surface_3d},
      {cudaDevAttrMaxSurface1DLayeredWidth, Limits::layered},
      {cudaDevAttrMaxSurface1DLayeredLayers, Limits::layers},
      {cudaDevAttrMaxSurface2DLayeredWidth, Limits::layered},
      {cudaDevAttrMaxSurface2DLayeredHeight, Limits::layered},
      {cudaDevAttrMaxSurface2DLayeredLayers, Limits::layers},
      {cudaDevAttrMaxSurfaceCubemapWidth, Limits::layered},
      {cudaDevAttrMaxSurfaceCubemapLayeredWidth, Limits::layered},
      {cudaDevAttrMaxSurfaceCubemapLayeredLayers, Limits::cube_layers},
  });
}

}  // namespace halfgrad::emulator
