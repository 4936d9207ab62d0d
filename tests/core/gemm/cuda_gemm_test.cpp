// Matrix products on a GPU, by cuBLASLt, by our kernel for a small C and by each lesson, within the
// error bounds of the CPU's.
#include <halfgrad/core/gemm.h>

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/core/gemm/gemm_matrix.h>
#include <halfgrad/tests/core/gemm/matrix_on_gpu.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

struct Product {
  DType operands, result;
  GemmBackend backend = GemmBackend::cublaslt;
};

std::string name_of(const Product& p) {
  constexpr const char* kBackends[] = {"automatic", "cublaslt", "small",
                                       "naive",     "tiled",    "tensor_core"};
  return std::string(name(p.operands)) + "_" + std::string(name(p.result)) + "_" +
         kBackends[static_cast<int>(p.backend)];
}

constexpr Product kProducts[] = {{kFloat64, kFloat64},
                                 {kFloat32, kFloat32},
                                 {kFloat16, kFloat16},
                                 {kBFloat16, kBFloat16},
                                 {kFloat16, kFloat32},
                                 {kBFloat16, kFloat32},
                                 {kFloat16, kFloat16, GemmBackend::small_product},
                                 {kBFloat16, kFloat32, GemmBackend::small_product},
                                 {kFloat16, kFloat16, GemmBackend::naive_lesson},
                                 {kFloat16, kFloat32, GemmBackend::naive_lesson},
                                 {kFloat16, kFloat16, GemmBackend::tiled_lesson},
                                 {kFloat16, kFloat32, GemmBackend::tiled_lesson},
                                 {kFloat16, kFloat16, GemmBackend::tensor_core_lesson},
                                 {kFloat16, kFloat32, GemmBackend::tensor_core_lesson}};

class GemmOnCuda : public ::testing::TestWithParam<Product> {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
    set_gemm_backend(GetParam().backend);
  }
  void TearDown() override { set_gemm_backend(GemmBackend::automatic); }

  Matrix operand(std::int64_t rows, std::int64_t cols,
                 MatrixLayout layout = MatrixLayout::rows) const {
    return Matrix(GetParam().operands, rows, cols, layout).randomize(unsigned(17 * rows + cols));
  }
  Matrix result(std::int64_t rows, std::int64_t cols,
                MatrixLayout layout = MatrixLayout::rows) const {
    return Matrix(GetParam().result, rows, cols, layout).randomize(99);
  }

  // Returns alpha A B + beta C + bias, computed on the GPU.
  static Matrix multiplied(double alpha, const Matrix& a, const Matrix& b, double beta,
                           const Matrix& c, const Matrix* bias = nullptr) {
    const MatrixOnGpu a_on_gpu(a), b_on_gpu(b), c_on_gpu(c),
        bias_on_gpu(bias != nullptr ? *bias : c);
    RowBias row;
    if (bias != nullptr) row = {bias_on_gpu.view().data, bias->dtype()};
    gemm(alpha, a_on_gpu.view(), b_on_gpu.view(), beta, c_on_gpu.mutable_view(), row);
    return c_on_gpu.fetched(c);
  }
};

INSTANTIATE_TEST_SUITE_P(Products, GemmOnCuda, ::testing::ValuesIn(kProducts),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(GemmOnCuda, EveryLayout) {
  for (const MatrixLayout la : kLayouts) {
    for (const MatrixLayout lb : kLayouts) {
      for (const MatrixLayout lc : kLayouts) {
        const Matrix a = operand(40, 24, la), b = operand(24, 56, lb), c = result(40, 56, lc);
        expect_product(0.5, a, b, 2, c, nullptr, multiplied(0.5, a, b, 2, c));
      }
    }
  }
}

TEST_P(GemmOnCuda, OddSizes) {
  for (const std::int64_t m : {0, 1, 7, 65, 130}) {
    for (const std::int64_t n : {0, 1, 8, 63, 129}) {
      for (const std::int64_t k : {0, 1, 8, 33, 300}) {
        for (const MatrixLayout layout : {MatrixLayout::rows, MatrixLayout::columns}) {
          const Matrix a = operand(m, k, layout), b = operand(k, n, layout), c = result(m, n);
          expect_product(1, a, b, -1, c, nullptr, multiplied(1, a, b, -1, c));
        }
      }
    }
  }
}

TEST_P(GemmOnCuda, AlphaBetaBias) {
  for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {-2.5, 0.0}, {-2.5, 0.75}}) {
    for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
      for (const MatrixLayout layout : kLayouts) {
        const Matrix a = operand(64, 32), b = operand(32, 80), c = result(64, 80, layout);
        const Matrix bias = Matrix(dtype, 1, 80).randomize(3);
        SCOPED_TRACE(::testing::Message()
                     << alpha << " A B + " << beta << " C, bias of " << name(dtype) << ", layout "
                     << static_cast<int>(layout));
        expect_product(alpha, a, b, beta, c, &bias, multiplied(alpha, a, b, beta, c, &bias));
      }
    }
  }
}

TEST_P(GemmOnCuda, MoreColumnsThanAGridHas) {
  if (GetParam().backend < GemmBackend::naive_lesson) {
    GTEST_SKIP() << "tests the grids of the lessons";
  }
  constexpr std::int64_t kCols = std::int64_t{65535} * 128 + 1;
  const Matrix a = operand(1, 1).fill(1), b = Matrix(kFloat16, 1, kCols).fill(1);
  const Matrix c(GetParam().result, 1, kCols);
  EXPECT_EQ(multiplied(1, a, b, 0, c).get(0, kCols - 1), 1);
}

TEST_P(GemmOnCuda, EqualCallsGiveEqualBits) {
  const Matrix a = operand(64, 5000), b = operand(5000, 64), c = result(64, 64);
  const Matrix first = multiplied(1, a, b, 0, c);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(multiplied(1, a, b, 0, c).bytes(), first.bytes());
}

TEST_P(GemmOnCuda, AccumulatesSixteenBitsInThirtyTwo) {
  if (!is_reduced(GetParam().operands)) GTEST_SKIP() << "tests 16-bit operands";
  // In fp16, 2048 + 1 is 2048, and in bf16 256 + 1 is 256.
  const Matrix a = operand(16, 4096).fill(1), b = operand(4096, 16).fill(1), c = result(16, 16);
  EXPECT_EQ(multiplied(1, a, b, 0, c).get(3, 5), 4096);
}

TEST_P(GemmOnCuda, StrideZeroRepeatsAnOperandOfABatch) {
  constexpr std::int64_t kCount = 5, kM = 16, kK = 24, kN = 40;
  for (const bool repeats_b : {false, true}) {
    const Matrix a = operand(kCount * kM, kK), b = operand((repeats_b ? 1 : kCount) * kK, kN);
    const Matrix c = result(kCount * kM, kN);
    const MatrixOnGpu a_on_gpu(a), b_on_gpu(b), c_on_gpu(c);
    MatrixView a_view = a_on_gpu.view(), b_view = b_on_gpu.view();
    MutableMatrixView c_view = c_on_gpu.mutable_view();
    a_view.rows = c_view.rows = kM, b_view.rows = kK;
    gemm_batched(kCount, 1, a_view, kM * kK, b_view, repeats_b ? 0 : kK * kN, 0, c_view, kM * kN);
    const Matrix actual = c_on_gpu.fetched(c);
    for (std::int64_t batch = 0; batch < kCount; ++batch) {
      const auto part = [](const Matrix& whole, std::int64_t from, std::int64_t rows) {
        Matrix part(whole.dtype(), rows, whole.cols());
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < whole.cols(); ++j) part.set(i, j, whole.get(from + i, j));
        }
        return part;
      };
      const Matrix part_c = part(actual, batch * kM, kM);
      expect_product(1, part(a, batch * kM, kM), part(b, repeats_b ? 0 : batch * kK, kK), 0, part_c,
                     nullptr, part_c);
    }
  }
}

TEST(GemmSettings, AreExactByDefault) {
  EXPECT_FALSE(backends::cuda::matmul::allow_tf32());
  EXPECT_FALSE(backends::cuda::matmul::allow_fp16_reduced_precision_reduction());
  EXPECT_EQ(gemm_backend(), GemmBackend::automatic);
  backends::cuda::matmul::set_allow_tf32(true);
  EXPECT_TRUE(backends::cuda::matmul::allow_tf32());
  backends::cuda::matmul::set_allow_tf32(false);
}

TEST(GemmSettings, MatricesOfTwoDevicesAreRefused) {
  const Matrix a(kFloat32, 2, 2);
  Matrix c(kFloat32, 2, 2);
  MatrixView on_gpu = a.view();
  on_gpu.device = kCUDA;
  EXPECT_THROW(gemm(1, on_gpu, a.view(), 0, c.view()), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
