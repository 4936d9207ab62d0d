#pragma once

#include <cstdint>
#include <cstring>

#include <cublasLt.h>

namespace halfgrad::emulator {

// Contents of the opaque structs of cublasLt.h. `magic` tells an initialised struct from
// uninitialised memory.

struct Layout {
  std::uint32_t magic;
  std::int32_t type, order, batch_count;
  std::uint64_t rows, columns;
  std::int64_t leading, batch_stride;
};

struct MatmulDescription {
  std::uint32_t magic;
  std::int32_t compute, scale, pointer_mode, transpose_a, transpose_b, transpose_c, fill;
  std::uint32_t epilogue;
  std::int32_t bias_type, aux_type, multiprocessors;
  const void* bias;
  std::int64_t bias_stride;
  void* aux;
  std::int64_t aux_leading, aux_stride, alpha_stride;
  const void *scale_a, *scale_b, *scale_c, *scale_d, *scale_aux;
  void *largest_d, *largest_aux;
  std::int32_t scale_mode[5];
  std::int8_t fast_accumulation;
};

struct Preference {
  std::uint32_t magic, search_mode, reduction_schemes;
  std::uint32_t alignment[4];  ///< in bytes, of A, B, C and D
  float waves;
  std::uint64_t workspace, implementations;
};

struct TransformDescription {
  std::uint32_t magic;
  std::int32_t scale, pointer_mode, transpose_a, transpose_b;
};

/// An algorithm, with the problem that it was chosen for. For the same product with another
/// epilogue its use is defined if cublasLtMatmulAlgoCheck() has found that it works.
struct Algorithm {
  std::uint32_t magic;
  std::uint32_t alignment[4];
  std::uint32_t bias_alignment, aux_alignment, device;
  std::uint64_t problem, product, workspace;  ///< hash_of() both; `product` is without epilogue
};

inline constexpr std::uint32_t kLayoutMagic = 0x4c41594f, kMatmulMagic = 0x44455343,
                               kPreferenceMagic = 0x50524546, kTransformMagic = 0x5452414e,
                               kAlgorithmMagic = 0x414c474f;
/// Default of bias_type and aux_type: the type of D.
inline constexpr std::int32_t kTypeOfD = -1;

static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(MatmulDescription) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));
static_assert(sizeof(TransformDescription) <= sizeof(cublasLtMatrixTransformDescOpaque_t));
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

/// The struct that an opaque one holds, or nullptr if it was never initialised.
template <class T, class Opaque>
T* contents_of(Opaque* opaque, std::uint32_t magic) {
  T* contents = reinterpret_cast<T*>(opaque);
  return contents != nullptr && contents->magic == magic ? contents : nullptr;
}

/// A handle belongs to the device that was current when it was made.
struct LtHandle {
  std::uint32_t magic;
  int device;
};
inline constexpr std::uint32_t kHandleMagic = 0x48414e44;

}  // namespace halfgrad::emulator
