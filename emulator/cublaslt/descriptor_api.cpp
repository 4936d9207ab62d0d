// cublasLtMatrixLayout..., cublasLtMatmulDesc..., cublasLtMatmulPreference... and
// cublasLtMatrixTransformDesc...: create, destroy, and attributes.
#include <cstddef>
#include <span>

#include <halfgrad/emulator/cublaslt/descriptors.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

using Field = std::span<std::byte>;

template <class T>
Field field(T& member) {
  return std::as_writable_bytes(std::span<T, 1>(&member, 1));
}

Field field_of(Layout& layout, cublasLtMatrixLayoutAttribute_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return field(layout.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return field(layout.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return field(layout.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return field(layout.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return field(layout.leading);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return field(layout.batch_count);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return field(layout.batch_stride);
    default:
      return {};
  }
}

/// The pointers and modes of fp8's scales.
Field scale_field_of(MatmulDescription& matmul, cublasLtMatmulDescAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return field(matmul.scale_a);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      return field(matmul.scale_b);
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
      return field(matmul.scale_c);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
      return field(matmul.scale_d);
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER:
      return field(matmul.largest_d);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER:
      return field(matmul.scale_aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER:
      return field(matmul.largest_aux);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return field(matmul.fast_accumulation);
    case CUBLASLT_MATMUL_DESC_A_SCALE_MODE:
    case CUBLASLT_MATMUL_DESC_B_SCALE_MODE:
    case CUBLASLT_MATMUL_DESC_C_SCALE_MODE:
    case CUBLASLT_MATMUL_DESC_D_SCALE_MODE:
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE:
      return field(matmul.scale_mode[attribute - CUBLASLT_MATMUL_DESC_A_SCALE_MODE]);
    default:
      return {};
  }
}

Field field_of(MatmulDescription& matmul, cublasLtMatmulDescAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return field(matmul.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return field(matmul.scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return field(matmul.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return field(matmul.transpose_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return field(matmul.transpose_b);
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return field(matmul.transpose_c);
    case CUBLASLT_MATMUL_DESC_FILL_MODE:
      return field(matmul.fill);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return field(matmul.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return field(matmul.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return field(matmul.bias_stride);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return field(matmul.bias_type);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return field(matmul.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return field(matmul.aux_leading);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
      return field(matmul.aux_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
      return field(matmul.aux_type);
    case CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE:
      return field(matmul.alpha_stride);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
      return field(matmul.multiprocessors);
    default:
      return scale_field_of(matmul, attribute);
  }
}

Field field_of(Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_SEARCH_MODE:
      return field(preference.search_mode);
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return field(preference.workspace);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return field(preference.reduction_schemes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return field(preference.alignment[0]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return field(preference.alignment[1]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return field(preference.alignment[2]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return field(preference.alignment[3]);
    case CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT:
      return field(preference.waves);
    case CUBLASLT_MATMUL_PREF_IMPL_MASK:
      return field(preference.implementations);
    default:
      return {};
  }
}

Field field_of(TransformDescription& transform, cublasLtMatrixTransformDescAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE:
      return field(transform.scale);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE:
      return field(transform.pointer_mode);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA:
      return field(transform.transpose_a);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB:
      return field(transform.transpose_b);
    default:
      return {};
  }
}

template <class T, class Attribute>
cublasStatus_t set_attribute(T* contents, Attribute attribute, const void* from,
                             std::size_t bytes) {
  if (contents == nullptr || from == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Field to = field_of(*contents, attribute);
  if (to.empty() || to.size() != bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to.data(), from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

/// With 0 bytes a caller asks only how many there are.
template <class T, class Attribute>
cublasStatus_t get_attribute(T* contents, Attribute attribute, void* to, std::size_t bytes,
                             std::size_t* written) {
  if (contents == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Field from = field_of(*contents, attribute);
  if (from.empty() || (bytes == 0 && written == nullptr)) return CUBLAS_STATUS_INVALID_VALUE;
  if (written != nullptr) *written = from.size();
  if (bytes == 0) return CUBLAS_STATUS_SUCCESS;
  if (to == nullptr || bytes < from.size()) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, from.data(), from.size());
  return CUBLAS_STATUS_SUCCESS;
}

template <class T, class Opaque>
cublasStatus_t initialise(Opaque* opaque, std::size_t bytes, const T& contents) {
  if (opaque == nullptr || bytes < sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memset(static_cast<void*>(opaque), 0, bytes);
  std::memcpy(static_cast<void*>(opaque), &contents, sizeof contents);
  return CUBLAS_STATUS_SUCCESS;
}

/// Makes an opaque struct; a destroyed one is no longer valid.
template <class Opaque, class Initialise>
cublasStatus_t create(Opaque** result, Initialise initialise) {
  if (result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *result = new Opaque;
  return initialise(*result, sizeof(Opaque));
}
template <class Opaque>
cublasStatus_t destroy(Opaque* opaque) {
  if (opaque != nullptr) std::memset(static_cast<void*>(opaque), 0, sizeof(Opaque));
  delete opaque;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

HALFGRAD_EMULATOR_API cublasStatus_t
cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size, cudaDataType type,
                                  uint64_t rows, uint64_t cols, int64_t ld) {
  return initialise(layout, size,
                    Layout{kLayoutMagic, type, CUBLASLT_ORDER_COL, 1, rows, cols, ld, 0});
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                                                cudaDataType type, uint64_t rows,
                                                                uint64_t cols, int64_t ld) {
  return create(layout, [&](cublasLtMatrixLayout_t made, std::size_t size) {
    return cublasLtMatrixLayoutInit_internal(made, size, type, rows, cols, ld);
  });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy(layout);
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, const void* value,
    size_t size) {
  return set_attribute(contents_of<Layout>(layout, kLayoutMagic), attribute, value, size);
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatrixLayoutGetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, void* value,
    size_t size, size_t* written) {
  return get_attribute(contents_of<Layout>(layout, kLayoutMagic), attribute, value, size, written);
}

HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc,
                                                                     size_t size,
                                                                     cublasComputeType_t compute,
                                                                     cudaDataType_t scale) {
  MatmulDescription matmul{};
  matmul.magic = kMatmulMagic;
  matmul.compute = compute;
  matmul.scale = scale;
  matmul.fill = CUBLAS_FILL_MODE_FULL;
  matmul.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  matmul.bias_type = matmul.aux_type = kTypeOfD;
  return initialise(desc, size, matmul);
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc,
                                                              cublasComputeType_t compute,
                                                              cudaDataType_t scale) {
  return create(desc, [&](cublasLtMatmulDesc_t made, std::size_t size) {
    return cublasLtMatmulDescInit_internal(made, size, compute, scale);
  });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  return destroy(desc);
}
HALFGRAD_EMULATOR_API cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                               const void* value, size_t size) {
  return set_attribute(contents_of<MatmulDescription>(desc, kMatmulMagic), attribute, value, size);
}
HALFGRAD_EMULATOR_API cublasStatus_t
cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                               void* value, size_t size, size_t* written) {
  return get_attribute(contents_of<MatmulDescription>(desc, kMatmulMagic), attribute, value, size,
                       written);
}

HALFGRAD_EMULATOR_API cublasStatus_t
cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t size) {
  return initialise(preference, size,
                    Preference{kPreferenceMagic,
                               CUBLASLT_SEARCH_BEST_FIT,
                               CUBLASLT_REDUCTION_SCHEME_MASK,
                               {256, 256, 256, 256},
                               0,
                               0,
                               ~std::uint64_t{0}});
}
HALFGRAD_EMULATOR_API cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create(preference, cublasLtMatmulPreferenceInit_internal);
}
HALFGRAD_EMULATOR_API cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preference);
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
    const void* value, size_t size) {
  return set_attribute(contents_of<Preference>(preference, kPreferenceMagic), attribute, value,
                       size);
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatmulPreferenceGetAttribute(
    cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
    void* value, size_t size, size_t* written) {
  return get_attribute(contents_of<Preference>(preference, kPreferenceMagic), attribute, value,
                       size, written);
}

HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatrixTransformDescInit_internal(
    cublasLtMatrixTransformDesc_t desc, size_t size, cudaDataType scale) {
  return initialise(desc, size, TransformDescription{kTransformMagic, scale, 0, 0, 0});
}
HALFGRAD_EMULATOR_API cublasStatus_t
cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* desc, cudaDataType scale) {
  return create(desc, [&](cublasLtMatrixTransformDesc_t made, std::size_t size) {
    return cublasLtMatrixTransformDescInit_internal(made, size, scale);
  });
}
HALFGRAD_EMULATOR_API cublasStatus_t
cublasLtMatrixTransformDescDestroy(cublasLtMatrixTransformDesc_t desc) {
  return destroy(desc);
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatrixTransformDescSetAttribute(
    cublasLtMatrixTransformDesc_t desc, cublasLtMatrixTransformDescAttributes_t attribute,
    const void* value, size_t size) {
  return set_attribute(contents_of<TransformDescription>(desc, kTransformMagic), attribute, value,
                       size);
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatrixTransformDescGetAttribute(
    cublasLtMatrixTransformDesc_t desc, cublasLtMatrixTransformDescAttributes_t attribute,
    void* value, size_t size, size_t* written) {
  return get_attribute(contents_of<TransformDescription>(desc, kTransformMagic), attribute, value,
                       size, written);
}
