#pragma once

#include <string>

#include <halfgrad/emulator/cublaslt/descriptors.h>
#include <halfgrad/emulator/cublaslt/device_matrix.h>

namespace halfgrad::emulator {

/// Problem that cublasLtMatmul solves: D = alpha op(A) op(B) + beta C, with an epilogue.
struct MatmulProblem {
  MatmulDescription matmul;
  Layout a, b, c, d;

  std::int64_t rows() const { return static_cast<std::int64_t>(d.rows); }
  std::int64_t columns() const { return static_cast<std::int64_t>(d.columns); }
  cudaDataType bias_type() const;
  cudaDataType aux_type() const;
};

/// Parts of an epilogue: cublasLt.h builds its codes from these bits.
struct EpilogueParts {
  bool bias, relu, gelu, relu_gradient, gelu_gradient, aux, bias_gradient;
  bool sums_of_a, sums_of_b;  ///< BGRADA and BGRADB
};
EpilogueParts epilogue_parts(std::uint32_t epilogue);

/// Success, or why a GPU's cuBLASLt would refuse the problem.
struct CheckResult {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  std::string reason;
};
CheckResult check_problem(const MatmulProblem& problem);

/// Sizes, types and leading dimensions, for messages and traces.
std::string describe(const MatmulProblem& problem);
/// Hash of everything that the choice of an algorithm depends on.
std::uint64_t hash_of(const MatmulProblem& problem);

/// The same problem with the default epilogue.
MatmulProblem without_epilogue(MatmulProblem problem);

/// Remembers that an algorithm, chosen for the problem with hash `chosen_for`, also works for the
/// one with hash `problem`.
void remember_checked(std::uint64_t chosen_for, std::uint64_t problem);
bool was_checked(std::uint64_t chosen_for, std::uint64_t problem);

/// Pointers of a call.
struct MatmulOperands {
  const void *a, *b, *c;
  void* d;
  Factor alpha, beta;
  const void *alpha_vector, *beta_vector;  ///< one factor for each row of D, or nullptr
};
void run_matmul(const LibraryCall& call, const MatmulProblem& problem,
                const MatmulOperands& operands);

/// The epilogue on one matrix of the batch; `values` are alpha A B + beta C.
void apply_epilogue(const LibraryCall& call, const MatmulProblem& problem, std::int64_t batch,
                    Values& values);

bool is_fp8(std::int32_t type);

/// One matrix of a layout's batch.
DeviceMatrix matrix_of(const Layout& layout, const void* data, std::int64_t batch);

}  // namespace halfgrad::emulator
