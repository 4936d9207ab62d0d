// A program that uses cuBLAS and cuBLASLt, linked with the stand-ins, against products on the host.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "device.h"

namespace {

/// op(A)(i, j) of a column-major matrix.
float element(const Floats& a, int ld, bool transposed, int i, int j) {
  return transposed ? a[static_cast<std::size_t>(i) * ld + j]
                    : a[static_cast<std::size_t>(j) * ld + i];
}

class Blas : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS); }
  void TearDown() override { EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS); }
  cublasHandle_t handle = nullptr;
};

TEST_F(Blas, MultipliesInAllOrientations) {
  const int m = 13, n = 9, k = 21, ld = 30;
  const Floats a = random_floats(ld * ld, 1), b = random_floats(ld * ld, 2),
               c = random_floats(ld * ld, 3);
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      Device<float> x(a), y(b), z(c);
      const float alpha = 2, beta = -1;
      ASSERT_EQ(cublasSgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                            m, n, k, &alpha, x.data, ld, y.data, ld, &beta, z.data, ld),
                CUBLAS_STATUS_SUCCESS);
      const Floats result = z.host();
      for (int j = 0; j < ld; ++j) {
        for (int i = 0; i < ld; ++i) {
          const auto at = static_cast<std::size_t>(j) * ld + i;
          float expected = c[at];
          if (i < m && j < n) {
            float sum = 0;
            for (int l = 0; l < k; ++l) sum += element(a, ld, ta, i, l) * element(b, ld, tb, l, j);
            expected = 2 * sum - c[at];
          }
          ASSERT_EQ(result[at], expected) << i << ", " << j << " " << ta << tb;
        }
      }
    }
  }
}

TEST_F(Blas, ComputesLevelOne) {
  const Floats x{3, -4, 0, 12}, y{1, 2, 3, 4};
  Device<float> a(x), b(y);
  float result = 0;
  int index = 0;
  EXPECT_EQ(cublasSnrm2(handle, 4, a.data, 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result, 13);
  cublasSasum(handle, 4, a.data, 1, &result);
  EXPECT_EQ(result, 19);
  cublasSdot(handle, 2, a.data, 2, b.data, -1, &result);  // 3 * 2 + 0 * 1
  EXPECT_EQ(result, 6);
  cublasIsamax(handle, 4, a.data, 1, &index);
  EXPECT_EQ(index, 4);
  cublasIsamin(handle, 4, a.data, 1, &index);
  EXPECT_EQ(index, 3);
  const float alpha = 2;
  cublasSaxpy(handle, 4, &alpha, a.data, 1, b.data, 1);
  EXPECT_EQ(b.host(), (Floats{7, -6, 3, 28}));
  cublasSscal(handle, 2, &alpha, b.data, 2);
  EXPECT_EQ(b.host(), (Floats{14, -6, 6, 28}));
  cublasSswap(handle, 4, a.data, 1, b.data, 1);
  EXPECT_EQ(b.host(), x);
  const float c = 0, s = 1;
  cublasSrot(handle, 4, a.data, 1, b.data, 1, &c, &s);
  EXPECT_EQ(a.host(), x);
}

TEST_F(Blas, WritesResultsToTheDevice) {
  Device<float> x(Floats{1, 2, 3}), result(Floats{0});
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  EXPECT_EQ(cublasSdot(handle, 3, x.data, 1, x.data, 1, result.data), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result.host()[0], 14);
}

TEST_F(Blas, SolvesTriangularSystems) {
  const int n = 5, m = 3;
  for (int form = 0; form < 16; ++form) {
    const bool left = form & 1, lower = form & 2, transposed = form & 4, unit = form & 8;
    const int size = left ? n : m;
    std::vector<double> a(static_cast<std::size_t>(size) * size, NAN), x(n * m), b(n * m);
    for (int j = 0; j < size; ++j) {
      for (int i = 0; i < size; ++i) {
        if (lower ? i >= j : i <= j) a[j * size + i] = i == j ? 4 : 1 + i - 0.5 * j;
      }
    }
    for (int i = 0; i < n * m; ++i) x[i] = i % 7 - 3;
    const auto t = [&](int i, int j) {
      if (transposed) std::swap(i, j);
      if (lower ? i < j : i > j) return 0.0;
      return i == j && unit ? 1.0 : a[j * size + i];
    };
    for (int j = 0; j < m; ++j) {  // B = op(A) X or X op(A), n x m
      for (int i = 0; i < n; ++i) {
        for (int l = 0; l < size; ++l) {
          b[j * n + i] += left ? t(i, l) * x[j * n + l] : x[l * n + i] * t(l, j);
        }
      }
    }
    Device<double> da(a), db(b);
    const double alpha = 1;
    ASSERT_EQ(cublasDtrsm(handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                          lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER,
                          transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                          unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, n, m, &alpha, da.data,
                          size, db.data, n),
              CUBLAS_STATUS_SUCCESS);
    const std::vector<double> solved = db.host();
    for (int i = 0; i < n * m; ++i) ASSERT_NEAR(solved[i], x[i], 1e-9) << "form " << form;
  }
}

TEST_F(Blas, FactorisesAndInvertsBatches) {
  // The first matrix needs its rows exchanged, the second is singular: U(2, 2) is 0.
  const std::vector<double> a{0, 2, 1, 1, 1, 3, 4, 0, 1, 1, 2, 3, 2, 4, 6, 5, 1, 7};
  const int n = 3, count = 2;
  Device<double> matrices(a), inverses(std::vector<double>(18));
  const auto pointers = [&](double* data) { return std::vector<double*>{data, data + n * n}; };
  Device<double*> of_matrices(pointers(matrices.data)), of_inverses(pointers(inverses.data));
  Device<int> pivots(std::vector<int>(6)), info(std::vector<int>(2));
  ASSERT_EQ(cublasDgetrfBatched(handle, n, of_matrices.data, n, pivots.data, info.data, count),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(info.host()[0], 0);
  EXPECT_NE(info.host()[1], 0);
  EXPECT_EQ(pivots.host()[0], 2);
  ASSERT_EQ(cublasDgetriBatched(handle, n, of_matrices.data, n, pivots.data, of_inverses.data, n,
                                info.data, count),
            CUBLAS_STATUS_SUCCESS);
  const std::vector<double> inverse = inverses.host();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += a[k * n + i] * inverse[j * n + k];
      EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-12) << i << ' ' << j;
    }
  }
  EXPECT_NE(info.host()[1], 0);
}

TEST_F(Blas, MultipliesBatches) {
  const int n = 4, count = 3;
  const Floats a = random_floats(n * n * count, 4), b = random_floats(n * n * count, 5);
  Device<float> x(a), y(b), z(Floats(n * n * count)), w(Floats(n * n * count));
  const float one = 1, zero = 0;
  ASSERT_EQ(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, x.data, n,
                                      n * n, y.data, n, n * n, &zero, z.data, n, n * n, count),
            CUBLAS_STATUS_SUCCESS);
  const auto pointers = [&](float* data) {
    std::vector<float*> all;
    for (int i = 0; i < count; ++i) all.push_back(data + i * n * n);
    return all;
  };
  Device<float*> px(pointers(x.data)), py(pointers(y.data)), pw(pointers(w.data));
  ASSERT_EQ(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, px.data, n, py.data,
                               n, &zero, pw.data, n, count),
            CUBLAS_STATUS_SUCCESS);
  const Floats result = z.host();
  EXPECT_EQ(result, w.host());
  float expected = 0;  // element (1, 2) of the last product
  for (int l = 0; l < n; ++l) expected += a[2 * n * n + l * n + 1] * b[2 * n * n + 2 * n + l];
  EXPECT_EQ(result[2 * n * n + 2 * n + 1], expected);
}

TEST_F(Blas, RefusesWrongArguments) {
  const float one = 1;
  Device<float> x(Floats(16));
  EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x.data, 3, x.data, 4, &one,
                        x.data, 4),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x.data, 4, x.data, 4,
                        &one, x.data, 4),
            CUBLAS_STATUS_NOT_INITIALIZED);
}

TEST_F(Blas, MultipliesLargeMatricesFast) {
  const int n = 512;
  Device<float> x(Floats(n * n, 1)), y(Floats(n * n, 2)), z(Floats(n * n));
  const float one = 1, zero = 0;
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, x.data, n, y.data, n,
                        &zero, z.data, n),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(z.host()[n + 1], 2 * n);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("gflops", std::to_string(2e-9 * n * n * n / seconds.count()));
}

TEST(UnknownFunction, EndsWithItsName) {
  EXPECT_EXIT(
      cublasCherk(nullptr, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 0, 0, nullptr, nullptr, 0, nullptr,
                  nullptr, 0),
      [](int code) { return code != 0; }, "cublasCherk");
}

}  // namespace
