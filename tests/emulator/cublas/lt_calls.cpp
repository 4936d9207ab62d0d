// Products and epilogues of the stand-in for cuBLASLt against sums on the host.
#include <cublasLt.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "device.h"

namespace {

/// D = relu(A B + bias) by cuBLASLt, with and without an algorithm from the heuristic.
class Lt : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatmulDescCreate(&matmul, CUBLAS_COMPUTE_32F, CUDA_R_32F),
              CUBLAS_STATUS_SUCCESS);
    cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, 8, 4, 8);
    cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, 4, 3, 4);
    cublasLtMatrixLayoutCreate(&d, CUDA_R_32F, 8, 3, 8);
    cublasLtMatmulPreferenceCreate(&preference);
  }
  void TearDown() override {
    cublasLtMatmulPreferenceDestroy(preference);
    for (cublasLtMatrixLayout_t layout : {a, b, d}) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(matmul);
    cublasLtDestroy(handle);
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    ASSERT_EQ(cublasLtMatmulDescSetAttribute(matmul, attribute, &value, sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }
  cublasStatus_t run(const void* x, const void* y, void* z,
                     const cublasLtMatmulAlgo_t* algorithm = nullptr) {
    const float one = 1, zero = 0;
    return cublasLtMatmul(handle, matmul, &one, x, a, y, b, &zero, z, d, z, d, algorithm, nullptr,
                          0, nullptr);
  }
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t matmul = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  const Floats x_ = random_floats(32, 6), y_ = random_floats(12, 7), bias_ = random_floats(8, 8);

  float product(int i, int j) const {
    float sum = 0;
    for (int l = 0; l < 4; ++l) sum += x_[l * 8 + i] * y_[j * 4 + l];
    return sum;
  }
};

TEST_F(Lt, AppliesReluWithBiasAndStoresItsMask) {
  Device<float> x(x_), y(y_), z(Floats(24)), bias(bias_);
  Device<unsigned char> aux(std::vector<unsigned char>(3 * 128 / 8));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias.data));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, static_cast<void*>(aux.data));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{128});
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  ASSERT_EQ(
      cublasLtMatmulAlgoGetHeuristic(handle, matmul, a, b, d, d, preference, 1, &found, &count),
      CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(count, 1);
  ASSERT_EQ(run(x.data, y.data, z.data, &found.algo), CUBLAS_STATUS_SUCCESS);
  const Floats result = z.host();
  unsigned char mask[3];  // 8 rows: a byte of each column
  for (int j = 0; j < 3; ++j) {
    ASSERT_EQ(cudaMemcpy(mask + j, aux.data + 16 * j, 1, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < 8; ++i) {
      const float expected = product(i, j) + bias_[i];
      EXPECT_EQ(result[j * 8 + i], expected > 0 ? expected : 0);
      EXPECT_EQ(mask[j] >> i & 1, expected > 0 ? 1 : 0);
    }
  }
}

TEST_F(Lt, AppliesGeluAndItsGradient) {
  Device<float> x(x_), y(y_), z(Floats(24)), aux(Floats(24));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, static_cast<void*>(aux.data));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{8});
  ASSERT_EQ(run(x.data, y.data, z.data), CUBLAS_STATUS_SUCCESS);
  const Floats inputs = aux.host(), values = z.host();
  Floats small(24);
  for (int i = 0; i < 24; ++i) small[i] = 0.25f * static_cast<float>(i) - 3;
  Device<float> points(small);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, static_cast<void*>(points.data));
  ASSERT_EQ(run(x.data, y.data, z.data), CUBLAS_STATUS_SUCCESS);
  const Floats slopes = z.host();
  const auto gelu = [](double v) {
    return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
  };
  for (int i = 0; i < 24; ++i) {
    const float in = product(i % 8, i / 8);
    EXPECT_EQ(inputs[i], in);
    EXPECT_NEAR(values[i], gelu(in), 1e-5);
    const double slope = (gelu(small[i] + 1e-5) - gelu(small[i] - 1e-5)) / 2e-5;
    EXPECT_NEAR(slopes[i], in * slope, 1e-4 * (1 + std::fabs(in)));
  }
}

TEST_F(Lt, SumsGradientsOfTheBias) {
  Device<float> x(x_), y(y_), z(Floats(24)), sums(Floats(3));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BGRADB);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(sums.data));
  ASSERT_EQ(run(x.data, y.data, z.data), CUBLAS_STATUS_SUCCESS);
  for (int j = 0; j < 3; ++j) {
    EXPECT_EQ(sums.host()[j], y_[4 * j] + y_[4 * j + 1] + y_[4 * j + 2] + y_[4 * j + 3]);
  }
}

TEST_F(Lt, ReadsMatricesInRowOrder) {
  const std::int32_t row = CUBLASLT_ORDER_ROW;
  const std::int64_t leading = 4;
  cublasLtMatrixLayoutSetAttribute(a, CUBLASLT_MATRIX_LAYOUT_ORDER, &row, sizeof row);
  cublasLtMatrixLayoutSetAttribute(a, CUBLASLT_MATRIX_LAYOUT_LD, &leading, sizeof leading);
  Floats by_row(32);
  for (int i = 0; i < 8; ++i) {
    for (int l = 0; l < 4; ++l) by_row[i * 4 + l] = x_[l * 8 + i];
  }
  Device<float> x(by_row), y(y_), z(Floats(24));
  ASSERT_EQ(run(x.data, y.data, z.data), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(z.host()[2 * 8 + 5], product(5, 2));
}

TEST_F(Lt, IsStrict) {
  Device<float> x(x_), y(y_), z(Floats(24));
  const std::int64_t leading = 7;
  cublasLtMatrixLayoutSetAttribute(a, CUBLASLT_MATRIX_LAYOUT_LD, &leading, sizeof leading);
  EXPECT_EQ(run(x.data, y.data, z.data), CUBLAS_STATUS_INVALID_VALUE);
  const std::int64_t good = 8;
  cublasLtMatrixLayoutSetAttribute(a, CUBLASLT_MATRIX_LAYOUT_LD, &good, sizeof good);
  set(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, std::int32_t{CUBLAS_COMPUTE_64F});
  EXPECT_EQ(run(x.data, y.data, z.data), CUBLAS_STATUS_NOT_SUPPORTED);
  set(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, std::int32_t{CUBLAS_COMPUTE_32F});
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  cublasLtMatmulAlgoGetHeuristic(handle, matmul, a, b, d, d, preference, 1, &found, &count);
  EXPECT_EQ(run(x.data + 1, y.data, z.data, &found.algo), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(run(x.data, y.data, z.data, &found.algo), CUBLAS_STATUS_SUCCESS);
}

// An algorithm is good for the epilogue that it was chosen for, and for others once it was checked.
TEST_F(Lt, ChecksAlgorithms) {
  Device<float> x(x_), y(y_), z(Floats(24));
  cublasLtMatmulHeuristicResult_t found{}, checked{};
  int count = 0;
  cublasLtMatmulAlgoGetHeuristic(handle, matmul, a, b, d, d, preference, 1, &found, &count);
  const auto check = [&] {
    return cublasLtMatmulAlgoCheck(handle, matmul, a, b, d, d, &found.algo, &checked);
  };
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU);
  EXPECT_EQ(run(x.data, y.data, z.data, &found.algo), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(check(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(checked.workspaceSize, found.workspaceSize);
  EXPECT_EQ(run(x.data, y.data, z.data, &found.algo), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(z.host()[2 * 8 + 5], std::fmax(product(5, 2), 0));
  const std::uint64_t columns = 2;
  cublasLtMatrixLayoutSetAttribute(b, CUBLASLT_MATRIX_LAYOUT_COLS, &columns, sizeof columns);
  cublasLtMatrixLayoutSetAttribute(d, CUBLASLT_MATRIX_LAYOUT_COLS, &columns, sizeof columns);
  EXPECT_EQ(check(), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Lt, GetsWhatWasSet) {
  set(CUBLASLT_MATMUL_DESC_TRANSB, std::int32_t{CUBLAS_OP_T});
  std::int32_t value = 0;
  std::size_t written = 0;
  EXPECT_EQ(cublasLtMatmulDescGetAttribute(matmul, CUBLASLT_MATMUL_DESC_TRANSB, &value,
                                           sizeof value, &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(value, CUBLAS_OP_T);
  EXPECT_EQ(written, sizeof value);
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_TRANSB, &value, 1),
            CUBLAS_STATUS_INVALID_VALUE);
}

}  // namespace
