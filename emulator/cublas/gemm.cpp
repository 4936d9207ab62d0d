#include <halfgrad/emulator/cublas/gemm.h>

#include <cstring>
#include <vector>

#include <halfgrad/emulator/ptx/instructions/float_formats.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

bool is_half(cudaDataType type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }

/// The table of types of cublasGemmEx.
bool types_fit(const Gemm& product) {
  const cudaDataType in = product.type_a, out = product.type_c;
  if (in != product.type_b) return false;
  switch (product.compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return in == CUDA_R_16F && out == CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return in == CUDA_R_8I && out == CUDA_R_32I;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      if (out == CUDA_R_32F) return is_half(in) || in == CUDA_R_8I || in == CUDA_R_32F;
      return is_half(in) && out == in;
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return in == CUDA_R_32F && out == CUDA_R_32F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return in == CUDA_R_64F && out == CUDA_R_64F;
    default:
      return false;
  }
}

bool is_complex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

template <class Format>
void round_to(Values& values) {
  for (double& value : values.elements) {
    value = double{widen<Format>(narrow<Format, Rounding::nearest>(value))};
  }
}
void round_operand(const Gemm& product, Values& values) {
  if (product.compute == CUBLAS_COMPUTE_32F_FAST_TF32) round_to<TF32>(values);
  if (product.compute == CUBLAS_COMPUTE_32F_FAST_16F) round_to<F16>(values);
  if (product.compute == CUBLAS_COMPUTE_32F_FAST_16BF) round_to<BF16>(values);
}

Values operand(const LibraryCall& call, const Gemm& product, cublasOperation_t op,
               const DeviceMatrix& matrix) {
  Values values = read(call, op == CUBLAS_OP_N ? matrix : matrix.transposed());
  round_operand(product, values);
  return values;
}

/// Pointer i of an array in device memory.
template <class T>
T* pointer_at(const LibraryCall& call, const void* array, std::int64_t i) {
  T* pointer = nullptr;
  const auto* entry = static_cast<const std::byte*>(array) + i * std::int64_t{sizeof pointer};
  std::memcpy(&pointer, call.view(entry, sizeof pointer, AccessKind::load), sizeof pointer);
  return pointer;
}

void run_batch(const LibraryCall& call, const Gemm& product, double alpha, const void* a,
               const void* b, double beta, void* c) {
  for (std::int64_t i = 0; i < product.batch; ++i) {
    if (product.pointer_arrays) {
      run_gemm(call, product, alpha, pointer_at<const void>(call, a, i),
               pointer_at<const void>(call, b, i), beta, pointer_at<void>(call, c, i));
      continue;
    }
    const auto moved = [&](const void* data, cudaDataType type, std::int64_t stride) {
      return static_cast<const std::byte*>(data) +
             i * stride * static_cast<std::int64_t>(bytes_of_element(type));
    };
    run_gemm(call, product, alpha, moved(a, product.type_a, product.stride_a),
             moved(b, product.type_b, product.stride_b), beta,
             const_cast<std::byte*>(moved(c, product.type_c, product.stride_c)));
  }
}

/// Every operand once, and C twice unless beta is known to be 0.
WorkCost cost_of(const Gemm& product, const Factor& beta) {
  const auto size = [](cudaDataType type) { return std::uint64_t{bytes_of_element(type)}; };
  const auto m = static_cast<std::uint64_t>(product.m), n = static_cast<std::uint64_t>(product.n);
  const auto k = static_cast<std::uint64_t>(product.k);
  const auto batches = static_cast<std::uint64_t>(product.batch);
  const bool reads_c = beta.device != nullptr || beta.value != 0;
  const std::uint64_t bytes = m * k * size(product.type_a) + k * n * size(product.type_b) +
                              m * n * size(product.type_c) * (reads_c ? 2 : 1);
  return {.bytes = batches * bytes, .flops = 2 * batches * m * n * k};
}

}  // namespace

cudaDataType Gemm::scale_type() const {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUDA_R_32I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return CUDA_R_64F;
    default:
      return CUDA_R_32F;
  }
}

void run_gemm(const LibraryCall& call, const Gemm& product, double alpha, const void* a,
              const void* b, double beta, void* c) {
  const bool a_plain = product.op_a == CUBLAS_OP_N, b_plain = product.op_b == CUBLAS_OP_N;
  const std::int64_t m = product.m, n = product.n, k = product.k;
  const DeviceMatrix stored_a =
      column_major(a, product.type_a, a_plain ? m : k, a_plain ? k : m, product.lda);
  const DeviceMatrix stored_b =
      column_major(b, product.type_b, b_plain ? k : n, b_plain ? n : k, product.ldb);
  const DeviceMatrix out = column_major(c, product.type_c, m, n, product.ldc);
  Values result(m, n);
  if (k > 0 && alpha != 0) {
    result = multiply(operand(call, product, product.op_a, stored_a),
                      operand(call, product, product.op_b, stored_b), process().settings.threads);
    for (double& value : result.elements) value *= alpha;
  }
  if (beta != 0) {  // C is not read otherwise
    const Values old = read(call, out);
    for (std::size_t i = 0; i < result.elements.size(); ++i) {
      result.elements[i] += beta * old.elements[i];
    }
  }
  write(call, result, out);
}

cublasStatus_t gemm(cublasHandle_t handle, const char* function, Gemm product, const void* alpha,
                    const void* a, const void* b, const void* beta, void* c) {
  BlasCall call(handle, function);
  if (is_complex(product.type_a)) {
    end_at_unknown_function((std::string(function) + " of complex matrices").c_str());
  }
  call.sizes({product.m, product.n, product.k, product.batch});
  call.leading(product.lda, product.op_a == CUBLAS_OP_N ? product.m : product.k);
  call.leading(product.ldb, product.op_b == CUBLAS_OP_N ? product.k : product.n);
  call.leading(product.ldc, product.m);
  call.demand(alpha != nullptr && beta != nullptr, "alpha or beta is a null pointer");
  if (call.is_valid() && !types_fit(product)) {
    return refuse_call(function, CUBLAS_STATUS_NOT_SUPPORTED, "the types are not in the table");
  }
  if (call.is_valid() && call.context().math_mode == CUBLAS_TF32_TENSOR_OP_MATH &&
      product.compute == CUBLAS_COMPUTE_32F && product.type_a == CUDA_R_32F) {
    product.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  }
  if (call.is_valid() && (product.m == 0 || product.n == 0 || product.batch == 0)) {
    return CUBLAS_STATUS_SUCCESS;
  }
  const bool has_factors = alpha != nullptr && beta != nullptr;
  const Factor alpha_at = has_factors ? call.factor_at(alpha, product.scale_type()) : Factor{};
  const Factor beta_at = has_factors ? call.factor_at(beta, product.scale_type()) : Factor{};
  return call.run(
      [=](const LibraryCall& library) {
        run_batch(library, product, alpha_at.at(library), a, b, beta_at.at(library), c);
      },
      cost_of(product, beta_at));
}

}  // namespace halfgrad::emulator
