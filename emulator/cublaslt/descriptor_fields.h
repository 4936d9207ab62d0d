#pragma once

#include <cstddef>
#include <span>

#include <cublasLt.h>

#include <halfgrad/emulator/cublaslt/descriptors.h>

namespace halfgrad::emulator {

/// The bytes of one attribute.
using Field = std::span<std::byte>;

// The member that holds an attribute, or no bytes if the emulator does not know the attribute.
Field field_of(Layout& layout, cublasLtMatrixLayoutAttribute_t attribute);
Field field_of(MatmulDescription& matmul, cublasLtMatmulDescAttributes_t attribute);
Field field_of(Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute);
Field field_of(TransformDescription& transform, cublasLtMatrixTransformDescAttributes_t attribute);

}  // namespace halfgrad::emulator
