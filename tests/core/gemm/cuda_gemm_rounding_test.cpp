// Products in which our kernel rounds one float32 operand to the 16 bits of the other: they have
// the bits of an operand that was cast before.
#include <cstdint>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/core/cuda/kernels/gemm_small.h>
#include <halfgrad/core/cuda/kernels/gemm_small_plan.h>
#include <halfgrad/tests/core/gemm/gemm_matrix.h>
#include <halfgrad/tests/core/gemm/matrix_on_gpu.h>
#include <halfgrad/tests/core/numbers/special_floats.h>

namespace halfgrad {
namespace {

using detail::Activation;
using detail::Epilogue;
using detail::GemmCall;

GemmCall rounding_call(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                       const Epilogue& epilogue = {}) {
  return {.count = 1, .alpha = 1, .a = a, .b = b, .c = c, .epilogue = epilogue};
}

// The same elements in another dtype.
Matrix cast(const Matrix& from, DType dtype, MatrixLayout layout) {
  Matrix to(dtype, from.rows(), from.cols(), layout);
  for (std::int64_t i = 0; i < from.rows(); ++i) {
    for (std::int64_t j = 0; j < from.cols(); ++j) to.set(i, j, from.get(i, j));
  }
  return to;
}

class RoundingProductOnCuda : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
    set_gemm_backend(GemmBackend::small_product);
  }
  void TearDown() override { set_gemm_backend(GemmBackend::automatic); }

  static Matrix narrow(std::int64_t rows, std::int64_t cols, MatrixLayout layout) {
    return Matrix(GetParam(), rows, cols, layout).randomize(unsigned(17 * rows + cols));
  }
  // Few of its elements are 16-bit values.
  static Matrix wide(std::int64_t rows, std::int64_t cols,
                     MatrixLayout layout = MatrixLayout::rows) {
    return Matrix(kFloat32, rows, cols, layout).randomize(unsigned(31 * rows + cols));
  }

  // C by the kernel, or nothing if it does not take the operands.
  static std::optional<Matrix> product(const Matrix& a, const Matrix& b,
                                       const Epilogue& epilogue = {}) {
    const Matrix old = Matrix(GetParam(), a.rows(), b.cols()).fill(99);
    const MatrixOnGpu a_there(a), b_there(b), c_there(old);
    const bool done = detail::multiply_small(
        rounding_call(a_there.view(), b_there.view(), c_there.mutable_view(), epilogue));
    return done ? std::optional(c_there.fetched(old)) : std::nullopt;
  }

  static void expect_same_bits(const std::optional<Matrix>& c,
                               const std::optional<Matrix>& expected) {
    ASSERT_TRUE(c && expected);
    EXPECT_EQ(c->bytes(), expected->bytes());
  }
  // y = x w^T: rows along k. The kernel of a cast x may have another layout.
  static void expect_rounds_a(const Matrix& x, std::int64_t n, MatrixLayout layout,
                              const Epilogue& epilogue = {}) {
    const Matrix w_t = narrow(x.cols(), n, MatrixLayout::columns);
    SCOPED_TRACE(std::to_string(x.rows()) + " by " + std::to_string(n) + " by " +
                 std::to_string(x.cols()) + ", layout " + std::to_string(int(layout)));
    expect_same_bits(product(cast(x, kFloat32, layout), w_t, epilogue),
                     product(cast(x, GetParam(), MatrixLayout::rows), w_t, epilogue));
  }
  // dw = dy^T x: rows across k.
  static void expect_rounds_b(std::int64_t m, const Matrix& x, MatrixLayout layout) {
    const Matrix dy_t = narrow(m, x.rows(), MatrixLayout::columns);
    SCOPED_TRACE(std::to_string(m) + " by " + std::to_string(x.cols()) + " by " +
                 std::to_string(x.rows()) + ", layout " + std::to_string(int(layout)));
    expect_same_bits(product(dy_t, cast(x, kFloat32, layout)),
                     product(dy_t, cast(x, GetParam(), MatrixLayout::rows)));
  }
};

INSTANTIATE_TEST_SUITE_P(Dtypes, RoundingProductOnCuda, ::testing::Values(kFloat16, kBFloat16),
                         [](const auto& info) { return std::string(name(info.param)); });

// Sizes around the multiples of a chunk, a fragment, a tile and a step. Padded rows of float32 are
// aligned to 4 bytes.
TEST_P(RoundingProductOnCuda, HasTheBitsOfACastOperandForEverySize) {
  for (const MatrixLayout layout : {MatrixLayout::rows, MatrixLayout::padded_rows}) {
    for (const std::int64_t size : {2, 3, 7, 8, 9, 17, 31, 33, 64, 65, 129, 136, 784}) {
      expect_rounds_a(wide(size, 18), 10, layout);
      expect_rounds_a(wide(9, size), 34, layout);
      expect_rounds_b(10, wide(size, 17), layout);
      expect_rounds_b(34, wide(9, size), layout);
    }
  }
}

TEST_P(RoundingProductOnCuda, HasTheBitsOfACastOperandForEveryPlan) {
  struct Case {
    int tile;
    bool parts;
    std::int64_t m, n, k;
  };
  for (const Case& each : {Case{32, false, 70, 34, 300}, Case{32, true, 33, 10, 8200},
                           Case{64, false, 70, 3137, 200}, Case{64, true, 33, 993, 4100}}) {
    const auto plan = detail::plan_small_product(each.m, each.n, each.k);
    ASSERT_EQ(plan.tile, each.tile);
    ASSERT_EQ(plan.parts > 1, each.parts);
    expect_rounds_a(wide(each.m, each.k), each.n, MatrixLayout::rows);
    expect_rounds_b(each.m, wide(each.k, each.n), MatrixLayout::rows);
  }
}

// Values that a cast rounds to inf, to the largest finite number, to a subnormal, to 0, to even.
TEST_P(RoundingProductOnCuda, RoundsSpecialValuesAsACastDoes) {
  const float specials[] = {kInf,         -kInf,     kNaN,       0.0F,        -0.0F,
                            65519,        65520,     -65520,     1e30F,       3.4e38F,
                            0x1p-24F,     0x1p-25F,  0x1.8p-25F, -0x1p-26F,   0x1.002p0F,
                            0x1.006p0F,   0x1.01p0F, 0x1.03p0F,  0x1p-126F,   0x1p-133F,
                            -0x1.8p-134F, 0x1p-149F, 0x1p-14F,   0x1.ffcp-15F};
  constexpr std::int64_t kCount = std::size(specials), kOthers = 40;
  Matrix x = Matrix(kFloat32, kCount, kOthers).fill(0);  // a row for each: none hides another
  for (std::int64_t i = 0; i < kCount; ++i) x.set(i, i + 3, specials[i]);
  expect_rounds_a(x, 33, MatrixLayout::rows);
  expect_rounds_b(33, x, MatrixLayout::rows);
  Matrix identity(GetParam(), kOthers, kOthers, MatrixLayout::columns);
  for (std::int64_t i = 0; i < kOthers; ++i) identity.set(i, i, 1);
  const std::optional<Matrix> y = product(x, identity);
  ASSERT_TRUE(y);
  for (std::int64_t i = 3; i < kCount; ++i) {
    Matrix rounded(GetParam(), 1, 1);
    rounded.set(0, 0, specials[i]);
    EXPECT_EQ(y->get(i, i + 3), rounded.get(0, 0)) << specials[i];
  }
}

TEST_P(RoundingProductOnCuda, HasTheBitsOfACastOperandWithEveryEpilogue) {
  const Matrix x = wide(40, 264), bias = Matrix(kFloat32, 1, 35).randomize(3);
  const MatrixOnGpu there(bias);
  for (const Activation activation : {Activation::none, Activation::relu}) {
    expect_rounds_a(x, 35, MatrixLayout::rows,
                    {.bias = {there.view().data, kFloat32}, .activation = activation});
  }
  const Matrix dy_t = narrow(34, 40, MatrixLayout::columns),
               sums = Matrix(GetParam(), 34, 1).fill(9);
  const MatrixOnGpu of_wide(sums), of_cast(sums);
  expect_same_bits(product(dy_t, x, {.row_sums_of_a = of_wide.mutable_view().data}),
                   product(dy_t, cast(x, GetParam(), MatrixLayout::rows),
                           {.row_sums_of_a = of_cast.mutable_view().data}));
  EXPECT_EQ(of_wide.fetched(sums).bytes(), of_cast.fetched(sums).bytes());
  EXPECT_NE(of_wide.fetched(sums).bytes(), sums.bytes());
}

TEST_P(RoundingProductOnCuda, LeavesOtherOperandsToTheCaller) {
  const Matrix x = wide(40, 24), other = wide(24, 40, MatrixLayout::columns);
  const auto by_rows = narrow(24, 40, MatrixLayout::rows),
             by_columns = narrow(24, 40, MatrixLayout::columns);
  EXPECT_TRUE(product(x, by_columns));
  EXPECT_FALSE(product(x, by_rows));
  EXPECT_FALSE(product(wide(40, 24, MatrixLayout::columns), by_columns));
  EXPECT_FALSE(product(x, other));  // both are float32
  EXPECT_TRUE(product(narrow(40, 24, MatrixLayout::columns), wide(24, 40)));
  EXPECT_FALSE(product(narrow(40, 24, MatrixLayout::rows), wide(24, 40)));
  EXPECT_FALSE(product(narrow(40, 24, MatrixLayout::columns), other));
  const DType another = GetParam() == kFloat16 ? kBFloat16 : kFloat16;
  EXPECT_FALSE(product(cast(x, another, MatrixLayout::rows), by_columns));
  const MatrixOnGpu a(x), b(by_rows), c(wide(40, 40));
  EXPECT_FALSE(detail::gemm_on_cuda(rounding_call(a.view(), b.view(), c.mutable_view())));
}

// On its own cuBLASLt is faster for y = x w^T.
TEST_P(RoundingProductOnCuda, AutomaticTakesIt) {
  set_gemm_backend(GemmBackend::automatic);
  const Matrix x = wide(40, 264), w_t = narrow(264, 32, MatrixLayout::columns);
  const MatrixOnGpu wide_x(x), cast_x(cast(x, GetParam(), MatrixLayout::rows)), w_there(w_t);
  const MatrixOnGpu c(Matrix(GetParam(), 40, 32));
  GemmCall call = rounding_call(cast_x.view(), w_there.view(), c.mutable_view());
  EXPECT_FALSE(detail::multiply_small(call));
  call.rounds_operand = true;
  EXPECT_TRUE(detail::multiply_small(call));
  call.a = wide_x.view();
  EXPECT_TRUE(detail::multiply_small(call));
  set_gemm_backend(GemmBackend::cublaslt);
  EXPECT_FALSE(detail::multiply_small(call));
}

}  // namespace
}  // namespace halfgrad
