#include <halfgrad/emulator/cublaslt/descriptor_fields.h>

namespace halfgrad::emulator {
namespace {

template <class T>
Field field(T& member) {
  return std::as_writable_bytes(std::span<T, 1>(&member, 1));
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

}  // namespace

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

}  // namespace halfgrad::emulator
