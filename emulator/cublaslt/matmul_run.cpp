#include <algorithm>
#include <cmath>

#include <halfgrad/emulator/cublaslt/matmul.h>
#include <halfgrad/emulator/ptx/instructions/float_formats.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

template <class Format>
void round_to(Values& values) {
  for (double& value : values.elements) {
    value = double{widen<Format>(narrow<Format, Rounding::nearest>(value))};
  }
}

/// The FAST compute types round their operands.
void round_operands(const MatmulProblem& problem, Values& values) {
  switch (problem.matmul.compute) {
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return round_to<TF32>(values);
    case CUBLAS_COMPUTE_32F_FAST_16F:
      return round_to<F16>(values);
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      return round_to<BF16>(values);
    default:
      return;
  }
}

Values operand(const LibraryCall& call, const MatmulProblem& problem, const Layout& layout,
               const void* data, std::int64_t batch, bool transpose) {
  const DeviceMatrix matrix = matrix_of(layout, data, batch);
  Values values = read(call, transpose ? matrix.transposed() : matrix);
  round_operands(problem, values);
  return values;
}

double scale_at(const LibraryCall& call, const void* pointer) {
  return pointer == nullptr ? 1 : factor(pointer, CUDA_R_32F, true).at(call);
}

std::vector<double> factors_of_rows(const LibraryCall& call, const MatmulProblem& problem,
                                    const Factor& one, const void* vector, std::int64_t batch) {
  const auto rows = static_cast<std::size_t>(problem.rows());
  if (vector == nullptr) return std::vector<double>(rows, one.at(call));
  const DeviceMatrix all =
      device_vector(vector, static_cast<cudaDataType>(problem.matmul.scale), problem.rows(), 1);
  return read(call, all.moved(batch * problem.matmul.alpha_stride)).elements;
}

/// values = alpha values + beta C. beta 0 does not read C.
void scale_and_add(const LibraryCall& call, const MatmulProblem& problem,
                   const MatmulOperands& operands, std::int64_t batch, Values& values) {
  const MatmulDescription& matmul = problem.matmul;
  const double scale = scale_at(call, matmul.scale_a) * scale_at(call, matmul.scale_b);
  const std::vector<double> alpha =
      factors_of_rows(call, problem, operands.alpha, operands.alpha_vector, batch);
  const std::vector<double> beta =
      factors_of_rows(call, problem, operands.beta, operands.beta_vector, batch);
  for (std::int64_t j = 0; j < values.columns; ++j) {
    for (std::int64_t i = 0; i < values.rows; ++i) values.at(i, j) *= alpha[i] * scale;
  }
  if (std::all_of(beta.begin(), beta.end(), [](double x) { return x == 0; })) return;
  const double scale_c = scale_at(call, matmul.scale_c);
  const Values c = read(call, matrix_of(problem.c, operands.c, batch));
  for (std::int64_t j = 0; j < values.columns; ++j) {
    for (std::int64_t i = 0; i < values.rows; ++i) {
      values.at(i, j) += beta[i] * scale_c * c.at(i, j);
    }
  }
}

/// BGRADA and BGRADB: sums of op(A) or op(B) along k.
void store_operand_sums(const LibraryCall& call, const MatmulProblem& problem, const Values& a,
                        const Values& b) {
  const EpilogueParts parts = epilogue_parts(problem.matmul.epilogue);
  if (!parts.sums_of_a && !parts.sums_of_b) return;
  Values sums(parts.sums_of_a ? a.rows : b.columns, 1);
  for (std::int64_t k = 0; k < a.columns; ++k) {
    for (std::int64_t i = 0; i < sums.rows; ++i) {
      sums.elements[i] += parts.sums_of_a ? a.at(i, k) : b.at(k, i);
    }
  }
  write(call, sums, device_vector(problem.matmul.bias, problem.bias_type(), sums.rows, 1));
}

/// Stores the largest magnitude of D, then scales D: fp8 only.
void scale_result(const LibraryCall& call, const MatmulProblem& problem, Values& values) {
  const MatmulDescription& matmul = problem.matmul;
  if (matmul.largest_d != nullptr) {
    Values largest(1, 1);
    for (const double value : values.elements) {
      largest.elements[0] = std::max(largest.elements[0], std::fabs(value));
    }
    write(call, largest, device_vector(matmul.largest_d, CUDA_R_32F, 1, 1));
  }
  const double scale = scale_at(call, matmul.scale_d);
  for (double& value : values.elements) value *= scale;
}

}  // namespace

DeviceMatrix matrix_of(const Layout& layout, const void* data, std::int64_t batch) {
  const auto rows = static_cast<std::int64_t>(layout.rows);
  const auto columns = static_cast<std::int64_t>(layout.columns);
  const auto type = static_cast<cudaDataType>(layout.type);
  const DeviceMatrix first =
      layout.order == CUBLASLT_ORDER_COL
          ? column_major(data, type, rows, columns, layout.leading)
          : column_major(data, type, columns, rows, layout.leading).transposed();
  return first.moved(batch * layout.batch_stride);
}

void run_matmul(const LibraryCall& call, const MatmulProblem& problem,
                const MatmulOperands& operands) {
  const MatmulDescription& matmul = problem.matmul;
  for (std::int64_t batch = 0; batch < problem.d.batch_count; ++batch) {
    const Values a =
        operand(call, problem, problem.a, operands.a, batch, matmul.transpose_a != CUBLAS_OP_N);
    const Values b =
        operand(call, problem, problem.b, operands.b, batch, matmul.transpose_b != CUBLAS_OP_N);
    Values values = multiply(a, b, process().settings.threads);
    scale_and_add(call, problem, operands, batch, values);
    apply_epilogue(call, problem, batch, values);
    store_operand_sums(call, problem, a, b);
    if (is_fp8(problem.a.type)) scale_result(call, problem, values);
    write(call, values, matrix_of(problem.d, operands.d, batch));
  }
}

}  // namespace halfgrad::emulator
