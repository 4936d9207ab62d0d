// Epilogues of cublasLtMatmul ("cublasLtEpilogue_t" in NVIDIA's documentation), on doubles before
// the result is rounded.
#include <cmath>

#include <halfgrad/emulator/cublaslt/matmul.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

//     gelu(x) = x / 2 (1 + tanh u),   u = sqrt(2 / pi) (x + 0.044715 x^3)
constexpr double kRootOfTwoOverPi = 0.79788456080286535588, kCubic = 0.044715;

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(kRootOfTwoOverPi * (x + kCubic * x * x * x)));
}
double gelu_slope(double x) {
  const double t = std::tanh(kRootOfTwoOverPi * (x + kCubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kRootOfTwoOverPi * (1 + 3 * kCubic * x * x);
}
/// cuBLASLt's relu of NaN is 0 in some releases, which is the default here.
double relu(double x) {
  if (x > 0) return x;
  return process().settings.relu_keeps_nan && std::isnan(x) ? x : 0;
}

void add_bias(const LibraryCall& call, const MatmulProblem& problem, std::int64_t batch,
              Values& values) {
  const DeviceMatrix bias = device_vector(problem.matmul.bias, problem.bias_type(), values.rows, 1);
  const Values row = read(call, bias.moved(batch * problem.matmul.bias_stride));
  for (std::int64_t j = 0; j < values.columns; ++j) {
    for (std::int64_t i = 0; i < values.rows; ++i) values.at(i, j) += row.elements[i];
  }
}

/// relu's aux holds one bit for each element, in columns of aux_leading bits: whether it was
/// positive.
void use_relu_mask(const LibraryCall& call, const MatmulProblem& problem, std::int64_t batch,
                   bool store, Values& values) {
  const MatmulDescription& matmul = problem.matmul;
  const auto bytes = static_cast<std::size_t>((values.rows + 7) / 8);
  for (std::int64_t j = 0; j < values.columns; ++j) {
    auto* column = static_cast<std::byte*>(matmul.aux) +
                   (batch * matmul.aux_stride + j * matmul.aux_leading) / 8;
    std::byte* bits = call.view(column, bytes, store ? AccessKind::store : AccessKind::load);
    for (std::int64_t i = 0; i < values.rows; ++i) {
      const auto bit = std::byte{1} << static_cast<int>(i % 8);
      if (!store) {
        if ((bits[i / 8] & bit) == std::byte{}) values.at(i, j) = 0;
      } else if (values.at(i, j) > 0) {
        bits[i / 8] |= bit;
      } else {
        bits[i / 8] &= ~bit;
      }
    }
  }
}

/// gelu's aux is its input, a matrix.
void use_gelu_input(const LibraryCall& call, const MatmulProblem& problem, std::int64_t batch,
                    bool store, Values& values) {
  const MatmulDescription& matmul = problem.matmul;
  const DeviceMatrix aux =
      column_major(matmul.aux, problem.aux_type(), values.rows, values.columns, matmul.aux_leading)
          .moved(batch * matmul.aux_stride);
  if (store) {
    write(call, values, aux);
    return;
  }
  const Values input = read(call, aux);
  for (std::size_t i = 0; i < values.elements.size(); ++i) {
    values.elements[i] *= gelu_slope(input.elements[i]);
  }
}

/// The gradient of a bias: the sum of each row.
void store_row_sums(const LibraryCall& call, const MatmulProblem& problem, const Values& values) {
  Values sums(values.rows, 1);
  for (std::int64_t j = 0; j < values.columns; ++j) {
    for (std::int64_t i = 0; i < values.rows; ++i) sums.elements[i] += values.at(i, j);
  }
  write(call, sums, device_vector(problem.matmul.bias, problem.bias_type(), values.rows, 1));
}

}  // namespace

void apply_epilogue(const LibraryCall& call, const MatmulProblem& problem, std::int64_t batch,
                    Values& values) {
  const EpilogueParts parts = epilogue_parts(problem.matmul.epilogue);
  if (parts.bias) add_bias(call, problem, batch, values);
  if (parts.aux && (parts.relu || parts.relu_gradient)) {
    use_relu_mask(call, problem, batch, parts.relu, values);
  }
  if (parts.aux && (parts.gelu || parts.gelu_gradient)) {
    use_gelu_input(call, problem, batch, parts.gelu, values);
  }
  for (double& value : values.elements) {
    if (parts.relu) value = relu(value);
    if (parts.gelu) value = gelu(value);
  }
  if (parts.bias_gradient && !parts.sums_of_a && !parts.sums_of_b) {
    store_row_sums(call, problem, values);
  }
}

}  // namespace halfgrad::emulator
