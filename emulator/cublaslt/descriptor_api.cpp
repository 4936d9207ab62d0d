// cublasLtMatrixLayout..., cublasLtMatmulDesc..., cublasLtMatmulPreference... and
// cublasLtMatrixTransformDesc...: create, destroy, and attributes.
#include <cstddef>
#include <cstring>

#include <halfgrad/emulator/cublaslt/descriptor_fields.h>
#include <halfgrad/emulator/cublaslt/descriptors.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

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
