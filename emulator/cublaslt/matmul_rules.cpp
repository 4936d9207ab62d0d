// Rules of NVIDIA's documentation for cublasLtMatmul() and for its descriptors' attributes.
#include <algorithm>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/cublaslt/matmul.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

CheckResult invalid(std::string reason) { return {CUBLAS_STATUS_INVALID_VALUE, std::move(reason)}; }
CheckResult unsupported(std::string reason) {
  return {CUBLAS_STATUS_NOT_SUPPORTED, std::move(reason)};
}
bool is_good(const CheckResult& check_result) {
  return check_result.status == CUBLAS_STATUS_SUCCESS;
}

bool is_half(std::int32_t type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }

CheckResult check_layouts(const MatmulProblem& problem) {
  for (const Layout* layout : {&problem.a, &problem.b, &problem.c, &problem.d}) {
    if (layout->magic != kLayoutMagic) return invalid("a layout was never initialised");
    if (layout->order != CUBLASLT_ORDER_COL && layout->order != CUBLASLT_ORDER_ROW) {
      return unsupported("only column and row order are implemented");
    }
    if (layout->rows == 0 || layout->columns == 0) return invalid("a matrix is empty");
    const std::uint64_t line = layout->order == CUBLASLT_ORDER_COL ? layout->rows : layout->columns;
    if (layout->leading < static_cast<std::int64_t>(line)) {
      return invalid("a leading dimension is smaller than a column, or a row in row order");
    }
    if (layout->batch_count < 1 || layout->batch_count != problem.d.batch_count) {
      return invalid("batch counts differ");
    }
  }
  if (problem.d.batch_count > 1 && problem.d.batch_stride == 0) {
    return invalid("all matrices of D's batch lie at one place");
  }
  return {};
}

CheckResult check_shapes(const MatmulProblem& problem) {
  const bool a = problem.matmul.transpose_a != CUBLAS_OP_N;
  const bool b = problem.matmul.transpose_b != CUBLAS_OP_N;
  const std::uint64_t m = a ? problem.a.columns : problem.a.rows;
  const std::uint64_t k = a ? problem.a.rows : problem.a.columns;
  const std::uint64_t n = b ? problem.b.rows : problem.b.columns;
  const std::uint64_t k_of_b = b ? problem.b.columns : problem.b.rows;
  if (k != k_of_b || problem.d.rows != m || problem.d.columns != n || problem.c.rows != m ||
      problem.c.columns != n) {
    return invalid("the shapes do not fit");
  }
  if (problem.matmul.transpose_c != CUBLAS_OP_N) return unsupported("C cannot be transposed");
  return {};
}

/// A row of the table "Supported data types": compute type, scale type, A and B, C and D.
bool types_are_in_table(const MatmulProblem& problem) {
  const std::int32_t scale = problem.matmul.scale, in = problem.a.type, out = problem.d.type;
  if (in != problem.b.type || out != problem.c.type) return false;
  const auto all = [&](std::int32_t type) { return scale == type && in == type && out == type; };
  switch (problem.matmul.compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return all(CUDA_R_16F);
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      if (scale != CUDA_R_32F) return false;
      if (in == CUDA_R_8I) return out == CUDA_R_32F;
      return (is_half(in) && out == in) || ((is_half(in) || in == CUDA_R_32F) && out == CUDA_R_32F);
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return all(CUDA_R_32F);
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return all(CUDA_R_64F);
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return in == CUDA_R_8I && ((scale == CUDA_R_32I && out == CUDA_R_32I) ||
                                 (scale == CUDA_R_32F && out == CUDA_R_8I));
    default:
      return false;
  }
}

CheckResult check_integer_rules(const MatmulProblem& problem) {
  if (problem.matmul.transpose_a == CUBLAS_OP_N || problem.matmul.transpose_b != CUBLAS_OP_N) {
    return unsupported("products of int8 need A transposed and B not");
  }
  for (const Layout* layout : {&problem.a, &problem.b, &problem.c, &problem.d}) {
    if (layout->leading % 4 != 0)
      return unsupported("products of int8 need leading dimensions % 4");
  }
  if (problem.a.rows % 4 != 0 || problem.a.columns % 4 != 0) {
    return unsupported("products of int8 need m and k that are multiples of 4");
  }
  return {};
}

CheckResult check_fp8_rules(const MatmulProblem& problem) {
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, current_device());
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, current_device());
  if (10 * major + minor < 89) return unsupported("fp8 needs compute capability 8.9");
  const MatmulDescription& matmul = problem.matmul;
  if (!is_fp8(problem.a.type) || !is_fp8(problem.b.type) ||
      (problem.a.type == CUDA_R_8F_E5M2 && problem.b.type == CUDA_R_8F_E5M2)) {
    return unsupported("fp8 needs A and B of fp8, at most one of them E5M2");
  }
  if (matmul.compute != CUBLAS_COMPUTE_32F || matmul.scale != CUDA_R_32F) {
    return unsupported("fp8 needs compute and scale type f32");
  }
  if (matmul.transpose_a == CUBLAS_OP_N || matmul.transpose_b != CUBLAS_OP_N) {
    return unsupported("fp8 needs A transposed and B not");
  }
  const bool d_fits = is_fp8(problem.d.type)
                          ? is_half(problem.c.type)
                          : problem.c.type == problem.d.type &&
                                (is_half(problem.d.type) || problem.d.type == CUDA_R_32F);
  if (!d_fits) return unsupported("fp8 does not give these types of C and D");
  for (const Layout* layout : {&problem.a, &problem.b, &problem.d}) {
    const auto bytes =
        static_cast<std::int64_t>(bytes_of_element(static_cast<cudaDataType>(layout->type)));
    if (layout->rows * static_cast<std::uint64_t>(bytes) % 16 != 0 ||
        layout->leading * bytes % 16 != 0) {
      return unsupported("fp8 needs dimensions of multiples of 16 bytes");
    }
  }
  for (const std::int32_t mode : matmul.scale_mode) {
    if (mode != 0) return unsupported("only one scale for each matrix is implemented");
  }
  return {};
}

CheckResult check_types(const MatmulProblem& problem) {
  if (is_fp8(problem.a.type) || is_fp8(problem.b.type) || is_fp8(problem.d.type)) {
    return check_fp8_rules(problem);
  }
  if (!types_are_in_table(problem)) return unsupported("the types are not in the table of types");
  const bool integers = problem.matmul.compute == CUBLAS_COMPUTE_32I ||
                        problem.matmul.compute == CUBLAS_COMPUTE_32I_PEDANTIC;
  return integers ? check_integer_rules(problem) : CheckResult{};
}

bool is_aligned(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

CheckResult check_aux(const MatmulProblem& problem, const EpilogueParts& parts) {
  const MatmulDescription& matmul = problem.matmul;
  if (matmul.aux == nullptr) return invalid("the epilogue has no aux pointer");
  if (!is_aligned(matmul.aux, 16)) return invalid("the aux pointer is not aligned to 16 bytes");
  if (problem.d.order != CUBLASLT_ORDER_COL) return unsupported("aux needs D in column order");
  const std::int64_t multiple = parts.relu || parts.relu_gradient ? 128 : 8;
  if (matmul.aux_leading % multiple != 0 || matmul.aux_leading < problem.rows()) {
    return invalid("aux's leading dimension must be a multiple of " + std::to_string(multiple) +
                   ", and at least the rows of D, got " + std::to_string(matmul.aux_leading));
  }
  if (problem.d.batch_count > 1 && (matmul.aux_stride == 0 || matmul.aux_stride % multiple != 0)) {
    return invalid("aux's batch stride must be a multiple of " + std::to_string(multiple));
  }
  return {};
}

CheckResult check_epilogue(const MatmulProblem& problem) {
  const MatmulDescription& matmul = problem.matmul;
  constexpr std::uint32_t kKnown[] = {
      CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_RELU_AUX,
      CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU,
      CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_BIAS,   CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
      CUBLASLT_EPILOGUE_BGRADB};
  if (std::find(std::begin(kKnown), std::end(kKnown), matmul.epilogue) == std::end(kKnown)) {
    return invalid("the epilogue " + std::to_string(matmul.epilogue) + " does not exist");
  }
  const EpilogueParts parts = epilogue_parts(matmul.epilogue);
  if (parts.bias || parts.bias_gradient) {
    if (matmul.bias == nullptr) return invalid("the epilogue has no bias pointer");
    const std::int32_t type = problem.bias_type();
    const bool fits = type == problem.d.type || (is_fp8(problem.a.type) && is_half(type)) ||
                      (problem.d.type == CUDA_R_8I && type == CUDA_R_32F);
    if (!fits) return unsupported("the bias has not the type of D");
  }
  if (parts.bias_gradient && problem.d.batch_count > 1) {
    return unsupported("a batch has no gradient of the bias");
  }
  return parts.aux ? check_aux(problem, parts) : CheckResult{};
}

/// --refuse: features that this process's cuBLASLt lacks, as some releases do.
bool is_refused(const char* feature) {
  const std::string list = "," + process().settings.refuse + ",";
  return list.find("," + std::string(feature) + ",") != std::string::npos;
}
CheckResult check_refusals(const MatmulProblem& problem) {
  const EpilogueParts parts = epilogue_parts(problem.matmul.epilogue);
  const bool any = problem.matmul.epilogue != CUBLASLT_EPILOGUE_DEFAULT;
  const std::pair<const char*, bool> features[] = {
      {"epilogue", any},
      {"bias", parts.bias},
      {"relu", parts.relu || parts.relu_gradient},
      {"gelu", parts.gelu || parts.gelu_gradient},
      {"aux", parts.aux},
      {"bgrad", parts.bias_gradient},
      {"f64", problem.d.type == CUDA_R_64F},
      {"f64-epilogue", any && problem.d.type == CUDA_R_64F},
      {"f32-bgrad", parts.bias_gradient && problem.a.type == CUDA_R_32F}};
  for (const auto& [feature, used] : features) {
    if (used && is_refused(feature)) return unsupported(std::string("refused: ") + feature);
  }
  return {};
}

}  // namespace

bool is_fp8(std::int32_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }

EpilogueParts epilogue_parts(std::uint32_t epilogue) {
  EpilogueParts parts{};
  parts.sums_of_a = epilogue == CUBLASLT_EPILOGUE_BGRADA;
  parts.sums_of_b = epilogue == CUBLASLT_EPILOGUE_BGRADB;
  const std::uint32_t bits = epilogue < 256 ? epilogue : 0;
  parts.relu = (bits & 2) != 0;
  parts.bias = (bits & 4) != 0;
  parts.relu_gradient = (bits & 8) != 0;
  parts.bias_gradient = (bits & 16) != 0 || parts.sums_of_a || parts.sums_of_b;
  parts.gelu = (bits & 32) != 0;
  parts.gelu_gradient = (bits & 64) != 0;
  parts.aux = (bits & 128) != 0;
  return parts;
}

CheckResult check_problem(const MatmulProblem& problem) {
  if (problem.matmul.magic != kMatmulMagic) return invalid("the descriptor was never initialised");
  if (problem.matmul.pointer_mode < 0 || problem.matmul.pointer_mode > 4) {
    return invalid("the pointer mode does not exist");
  }
  for (const auto check :
       {check_layouts, check_shapes, check_types, check_epilogue, check_refusals}) {
    CheckResult check_result = check(problem);
    if (!is_good(check_result)) {
      check_result.reason += ": " + describe(problem);
      return check_result;
    }
  }
  return {};
}

}  // namespace halfgrad::emulator
