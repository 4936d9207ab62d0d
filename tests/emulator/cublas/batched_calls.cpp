// Batches of LU and QR factorizations, of solutions and of matrix-vector products.
#include <cublas_v2.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "device.h"

namespace {

using Complex = std::complex<double>;
using Doubles = std::vector<double>;
using Complexes = std::vector<Complex>;

constexpr int kOrder = 6, kBatch = 3, kColumns = 2;
constexpr int kElements = kOrder * kOrder;

Complexes random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Complexes values(count);
  for (Complex& value : values) value = {uniform(random), uniform(random)};
  return values;
}
Doubles real_parts(const Complexes& values) {
  Doubles result;
  for (const Complex& value : values) result.push_back(value.real());
  return result;
}
double conjugate(double value) { return value; }
Complex conjugate(Complex value) { return std::conj(value); }

/// Pointers to matrices that lie `distance` elements apart.
template <class T>
std::vector<T*> pointers(T* data, int distance, int count = kBatch) {
  std::vector<T*> result;
  for (int i = 0; i < count; ++i) result.push_back(data + i * distance);
  return result;
}
cuDoubleComplex** as_cuda(Complex** pointers) {
  return reinterpret_cast<cuDoubleComplex**>(pointers);
}

/// op(A) X, column-major, for n x n matrices and `columns` columns.
template <class T>
std::vector<T> product(cublasOperation_t op, const T* a, const T* x, int columns) {
  std::vector<T> result(static_cast<std::size_t>(kOrder * columns));
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < kOrder; ++i) {
      for (int l = 0; l < kOrder; ++l) {
        const T value = op == CUBLAS_OP_N   ? a[l * kOrder + i]
                        : op == CUBLAS_OP_T ? a[i * kOrder + l]
                                            : conjugate(a[i * kOrder + l]);
        result[static_cast<std::size_t>(j * kOrder + i)] += value * x[j * kOrder + l];
      }
    }
  }
  return result;
}

class Batches : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS); }
  void TearDown() override { EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS); }
  cublasHandle_t handle = nullptr;
  const Complexes a_ = random_numbers(kElements * kBatch, 1);
  const Complexes x_ = random_numbers(kOrder * kColumns * kBatch, 2);
};

TEST_F(Batches, SolveWithTheirFactors) {
  for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    Complexes b;
    for (int i = 0; i < kBatch; ++i) {
      const Complexes one = product(op, &a_[i * kElements], &x_[i * kOrder * kColumns], kColumns);
      b.insert(b.end(), one.begin(), one.end());
    }
    Device<Complex> a(a_), right(b);
    Device<Complex*> pa(pointers(a.data, kElements)), pb(pointers(right.data, kOrder * kColumns));
    Device<int> pivots(std::vector<int>(kOrder * kBatch)), info(std::vector<int>(kBatch, 9));
    ASSERT_EQ(cublasZgetrfBatched(handle, kOrder, as_cuda(pa.data), kOrder, pivots.data, info.data,
                                  kBatch),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(info.host(), std::vector<int>(kBatch, 0));
    int host_info = 9;
    ASSERT_EQ(cublasZgetrsBatched(handle, op, kOrder, kColumns, as_cuda(pa.data), kOrder,
                                  pivots.data, as_cuda(pb.data), kOrder, &host_info, kBatch),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(host_info, 0);
    const Complexes solved = right.host();
    for (std::size_t i = 0; i < x_.size(); ++i) EXPECT_LT(std::abs(solved[i] - x_[i]), 1e-10);
  }
}

TEST_F(Batches, Invert) {
  const Doubles real = real_parts(a_);
  for (const bool at_once : {false, true}) {
    Device<double> a(real), inverse(Doubles(real.size(), NAN));
    Device<double*> pa(pointers(a.data, kElements)), pc(pointers(inverse.data, kElements));
    Device<int> pivots(std::vector<int>(kOrder * kBatch)), info(std::vector<int>(kBatch, 9));
    if (at_once) {
      ASSERT_EQ(
          cublasDmatinvBatched(handle, kOrder, pa.data, kOrder, pc.data, kOrder, info.data, kBatch),
          CUBLAS_STATUS_SUCCESS);
    } else {
      ASSERT_EQ(
          cublasDgetrfBatched(handle, kOrder, pa.data, kOrder, pivots.data, info.data, kBatch),
          CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ(cublasDgetriBatched(handle, kOrder, pa.data, kOrder, pivots.data, pc.data, kOrder,
                                    info.data, kBatch),
                CUBLAS_STATUS_SUCCESS);
    }
    const Doubles c = inverse.host();
    for (int batch = 0; batch < kBatch; ++batch) {
      const Doubles one =
          product(CUBLAS_OP_N, &real[batch * kElements], &c[batch * kElements], kOrder);
      for (int i = 0; i < kElements; ++i) EXPECT_NEAR(one[i], i % (kOrder + 1) == 0, 1e-9);
    }
  }
}

TEST_F(Batches, NameAPivotThatIsZero) {
  // The second column is twice the first one.
  Device<float> a(std::vector<float>{1, 2, 2, 4});
  Device<float*> pa(pointers(a.data, 4, 1));
  Device<int> pivots(std::vector<int>(2)), info(std::vector<int>(1));
  ASSERT_EQ(cublasSgetrfBatched(handle, 2, pa.data, 2, pivots.data, info.data, 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(info.host()[0], 2);
  EXPECT_EQ(pivots.host(), (std::vector<int>{2, 2}));
  EXPECT_EQ(a.host(), (std::vector<float>{2, 0.5f, 4, 0}));
}

TEST_F(Batches, FactorizeWithoutPivots) {
  Device<float> a(std::vector<float>{1, 2, 3, 8});
  Device<float*> pa(pointers(a.data, 4, 1));
  Device<int> info(std::vector<int>(1, 9));
  ASSERT_EQ(cublasSgetrfBatched(handle, 2, pa.data, 2, nullptr, info.data, 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(a.host(), (std::vector<float>{1, 2, 3, 2}));
}

TEST_F(Batches, FitALine) {
  // y = 1 + 2 t at t = 0, 1, 2, 3, in complex numbers: i y.
  const Complex i{0, 1};
  Device<Complex> a(Complexes{1, 1, 1, 1, 0, 1, 2, 3}), c(Complexes{i, 3. * i, 5. * i, 7. * i});
  Device<Complex*> pa(pointers(a.data, 8, 1)), pc(pointers(c.data, 4, 1));
  Device<int> zero_rows(std::vector<int>(1, 9));
  int info = 9;
  ASSERT_EQ(cublasZgelsBatched(handle, CUBLAS_OP_N, 4, 2, 1, as_cuda(pa.data), 4, as_cuda(pc.data),
                               4, &info, zero_rows.data, 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(info, 0);
  EXPECT_EQ(zero_rows.host()[0], 0);
  const Complexes fit = c.host();
  EXPECT_LT(std::abs(fit[0] - i), 1e-12);
  EXPECT_LT(std::abs(fit[1] - 2. * i), 1e-12);
  EXPECT_LT(std::abs(fit[2]) + std::abs(fit[3]), 1e-12);  // the residual
}

TEST_F(Batches, FactorizeAsLapackDoes) {
  Device<double> a(Doubles{3, 4, 1, 2}), tau(Doubles{0, 0});
  Device<double*> pa(pointers(a.data, 4, 1)), pt(pointers(tau.data, 2, 1));
  int info = 9;
  ASSERT_EQ(cublasDgeqrfBatched(handle, 2, 2, pa.data, 2, pt.data, &info, 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(info, 0);
  const Doubles qr = a.host();
  EXPECT_NEAR(qr[0], -5, 1e-12);
  EXPECT_NEAR(qr[1], 0.5, 1e-12);   // 4 / (3 + 5)
  EXPECT_NEAR(qr[2], -2.2, 1e-12);  // -(3 * 1 + 4 * 2) / 5
  EXPECT_NEAR(tau.host()[0], 1.6, 1e-12);
  EXPECT_EQ(tau.host()[1], 0);
}

TEST_F(Batches, MultiplyVectors) {
  const Doubles real = real_parts(a_), x = real_parts(x_);
  Device<double> a(real), in(x), out(Doubles(kOrder * kBatch, NAN)), again(out.host());
  const double one = 1, zero = 0;
  ASSERT_EQ(
      cublasDgemvStridedBatched(handle, CUBLAS_OP_T, kOrder, kOrder, &one, a.data, kOrder,
                                kElements, in.data, 1, kOrder, &zero, out.data, 1, kOrder, kBatch),
      CUBLAS_STATUS_SUCCESS);
  Device<double*> pa(pointers(a.data, kElements)), px(pointers(in.data, kOrder)),
      py(pointers(again.data, kOrder));
  ASSERT_EQ(cublasDgemvBatched(handle, CUBLAS_OP_T, kOrder, kOrder, &one, pa.data, kOrder, px.data,
                               1, &zero, py.data, 1, kBatch),
            CUBLAS_STATUS_SUCCESS);
  const Doubles y = out.host();
  EXPECT_EQ(y, again.host());
  for (int batch = 0; batch < kBatch; ++batch) {
    const Doubles expected = product(CUBLAS_OP_T, &real[batch * kElements], &x[batch * kOrder], 1);
    for (int i = 0; i < kOrder; ++i) EXPECT_NEAR(y[batch * kOrder + i], expected[i], 1e-12);
  }
}

TEST_F(Batches, SolveTriangularSystems) {
  for (int form = 0; form < 24; ++form) {
    const bool left = form & 1, lower = form & 2, unit = form & 4;
    const cublasOperation_t op = form < 8 ? CUBLAS_OP_N : form < 16 ? CUBLAS_OP_T : CUBLAS_OP_C;
    Complexes a(a_.begin(), a_.begin() + kElements), t(kElements);
    for (int j = 0; j < kOrder; ++j) {  // the other triangle of A is not read
      for (int i = 0; i < kOrder; ++i) {
        const int at = j * kOrder + i;
        if (i == j) a[at] += 3;
        if (lower ? i >= j : i <= j)
          t[at] = i == j && unit ? 1 : a[at];
        else
          a[at] = NAN;
      }
    }
    const Complexes x(a_.begin() + kElements, a_.begin() + 2 * kElements);
    Complexes b = product(op, t.data(), x.data(), kOrder);
    if (!left) {  // X op(A), column by column
      for (int j = 0; j < kOrder; ++j) {
        for (int i = 0; i < kOrder; ++i) {
          Complex sum = 0;
          for (int l = 0; l < kOrder; ++l) {
            const Complex plain = t[op == CUBLAS_OP_N ? j * kOrder + l : l * kOrder + j];
            sum += x[l * kOrder + i] * (op == CUBLAS_OP_C ? std::conj(plain) : plain);
          }
          b[j * kOrder + i] = sum;
        }
      }
    }
    Device<Complex> triangle(a), right(b);
    Device<Complex*> pa(pointers(triangle.data, kElements, 1)),
        pb(pointers(right.data, kElements, 1));
    const cuDoubleComplex one{1, 0};
    ASSERT_EQ(cublasZtrsmBatched(handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                                 lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER, op,
                                 unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, kOrder, kOrder,
                                 &one, as_cuda(pa.data), kOrder, as_cuda(pb.data), kOrder, 1),
              CUBLAS_STATUS_SUCCESS);
    const Complexes solved = right.host();
    for (int i = 0; i < kElements; ++i) {
      ASSERT_LT(std::abs(solved[i] - x[i]), 1e-9) << "form " << form;
    }
  }
}

TEST_F(Batches, RefuseWrongArguments) {
  int info = 0;
  EXPECT_EQ(cublasSgetrfBatched(handle, 4, nullptr, 3, nullptr, nullptr, 1),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      cublasSgetrsBatched(handle, CUBLAS_OP_N, 4, 1, nullptr, 3, nullptr, nullptr, 4, &info, 1),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(info, -5);
  EXPECT_EQ(
      cublasSgelsBatched(handle, CUBLAS_OP_N, 2, 4, 1, nullptr, 2, nullptr, 2, &info, nullptr, 1),
      CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(cublasSmatinvBatched(handle, 33, nullptr, 33, nullptr, 33, nullptr, 1),
            CUBLAS_STATUS_INVALID_VALUE);
}

}  // namespace
