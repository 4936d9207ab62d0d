// Complex vectors and matrices in cuBLAS.
#include <cublas_v2.h>
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "device.h"

namespace {

using Complex = std::complex<float>;
using Complexes = std::vector<Complex>;

cuComplex* as_cuda(Complex* data) { return reinterpret_cast<cuComplex*>(data); }

class ComplexBlas : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS); }
  void TearDown() override { EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS); }
  cublasHandle_t handle = nullptr;
};

/// Small integers, so that sums are exact.
Complexes numbers(int count, int seed) {
  Complexes values;
  for (int i = 0; i < count; ++i) {
    values.emplace_back(static_cast<float>((i * 7 + seed) % 9 - 4),
                        static_cast<float>((i * 5 + seed) % 7 - 3));
  }
  return values;
}

/// op(A)(i, j)
Complex element(const Complexes& a, int ld, cublasOperation_t op, int i, int j) {
  if (op == CUBLAS_OP_N) return a[j * ld + i];
  return op == CUBLAS_OP_T ? a[i * ld + j] : std::conj(a[i * ld + j]);
}

TEST_F(ComplexBlas, MultipliesInAllOrientations) {
  const int m = 4, n = 3, k = 5, ld = 6;
  const Complexes a = numbers(ld * ld, 1), b = numbers(ld * ld, 2), c = numbers(ld * ld, 3);
  const Complex alpha{0, 2}, beta{1, -1};
  for (const cublasOperation_t op_a : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    for (const cublasOperation_t op_b : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      Device<Complex> x(a), y(b), z(c);
      ASSERT_EQ(cublasCgemm(handle, op_a, op_b, m, n, k, reinterpret_cast<const cuComplex*>(&alpha),
                            as_cuda(x.data), ld, as_cuda(y.data), ld,
                            reinterpret_cast<const cuComplex*>(&beta), as_cuda(z.data), ld),
                CUBLAS_STATUS_SUCCESS);
      const Complexes result = z.host();
      for (int j = 0; j < ld; ++j) {
        for (int i = 0; i < ld; ++i) {
          Complex expected = c[j * ld + i];
          if (i < m && j < n) {
            Complex sum = 0;
            for (int l = 0; l < k; ++l) {
              sum += element(a, ld, op_a, i, l) * element(b, ld, op_b, l, j);
            }
            expected = alpha * sum + beta * expected;
          }
          ASSERT_EQ(result[j * ld + i], expected) << i << ", " << j;
        }
      }
    }
  }
}

TEST_F(ComplexBlas, MultipliesBatches) {
  const int n = 2, count = 2, size = n * n;
  const Complexes a = numbers(size * count, 1), b = numbers(size * count, 4);
  Device<Complex> x(a), y(b), z(Complexes(size * count)), w(z.host());
  const cuComplex one{1, 0}, zero{0, 0};
  ASSERT_EQ(cublasCgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one,
                                      as_cuda(x.data), n, size, as_cuda(y.data), n, size, &zero,
                                      as_cuda(z.data), n, size, count),
            CUBLAS_STATUS_SUCCESS);
  const auto both = [&](Complex* data) {
    return std::vector<cuComplex*>{as_cuda(data), as_cuda(data + size)};
  };
  Device<cuComplex*> px(both(x.data)), py(both(y.data)), pw(both(w.data));
  ASSERT_EQ(cublasCgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, px.data, n, py.data,
                               n, &zero, pw.data, n, count),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(z.host(), w.host());
  EXPECT_EQ(z.host()[size + 1], a[size + 1] * b[size] + a[size + 3] * b[size + 1]);
}

TEST_F(ComplexBlas, ComputesLevelOne) {
  const Complexes u{{1, 2}, {3, -1}, {0, 4}}, v{{2, 0}, {1, 1}, {-1, 2}};
  Device<Complex> x(u), y(v);
  Complex sum;
  cublasCdotu(handle, 3, as_cuda(x.data), 1, as_cuda(y.data), 1,
              reinterpret_cast<cuComplex*>(&sum));
  EXPECT_EQ(sum, u[0] * v[0] + u[1] * v[1] + u[2] * v[2]);
  cublasCdotc(handle, 2, as_cuda(x.data), 2, as_cuda(y.data), -2,
              reinterpret_cast<cuComplex*>(&sum));  // a negative stride begins at the end
  EXPECT_EQ(sum, std::conj(u[0]) * v[2] + std::conj(u[2]) * v[0]);
  float norm = 0;
  cublasScnrm2(handle, 2, as_cuda(y.data), 1, &norm);
  EXPECT_FLOAT_EQ(norm, std::sqrt(6.0f));
  cublasScasum(handle, 3, as_cuda(x.data), 1, &norm);
  EXPECT_EQ(norm, 11);
  const cuComplex i{0, 1};
  cublasCaxpy(handle, 3, &i, as_cuda(x.data), 1, as_cuda(y.data), 1);
  EXPECT_EQ(y.host()[0], v[0] + Complex(0, 1) * u[0]);
  const float two = 2;
  cublasCsscal(handle, 3, &two, as_cuda(x.data), 1);
  EXPECT_EQ(x.host()[1], u[1] * 2.0f);
  cublasCscal(handle, 1, &i, as_cuda(x.data), 1);
  EXPECT_EQ(x.host()[0], Complex(-4, 2));
  cublasCcopy(handle, 3, as_cuda(x.data), 1, as_cuda(y.data), 1);
  EXPECT_EQ(x.host(), y.host());
}

TEST_F(ComplexBlas, WritesResultsToTheDevice) {
  Device<Complex> x(Complexes{{1, 1}, {2, -1}}), result(Complexes(1));
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  ASSERT_EQ(cublasCdotc(handle, 2, as_cuda(x.data), 1, as_cuda(x.data), 1, as_cuda(result.data)),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result.host()[0], Complex(7, 0));
}

TEST_F(ComplexBlas, MultipliesVectors) {
  const Complexes a = numbers(6, 1), v = numbers(3, 2);
  Device<Complex> matrix(a), x(v), y(Complexes(3, Complex(1, 0)));
  const cuComplex one{1, 0};
  ASSERT_EQ(cublasCgemv(handle, CUBLAS_OP_C, 2, 3, &one, as_cuda(matrix.data), 2, as_cuda(x.data),
                        1, &one, as_cuda(y.data), 1),
            CUBLAS_STATUS_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(y.host()[i],
              Complex(1, 0) + std::conj(a[2 * i]) * v[0] + std::conj(a[2 * i + 1]) * v[1]);
  }
}

}  // namespace
