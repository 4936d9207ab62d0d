// Our kernel for products with a small C: every layout and tail, its bits, and which products it
// takes.
#include <halfgrad/core/cuda/kernels/gemm_small.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/cuda/kernels/gemm_small_plan.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/tests/core/gemm/gemm_small.h>
#include <halfgrad/tests/core/numbers/special_floats.h>

namespace halfgrad {
namespace {

using detail::Activation;
using detail::GemmCall;

constexpr MatrixLayout kUnitStrides[] = {MatrixLayout::rows, MatrixLayout::columns,
                                         MatrixLayout::padded_rows, MatrixLayout::padded_columns};

using SmallProductOnCuda = SmallProductTest;
INSTANTIATE_TEST_SUITE_P(Products, SmallProductOnCuda, ::testing::ValuesIn(kSmallProductDtypes),
                         GemmTest::name_of);

TEST_P(SmallProductOnCuda, EveryLayout) {
  for (const MatrixLayout la : kUnitStrides) {
    for (const MatrixLayout lb : kUnitStrides) {
      for (const MatrixLayout lc : kLayouts) expect_right(40, 26, 24, la, lb, lc);
    }
  }
}

// Sizes around the multiples of a chunk, a fragment, a tile and a step, in every dimension.
TEST_P(SmallProductOnCuda, Tails) {
  for (const std::int64_t size : {1, 2, 7, 8, 9, 10, 15, 16, 17, 63, 64, 65, 127, 128, 129, 784}) {
    for (const MatrixLayout la : {MatrixLayout::rows, MatrixLayout::columns}) {
      for (const MatrixLayout lb : {MatrixLayout::rows, MatrixLayout::columns}) {
        expect_right(size, 10, 17, la, lb);
        expect_right(9, size, 18, la, lb);
        expect_right(10, 9, size, la, lb);
      }
    }
    expect_right(size, size, 2);
  }
}

// Rows aligned to 16 bytes, and tiles inside the operands: most steps copy whole chunks without a
// test, and must stop to do so where k ends within a step.
TEST_P(SmallProductOnCuda, AlignedOperandsWithATailOfK) {
  for (const std::int64_t k : {8, 64, 72, 128, 136, 192, 264, 784}) {
    for (const MatrixLayout la : {MatrixLayout::rows, MatrixLayout::columns}) {
      for (const MatrixLayout lb : {MatrixLayout::rows, MatrixLayout::columns})
        expect_right(72, 40, k, la, lb);
    }
  }
  ASSERT_EQ(detail::plan_small_product(72, 3136, 136).tile, 64);
  expect_right(72, 3136, 136, MatrixLayout::rows, MatrixLayout::columns);
  expect_right(72, 3136, 136, MatrixLayout::columns, MatrixLayout::rows);
}

TEST_P(SmallProductOnCuda, TilesWithOneAndMoreParts) {
  struct Case {
    int tile;
    bool parts;
    std::int64_t m, n, k;
  };
  for (const Case& each : {Case{32, false, 70, 34, 300}, Case{32, true, 33, 10, 8200},
                           Case{64, false, 70, 3137, 35}}) {
    const auto plan = detail::plan_small_product(each.m, each.n, each.k);
    ASSERT_EQ(plan.tile, each.tile);
    ASSERT_EQ(plan.parts > 1, each.parts);
    expect_right(each.m, each.n, each.k, MatrixLayout::rows, MatrixLayout::columns);
    expect_right(each.m, each.n, each.k, MatrixLayout::columns, MatrixLayout::rows);
  }
}

// The reference computes three of the 33 rows.
TEST_P(SmallProductOnCuda, LargeTilesWithMoreParts) {
  constexpr std::int64_t kM = 33, kN = 993, kK = 4100;
  const auto plan = detail::plan_small_product(kM, kN, kK);
  ASSERT_EQ(plan.tile, 64);
  ASSERT_GT(plan.parts, 1);
  const auto some_rows = [](const Matrix& from) {
    Matrix to(from.dtype(), 3, from.cols());
    for (std::int64_t i = 0; i < to.rows(); ++i) {
      for (std::int64_t j = 0; j < to.cols(); ++j) to.set(i, j, from.get(16 * i, j));
    }
    return to;
  };
  for (const bool transposed : {false, true}) {
    const Matrix a = operand(kM, kK, transposed ? MatrixLayout::columns : MatrixLayout::rows);
    const Matrix b = operand(kK, kN, transposed ? MatrixLayout::rows : MatrixLayout::columns);
    const Matrix product = some_rows(multiplied(a, b, result(kM, kN)));
    expect_product(1, some_rows(a), b, 0, product, nullptr, product);
  }
}

// With chunks of 16, of 4 and of 2 bytes; they end at the last byte of the memory.
TEST_P(SmallProductOnCuda, EveryAlignmentAndLayoutGivesTheSameBits) {
  constexpr std::int64_t kM = 40, kN = 35, kK = 1500;
  ASSERT_GT(detail::plan_small_product(kM, kN, kK).parts, 1);
  const Matrix a = operand(kM, kK), b = operand(kK, kN), c = result(kM, kN);
  const Matrix expected = multiplied(a, b, c);
  const auto shifted = [](const Matrix& from, std::int64_t by, MatrixLayout layout) {
    const bool down = layout == MatrixLayout::columns;
    Matrix to(from.dtype(), from.rows() + (down ? by : 0), from.cols() + (down ? 0 : by), layout);
    to.fill(kInf);
    for (std::int64_t i = 0; i < from.rows(); ++i) {
      for (std::int64_t j = 0; j < from.cols(); ++j) {
        to.set(i + (down ? by : 0), j + (down ? 0 : by), from.get(i, j));
      }
    }
    return to;
  };
  const auto without_shift = [](MatrixView view, std::int64_t by, MatrixLayout layout) {
    view.data = static_cast<const char*>(view.data) + by * item_size(view.dtype);
    (layout == MatrixLayout::columns ? view.rows : view.cols) -= by;
    return view;
  };
  for (const std::int64_t by : {0, 1, 2, 8}) {
    for (const MatrixLayout layout : {MatrixLayout::rows, MatrixLayout::columns}) {
      const MatrixOnGpu a_there(shifted(a, by, layout)), b_there(shifted(b, by, layout));
      const MatrixOnGpu c_there(c);
      ASSERT_TRUE(detail::multiply_small(call_of(without_shift(a_there.view(), by, layout),
                                                 without_shift(b_there.view(), by, layout),
                                                 c_there.mutable_view())));
      EXPECT_EQ(c_there.fetched(c).bytes(), expected.bytes()) << by;
    }
  }
}

TEST_P(SmallProductOnCuda, EqualCallsGiveEqualBits) {
  const Matrix a = operand(64, 5000, MatrixLayout::columns), b = operand(5000, 64),
               c = result(64, 64);
  const Matrix other = operand(65, 1000), c_other = result(65, 65);
  const Matrix first = multiplied(a, b, c);
  for (int i = 0; i < 3; ++i) {
    multiplied(other, operand(1000, 65), c_other);
    EXPECT_EQ(multiplied(a, b, c).bytes(), first.bytes());
  }
}

TEST_P(SmallProductOnCuda, IsCapturedInAGraph) {
  const Matrix a = operand(33, 2000, MatrixLayout::columns), b = operand(2000, 10),
               c = result(33, 10);
  const Matrix expected = multiplied(a, b, c);
  const MatrixOnGpu a_there(a), b_there(b), c_there(c), c_beside(c);
  Graph graph;
  graph.capture([&] {
    detail::multiply_small(call_of(a_there.view(), b_there.view(), c_there.mutable_view()));
    detail::multiply_small(call_of(a_there.view(), b_there.view(), c_beside.mutable_view()));
  });
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    EXPECT_EQ(c_there.fetched(c).bytes(), expected.bytes());
    EXPECT_EQ(c_beside.fetched(c).bytes(), expected.bytes());
  }
}

TEST_P(SmallProductOnCuda, SumsIn32BitsAndKeepsSubnormals) {
  const Matrix ones = operand(16, 4096).fill(1), c = result(16, 16);
  EXPECT_EQ(multiplied(ones, operand(4096, 16).fill(1), c).get(3, 5), 4096);
  const double smallest = GetParam().operands == kFloat16 ? 0x1p-24 : 0x1p-133;
  const Matrix tiny = operand(16, 16).fill(smallest);
  EXPECT_EQ(multiplied(tiny, operand(16, 16).fill(1024), c).get(3, 5), smallest * 0x1p14);
}

class SmallProductChoiceOnCuda : public SmallProductTest {
 protected:
  static GemmCall call(const MatrixOnGpu& a, const MatrixOnGpu& b, const MatrixOnGpu& c) {
    return call_of(a.view(), b.view(), c.mutable_view());
  }
};

INSTANTIATE_TEST_SUITE_P(Products, SmallProductChoiceOnCuda,
                         ::testing::Values(GemmDtypes{kFloat16, kFloat16}), GemmTest::name_of);

TEST_P(SmallProductChoiceOnCuda, LeavesOtherProductsToCublaslt) {
  const MatrixOnGpu a(operand(16, 24)), b(operand(24, 16)), c(result(16, 16));
  const MatrixOnGpu scattered(operand(16, 24, MatrixLayout::scattered));
  const MatrixOnGpu wide_a(Matrix(kFloat32, 16, 24)), wide_b(Matrix(kFloat32, 24, 16));
  const MatrixOnGpu wide_c(Matrix(kFloat32, 16, 16)), bias(Matrix(kFloat64, 1, 16));
  GemmCall scaled = call(a, b, c), added = call(a, b, c), batch = call(a, b, c);
  scaled.alpha = 2, added.beta = 1, batch.count = 2;
  GemmCall gelu = call(a, b, c), relu_with_aux = call(a, b, c), biased = call(a, b, c);
  gelu.epilogue.activation = Activation::gelu_tanh;
  relu_with_aux.epilogue = {.activation = Activation::relu, .aux = c.mutable_view().data};
  biased.epilogue.bias = {bias.view().data, kFloat64};
  for (const GemmCall& other : {scaled, added, batch, gelu, relu_with_aux, biased,
                                call(scattered, b, c), call(wide_a, wide_b, wide_c)}) {
    EXPECT_FALSE(detail::multiply_small(other));
  }
  EXPECT_TRUE(detail::multiply_small(call(a, b, c)));
}

TEST_P(SmallProductChoiceOnCuda, TheBackendChooses) {
  const MatrixOnGpu a(operand(16, 24)), b(operand(24, 16)), c(result(16, 16)), y(result(16, 16));
  GemmCall masked = call(a, b, c);
  masked.epilogue.relu_output = y.view().data;
  for (const GemmBackend backend :
       {GemmBackend::cublaslt, GemmBackend::naive_lesson, GemmBackend::tensor_core_lesson}) {
    set_gemm_backend(backend);
    EXPECT_FALSE(detail::multiply_small(call(a, b, c)));
    EXPECT_FALSE(detail::gemm_on_cuda(masked));
  }
  set_gemm_backend(GemmBackend::automatic);
  EXPECT_TRUE(detail::gemm_on_cuda(masked));
  const MatrixOnGpu tall(operand(70'000, 1)), row(operand(1, 8)), large(result(70'000, 8));
  EXPECT_FALSE(detail::multiply_small(call(tall, row, large)));
  set_gemm_backend(GemmBackend::small_product);
  EXPECT_TRUE(detail::multiply_small(call(tall, row, large)));
}

}  // namespace
}  // namespace halfgrad
