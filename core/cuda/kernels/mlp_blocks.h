#pragma once

#include <cstdint>

#include <halfgrad/core/cuda/kernels/mlp.h>
#include <halfgrad/core/cuda/kernels/mlp_fragments.h>

/// The steps of an MLP's kernels between two products of a warp's 16 rows: sums are rounded to
/// blocks of the next operand, with a bias, an activation or a mask; blocks go to shared memory and
/// back.
namespace halfgrad::detail {

/// Rounds 16 x 16 sums, after adding the bias of their columns, to a block of the next operand.
template <class T>
__device__ Fragment add_bias(const float (&sums)[2][4], const float* bias) {
  const int column = static_cast<int>(threadIdx.x) % 4 * 2;
  Fragment f;
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const float* const pair = &sums[part / 2][part % 2 * 2];
    const float* const b = bias + part / 2 * 8 + column;
    f.part[part] = PairOf<T>::narrow(pair[0] + b[0], pair[1] + b[1]);
  }
  return f;
}

/// Bit p of each half of the result is set where `f.part[p]` passes gradients through relu: y > 0,
/// or NaN. Four blocks' bits fit into one value, each shifted by 4 more.
template <class T>
__device__ std::uint32_t bits_of_relu(const Fragment& f) {
  std::uint32_t bits = 0;
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    bits |= PairOf<T>::passes(f.part[part]) & (0x00010001U << part);
  }
  return bits;
}

/// Replaces z by f(z).
template <class T, class F>
__device__ void activate(Fragment& z, MlpActivation activation) {
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    z.part[part] = F::template value<T>(activation, z.part[part]);
  }
}

/// Sets rows to 0 from `valid` on: a row outside the batch must add nothing, not 0 * inf, to dW.
template <int kBlocks>
__device__ void clear_rows(Fragment (&rows)[kBlocks], int valid) {
  if (valid == kBlock) return;
  const int row = static_cast<int>(threadIdx.x) % 32 / 4;
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      if (row + part % 2 * 8 >= valid) rows[j].part[part] = 0;
    }
  }
}

/// Rounds sums to a block of the operand.
template <class T>
__device__ Fragment rounded(const float (&sums)[2][4]) {
  Fragment f;
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const float* const pair = &sums[part / 2][part % 2 * 2];
    f.part[part] = PairOf<T>::narrow(pair[0], pair[1]);
  }
  return f;
}

/// Does the same, with 0 where a bit of bits_of_relu() is not set.
template <class T>
__device__ Fragment mask(const float (&sums)[2][4], std::uint32_t bits) {
  Fragment f = rounded<T>(sums);
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    f.part[part] &= (bits >> part & 0x00010001U) * 0xffffU;
  }
  return f;
}

/// Stores a warp's rows as whole blocks in a tile.
template <class T, int kWidth>
__device__ void store_fragments(T* tile, const Fragment (&rows)[kWidth / kBlock], int blocks) {
  constexpr int kStride = kWidth + kPad;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int j = 0; j < kWidth / kBlock; ++j) {
    if (j >= blocks) continue;
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int row = lane / 4 + part % 2 * 8, column = j * kBlock + part / 2 * 8 + lane % 4 * 2;
      *reinterpret_cast<std::uint32_t*>(tile + row * kStride + column) = rows[j].part[part];
    }
  }
}

template <class T, int kWidth>
__device__ void load_fragments(Fragment (&rows)[kWidth / kBlock], const T* tile, int blocks) {
#pragma unroll
  for (int j = 0; j < kWidth / kBlock; ++j) {
    if (j < blocks) rows[j] = load_a(tile + j * kBlock, kWidth + kPad);
  }
}

}  // namespace halfgrad::detail
