// cublasLtMatmul and the choice of its algorithm.
#include <algorithm>
#include <cstdio>

#include <halfgrad/emulator/cublaslt/matmul.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {

cudaDataType MatmulProblem::bias_type() const {
  if (matmul.bias_type != kTypeOfD) return static_cast<cudaDataType>(matmul.bias_type);
  const bool fp8_bias = is_fp8(d.type) || (is_fp8(a.type) && d.type == CUDA_R_32F);
  return fp8_bias ? CUDA_R_16BF : static_cast<cudaDataType>(d.type);
}
cudaDataType MatmulProblem::aux_type() const {
  return static_cast<cudaDataType>(matmul.aux_type == kTypeOfD ? d.type : matmul.aux_type);
}

std::string describe(const MatmulProblem& problem) {
  char text[400];
  const auto size = [](const Layout& layout) {
    return std::to_string(layout.rows) + " x " + std::to_string(layout.columns) + " ld " +
           std::to_string(layout.leading) + " type " + std::to_string(layout.type);
  };
  std::snprintf(text, sizeof text, "A %s%s, B %s%s, D %s, compute type %d, batch %d, epilogue %u",
                size(problem.a).c_str(), problem.matmul.transpose_a != CUBLAS_OP_N ? " T" : "",
                size(problem.b).c_str(), problem.matmul.transpose_b != CUBLAS_OP_N ? " T" : "",
                size(problem.d).c_str(), problem.matmul.compute, problem.d.batch_count,
                problem.matmul.epilogue);
  return text;
}

namespace {

/// The largest power of two up to 16 that divides the address.
std::uint32_t alignment_of(const void* pointer) {
  const auto bits = reinterpret_cast<std::uintptr_t>(pointer) | 16;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

/// Returns the status and adds a note of the reason.
cublasStatus_t refuse(const char* function, const CheckResult& check_result) {
  report_call(FindingKind::invalid_call, function,
              std::string(cublasLtGetStatusName(check_result.status)) + ": " + check_result.reason,
              Severity::note);
  return check_result.status;
}
cublasStatus_t refuse_value(const char* function, std::string reason) {
  return refuse(function, {CUBLAS_STATUS_INVALID_VALUE, std::move(reason)});
}

bool problem_of(cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, MatmulProblem& problem) {
  const auto* description = contents_of<MatmulDescription>(matmul, kMatmulMagic);
  const Layout* layouts[4];
  const cublasLtMatrixLayout_t opaque[4] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) {
    layouts[i] = contents_of<Layout>(opaque[i], kLayoutMagic);
    if (layouts[i] == nullptr) return false;
  }
  if (description == nullptr) return false;
  problem = {*description, *layouts[0], *layouts[1], *layouts[2], *layouts[3]};
  return true;
}

/// Splitting a long k over blocks takes a workspace of a few copies of D.
std::uint64_t workspace_of(const MatmulProblem& problem, std::uint64_t allowed) {
  const std::uint64_t m = problem.d.rows, n = problem.d.columns;
  const std::uint64_t k =
      problem.matmul.transpose_a != CUBLAS_OP_N ? problem.a.rows : problem.a.columns;
  const std::uint64_t bytes = k > 4 * std::max(m, n) ? m * n * 16 : 0;
  return bytes <= allowed ? bytes : 0;
}

/// Whether the call keeps the promises under which its algorithm was chosen.
CheckResult check_algorithm(const Algorithm& algorithm, const MatmulProblem& problem,
                            const MatmulOperands& operands, const LtHandle& handle,
                            std::size_t workspace) {
  const auto wrong = [](const char* why) { return CheckResult{CUBLAS_STATUS_INVALID_VALUE, why}; };
  if (algorithm.magic != kAlgorithmMagic) return wrong("the algorithm was never initialised");
  if (!was_checked(algorithm.problem, hash_of(problem))) {
    return wrong("the algorithm is for another problem");
  }
  if (algorithm.device != static_cast<std::uint32_t>(handle.device)) {
    return wrong("the algorithm is for another device");
  }
  if (workspace < algorithm.workspace)
    return wrong("the workspace is smaller than the algorithm's");
  const void* pointers[4] = {operands.a, operands.b, operands.c, operands.d};
  const Layout* layouts[4] = {&problem.a, &problem.b, &problem.c, &problem.d};
  for (int i = 0; i < 4; ++i) {
    auto bits = reinterpret_cast<std::uintptr_t>(pointers[i]);
    const auto type = static_cast<cudaDataType>(layouts[i]->type);
    if (layouts[i]->batch_count > 1) {
      bits |= static_cast<std::uintptr_t>(layouts[i]->batch_stride) * bytes_of_element(type);
    }
    if (bits % algorithm.alignment[i] != 0) {
      return wrong("a matrix is less aligned than the preference promised");
    }
  }
  const EpilogueParts parts = epilogue_parts(problem.matmul.epilogue);
  if ((parts.bias || parts.bias_gradient) &&
      alignment_of(problem.matmul.bias) < algorithm.bias_alignment) {
    return wrong("the bias is less aligned than when the algorithm was chosen");
  }
  if (parts.aux && alignment_of(problem.matmul.aux) < algorithm.aux_alignment) {
    return wrong("aux is less aligned than when the algorithm was chosen");
  }
  return {};
}

/// Every operand once: C unless beta is known to be 0, and the epilogue's vectors and aux matrix.
WorkCost cost_of(const MatmulProblem& problem, const MatmulOperands& operands) {
  const std::uint64_t m = problem.d.rows, n = problem.d.columns;
  const std::uint64_t k =
      problem.matmul.transpose_a != CUBLAS_OP_N ? problem.a.rows : problem.a.columns;
  const auto size = [](std::int32_t type) {
    return std::uint64_t{bytes_of_element(static_cast<cudaDataType>(type))};
  };
  const Factor& beta = operands.beta;
  const bool reads_c = operands.beta_vector != nullptr || beta.device != nullptr || beta.value != 0;
  std::uint64_t bytes = m * k * size(problem.a.type) + k * n * size(problem.b.type) +
                        m * n * (size(problem.d.type) + (reads_c ? size(problem.c.type) : 0));
  const EpilogueParts parts = epilogue_parts(problem.matmul.epilogue);
  const std::uint64_t vector = parts.sums_of_b ? n : m;
  if (parts.bias || parts.bias_gradient || parts.sums_of_a || parts.sums_of_b) {
    bytes += vector * size(problem.bias_type());
  }
  if (parts.aux)
    bytes += parts.relu || parts.relu_gradient ? m * n / 8 : m * n * size(problem.aux_type());
  const auto batches = static_cast<std::uint64_t>(problem.d.batch_count);
  return {.bytes = batches * bytes, .flops = 2 * batches * m * n * k};
}

/// alpha and beta by the pointer mode.
MatmulOperands operands_of(const MatmulProblem& problem, const void* alpha, const void* beta) {
  const auto type = static_cast<cudaDataType>(problem.matmul.scale);
  MatmulOperands operands{};
  switch (problem.matmul.pointer_mode) {
    case CUBLASLT_POINTER_MODE_HOST:
      operands.alpha = factor(alpha, type, false);
      operands.beta = factor(beta, type, false);
      break;
    case CUBLASLT_POINTER_MODE_DEVICE:
      operands.alpha = factor(alpha, type, true);
      operands.beta = factor(beta, type, true);
      break;
    case CUBLASLT_POINTER_MODE_DEVICE_VECTOR:
      operands.alpha_vector = alpha;
      operands.beta_vector = beta;
      break;
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST:
      operands.beta = factor(beta, type, false);
      [[fallthrough]];
    default:
      operands.alpha_vector = alpha;
  }
  return operands;
}

CheckResult check_call(const LtHandle& handle, const MatmulProblem& problem,
                       const MatmulOperands& operands, const cublasLtMatmulAlgo_t* chosen,
                       const void* workspace, std::size_t workspace_bytes) {
  if (CheckResult check_result = check_problem(problem);
      check_result.status != CUBLAS_STATUS_SUCCESS) {
    return check_result;
  }
  const auto wrong = [&](const char* why) {
    return CheckResult{CUBLAS_STATUS_INVALID_VALUE, std::string(why) + ": " + describe(problem)};
  };
  if (handle.device != current_device()) return wrong("the handle is for another device");
  if (reinterpret_cast<std::uintptr_t>(workspace) % 16 != 0) {
    return wrong("the workspace is not aligned to 16 bytes");
  }
  if (workspace_bytes > 0 && workspace == nullptr) return wrong("the workspace is a null pointer");
  if (operands.c == operands.d && (problem.c.leading != problem.d.leading ||
                                   problem.c.batch_stride != problem.d.batch_stride)) {
    return wrong("C is D, but their layouts differ");
  }
  if (chosen == nullptr) return {};
  Algorithm algorithm;
  std::memcpy(&algorithm, chosen, sizeof algorithm);
  CheckResult check_result = check_algorithm(algorithm, problem, operands, handle, workspace_bytes);
  if (!check_result.reason.empty()) check_result.reason += ": " + describe(problem);
  return check_result;
}

}  // namespace
}  // namespace halfgrad::emulator

using namespace halfgrad::emulator;

HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int requested, cublasLtMatmulHeuristicResult_t results[],
    int* found) {
  constexpr const char* kFunction = "cublasLtMatmulAlgoGetHeuristic";
  const auto* own = contents_of<LtHandle>(handle, kHandleMagic);
  if (own == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto* wishes = contents_of<Preference>(preference, kPreferenceMagic);
  MatmulProblem problem;
  if (found == nullptr || results == nullptr || requested < 1 || wishes == nullptr ||
      !problem_of(matmul, a, b, c, d, problem)) {
    return refuse_value(kFunction, "a descriptor is null or was never initialised");
  }
  *found = 0;
  const CheckResult check_result = check_problem(problem);
  if (check_result.status != CUBLAS_STATUS_SUCCESS) return refuse(kFunction, check_result);

  Algorithm algorithm{};
  algorithm.magic = kAlgorithmMagic;
  const Layout* layouts[4] = {&problem.a, &problem.b, &problem.c, &problem.d};
  for (int i = 0; i < 4; ++i) {
    algorithm.alignment[i] = wishes->alignment[i];
    const auto type = static_cast<cudaDataType>(layouts[i]->type);
    if (wishes->alignment[i] < bytes_of_element(type)) {
      return refuse(kFunction, {CUBLAS_STATUS_NOT_SUPPORTED, "an alignment is below an element"});
    }
  }
  algorithm.bias_alignment = problem.matmul.bias != nullptr ? alignment_of(problem.matmul.bias) : 0;
  algorithm.aux_alignment = problem.matmul.aux != nullptr ? alignment_of(problem.matmul.aux) : 0;
  algorithm.device = static_cast<std::uint32_t>(own->device);
  algorithm.problem = hash_of(problem);
  algorithm.product = hash_of(without_epilogue(problem));
  algorithm.workspace = workspace_of(problem, wishes->workspace);
  cublasLtMatmulHeuristicResult_t& result = results[0];
  result = {};
  std::memcpy(&result.algo, &algorithm, sizeof algorithm);
  result.workspaceSize = algorithm.workspace;
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = 1;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatmulAlgoCheck(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    const cublasLtMatmulAlgo_t* checked, cublasLtMatmulHeuristicResult_t* result) {
  constexpr const char* kFunction = "cublasLtMatmulAlgoCheck";
  const auto* own = contents_of<LtHandle>(handle, kHandleMagic);
  if (own == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  MatmulProblem problem;
  if (checked == nullptr || result == nullptr || !problem_of(matmul, a, b, c, d, problem)) {
    return refuse_value(kFunction, "a pointer is null, or a descriptor never initialised");
  }
  if (const CheckResult known = check_problem(problem); known.status != CUBLAS_STATUS_SUCCESS) {
    return refuse(kFunction, known);
  }
  Algorithm algorithm;
  std::memcpy(&algorithm, checked, sizeof algorithm);
  if (algorithm.magic != kAlgorithmMagic ||
      algorithm.product != hash_of(without_epilogue(problem)) ||
      algorithm.device != static_cast<std::uint32_t>(own->device)) {
    return refuse_value(kFunction, "the algorithm is for another product or device");
  }
  remember_checked(algorithm.problem, hash_of(problem));
  result->workspaceSize = algorithm.workspace;
  result->state = CUBLAS_STATUS_SUCCESS;
  result->wavesCount = 1;
  return CUBLAS_STATUS_SUCCESS;
}

HALFGRAD_EMULATOR_API cublasStatus_t cublasLtMatmul(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul, const void* alpha, const void* a,
    cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
    const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
    cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
    size_t workspace_bytes, cudaStream_t stream) {
  const auto* own = contents_of<LtHandle>(handle, kHandleMagic);
  if (own == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  MatmulProblem problem;
  if (alpha == nullptr || a == nullptr || b == nullptr || d == nullptr ||
      !problem_of(matmul, a_layout, b_layout, c_layout, d_layout, problem)) {
    return refuse_value("cublasLtMatmul", "a pointer is null, or a descriptor never initialised");
  }
  MatmulOperands operands = operands_of(problem, alpha, beta);
  operands.a = a, operands.b = b, operands.c = c, operands.d = d;
  const CheckResult check_result =
      check_call(*own, problem, operands, algorithm, workspace, workspace_bytes);
  if (check_result.status != CUBLAS_STATUS_SUCCESS) return refuse("cublasLtMatmul", check_result);
  return enqueue_call(stream, "cublasLtMatmul", describe(problem), cost_of(problem, operands),
                      [=](const LibraryCall& call) {
                        if (workspace_bytes > 0) {  // an algorithm may overwrite all of it
                          std::memset(call.view(workspace, workspace_bytes, AccessKind::store),
                                      0x5a, workspace_bytes);
                        }
                        run_matmul(call, problem, operands);
                      });
}
