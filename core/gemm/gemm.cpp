#include <halfgrad/core/gemm.h>

#include <atomic>
#include <string>

#include <halfgrad/core/cuda/kernels/gemm.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/gemm/advanced.h>
#include <halfgrad/core/gemm/gemm_floats.h>
#include <halfgrad/core/gemm/gemm_integers.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/thread_pool.h>

namespace halfgrad {
namespace {

using namespace detail;

std::string shape(std::int64_t rows, std::int64_t cols) {
  return "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
}

bool is_integer(DType dtype) { return !is_floating_point(dtype) && dtype != kBool; }

void check_integers(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                    const RowBias& bias) {
  const DType dtype = a.dtype;
  if (b.dtype != dtype || c.dtype != dtype) {
    fail("gemm", "expected one integer dtype, got {}, {} and {}", dtype, b.dtype, c.dtype);
  }
  if (bias.data != nullptr && bias.dtype != dtype) {
    fail("gemm", "expected a bias of the matrices' integer dtype {}, got {}", dtype, bias.dtype);
  }
  if (c.device.is_cuda()) fail("gemm", "expected floating matrices on a GPU, got {}", dtype);
}

std::int64_t truncated(double factor) {
  if (factor >= -0x1p63 && factor < 0x1p63) return static_cast<std::int64_t>(factor);
  fail("gemm", "expected alpha and beta that int64 can hold, for integer matrices, got {}", factor);
}

void check(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
           const RowBias& bias) {
  if (a.cols != b.rows || c.rows != a.rows || c.cols != b.cols) {
    fail("gemm", "expected shapes (m, k), (k, n) and (m, n), got {}, {} and {}",
         shape(a.rows, a.cols), shape(b.rows, b.cols), shape(c.rows, c.cols));
  }
  if (a.device != c.device || b.device != c.device) {
    fail("gemm", "expected matrices on one device, got {}, {} and {}", a.device, b.device,
         c.device);
  }
  if (is_integer(a.dtype)) return check_integers(a, b, c, bias);
  const bool widens = c.dtype == kFloat32 && is_reduced(a.dtype);
  if (!is_floating_point(a.dtype) || b.dtype != a.dtype || (c.dtype != a.dtype && !widens)) {
    fail("gemm",
         "expected one floating dtype, or a float32 result of 16-bit operands, got {}, {} and {}",
         a.dtype, b.dtype, c.dtype);
  }
  if (bias.data != nullptr && !is_floating_point(bias.dtype)) {
    fail("gemm", "expected a floating bias, got {}", bias.dtype);
  }
}

void multiply_checked(double alpha, const MatrixView& a, const MatrixView& b, double beta,
                      const MutableMatrixView& c, const RowBias& bias) {
  if (c.rows == 0 || c.cols == 0) return;
  if (is_integer(a.dtype)) {
    multiply_integers(truncated(alpha), a, b, truncated(beta), c, bias);
  } else {
    multiply_floats(alpha, a, b, beta, c, bias);
  }
}

std::atomic<GemmBackend> chosen_backend{GemmBackend::automatic};
std::atomic<bool> tf32{false}, fp16_reduction{false}, relu_mask{false};

}  // namespace

void gemm(double alpha, const MatrixView& a, const MatrixView& b, double beta,
          const MutableMatrixView& c, const RowBias& bias) {
  check(a, b, c, bias);
  if (c.device.is_cuda()) {
    gemm_on_cuda({1, alpha, a, 0, b, 0, beta, c, 0, {.bias = bias}});
    return;
  }
  multiply_checked(alpha, a, b, beta, c, bias);
}

void gemm_batched(std::int64_t count, double alpha, const MatrixView& a, std::int64_t a_stride,
                  const MatrixView& b, std::int64_t b_stride, double beta,
                  const MutableMatrixView& c, std::int64_t c_stride, const RowBias& bias) {
  check(a, b, c, bias);
  if (c.device.is_cuda()) {
    gemm_on_cuda({count, alpha, a, a_stride, b, b_stride, beta, c, c_stride, {.bias = bias}});
    return;
  }
  const auto multiply_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      multiply_checked(alpha, advanced(a, i * a_stride), advanced(b, i * b_stride), beta,
                       advanced(c, i * c_stride), bias);
    }
  };
  constexpr std::int64_t kParallelWithin = 32 * kMultiplyAddsPerChunk;
  const std::int64_t multiply_adds = a.rows * a.cols * b.cols;
  if (multiply_adds >= kParallelWithin) return multiply_range(0, count);
  parallel_for(0, count, grain_of(multiply_adds, kMultiplyAddsPerChunk), multiply_range);
}

void set_gemm_backend(GemmBackend backend) { chosen_backend = backend; }
GemmBackend gemm_backend() { return chosen_backend; }

namespace backends::cuda::matmul {

void set_allow_tf32(bool allow) { tf32 = allow; }
bool allow_tf32() { return tf32; }
void set_allow_fp16_reduced_precision_reduction(bool allow) { fp16_reduction = allow; }
bool allow_fp16_reduced_precision_reduction() { return fp16_reduction; }
void set_allow_relu_mask(bool allow) { relu_mask = allow; }
bool allow_relu_mask() { return relu_mask; }

}  // namespace backends::cuda::matmul

}  // namespace halfgrad
