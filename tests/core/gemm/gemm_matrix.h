#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/gemm.h>

namespace halfgrad {

enum class MatrixLayout { rows, columns, padded_rows, padded_columns, scattered };
inline constexpr MatrixLayout kLayouts[] = {MatrixLayout::rows, MatrixLayout::columns,
                                            MatrixLayout::padded_rows, MatrixLayout::padded_columns,
                                            MatrixLayout::scattered};

/// A matrix that owns its memory. Its elements are read and written as double.
class Matrix {
 public:
  Matrix(DType dtype, std::int64_t rows, std::int64_t cols,
         MatrixLayout layout = MatrixLayout::rows)
      : dtype_(dtype), rows_(rows), cols_(cols) {
    switch (layout) {
      case MatrixLayout::rows:
        row_stride_ = cols, col_stride_ = 1;
        break;
      case MatrixLayout::columns:
        row_stride_ = 1, col_stride_ = rows;
        break;
      case MatrixLayout::padded_rows:
        row_stride_ = cols + 3, col_stride_ = 1;
        break;
      case MatrixLayout::padded_columns:
        row_stride_ = 1, col_stride_ = rows + 5;
        break;
      case MatrixLayout::scattered:
        row_stride_ = 2, col_stride_ = 2 * rows + 1;
        break;
    }
    bytes_.resize(static_cast<size_t>((1 + std::max<std::int64_t>(0, rows - 1) * row_stride_ +
                                       std::max<std::int64_t>(0, cols - 1) * col_stride_) *
                                      item_size(dtype)));
  }

  Matrix& fill(double value) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < cols_; ++j) set(i, j, value);
    }
    return *this;
  }

  Matrix& randomize(unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < cols_; ++j) set(i, j, uniform(engine));
    }
    return *this;
  }

  double get(std::int64_t i, std::int64_t j) const {
    return visit(dtype_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T stored;
      std::memcpy(&stored, bytes_.data() + offset(i, j), sizeof stored);
      return static_cast<double>(static_cast<compute_t<T>>(stored));
    });
  }

  void set(std::int64_t i, std::int64_t j, double value) {
    visit(dtype_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T stored = static_cast<T>(static_cast<compute_t<T>>(value));
      std::memcpy(bytes_.data() + offset(i, j), &stored, sizeof stored);
    });
  }

  MatrixView view() const {
    return {bytes_.data(), dtype_, rows_, cols_, row_stride_, col_stride_};
  }
  MutableMatrixView view() {
    return {bytes_.data(), dtype_, rows_, cols_, row_stride_, col_stride_};
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  DType dtype() const { return dtype_; }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::int64_t offset(std::int64_t i, std::int64_t j) const {
    return (i * row_stride_ + j * col_stride_) * item_size(dtype_);
  }

  DType dtype_;
  std::int64_t rows_, cols_, row_stride_ = 0, col_stride_ = 0;
  std::vector<char> bytes_;
};

/// Expects |error| <= 4 roundoffs of the accumulator times the sum of the terms' magnitudes, and
/// one rounding of the result. (A sum of k terms has an error of k roundoffs at worst, and of about
/// one if the errors are a random walk.)
inline void expect_product(double alpha, const Matrix& a, const Matrix& b, double beta,
                           const Matrix& old_c, const Matrix* bias, const Matrix& c) {
  const double accumulator = roundoff(a.dtype() == kFloat64 ? kFloat64 : kFloat32);
  for (std::int64_t i = 0; i < c.rows(); ++i) {
    for (std::int64_t j = 0; j < c.cols(); ++j) {
      double sum = 0, magnitude = 0;
      for (std::int64_t k = 0; k < a.cols(); ++k) {
        sum += a.get(i, k) * b.get(k, j);
        magnitude += std::abs(a.get(i, k) * b.get(k, j));
      }
      double expected = alpha * sum;
      magnitude *= std::abs(alpha);
      if (beta != 0) {
        expected += beta * old_c.get(i, j);
        magnitude += std::abs(beta * old_c.get(i, j));
      }
      if (bias != nullptr) {
        expected += bias->get(0, j);
        magnitude += std::abs(bias->get(0, j));
      }
      const double tolerance = 4 * accumulator * magnitude +
                               (roundoff(c.dtype()) + accumulator) * std::abs(expected) +
                               (c.dtype() == kFloat16 ? 0x1p-25 : 0);
      ASSERT_NEAR(c.get(i, j), expected, tolerance) << "at " << i << ", " << j;
    }
  }
}

struct GemmDtypes {
  DType operands, result;
};
inline constexpr GemmDtypes kGemmDtypes[] = {{kFloat64, kFloat64}, {kFloat32, kFloat32},
                                             {kFloat16, kFloat16}, {kBFloat16, kBFloat16},
                                             {kFloat16, kFloat32}, {kBFloat16, kFloat32}};

inline std::ostream& operator<<(std::ostream& out, const GemmDtypes& dtypes) {
  return out << dtypes.operands << " to " << dtypes.result;
}

/// A test of matrix products with each operand and result dtype of kGemmDtypes.
class GemmTest : public ::testing::TestWithParam<GemmDtypes> {
 public:
  static std::string name_of(const ::testing::TestParamInfo<GemmDtypes>& info) {
    return std::string(name(info.param.operands)) + "_" + std::string(name(info.param.result));
  }

 protected:
  Matrix operand(std::int64_t rows, std::int64_t cols,
                 MatrixLayout layout = MatrixLayout::rows) const {
    return Matrix(GetParam().operands, rows, cols, layout).randomize(unsigned(17 * rows + cols));
  }
  Matrix result(std::int64_t rows, std::int64_t cols,
                MatrixLayout layout = MatrixLayout::rows) const {
    return Matrix(GetParam().result, rows, cols, layout).randomize(99);
  }
};

}  // namespace halfgrad
