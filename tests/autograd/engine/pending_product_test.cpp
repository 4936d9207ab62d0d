// The gradient of a linear's input waits for relu's backward.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/pending_product.h>
#include <halfgrad/tests/autograd/engine/pending_product.h>

namespace halfgrad::detail {
namespace {

using PendingProducts = PendingProductTest;
HALFGRAD_ON_DEVICES(PendingProducts);

TEST_P(PendingProducts, AreComputedByTheFirstLook) {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    for (const Shape& sizes : {Shape{kRows, kWidth}, Shape{2, 3, kWidth}, Shape{0, kWidth}}) {
      const Tensor a = random(sizes, dtype), b = random({kWidth, 5}, dtype);
      const Tensor pending = pending_product(a.array(), b.array());
      EXPECT_EQ(pending.sizes(), matmul(a, b).sizes());
      EXPECT_EQ(bits(pending), bits(matmul(a, b)));
    }
  }
}

TEST_P(PendingProducts, GiveTheirMemoryToReluIfNobodySeesThem) {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    const Tensor a = random({kRows, kWidth}, dtype), b = random({kWidth, kWidth}, dtype);
    const Tensor y = relu(random({kRows, kWidth}, dtype));
    const Tensor dy = matmul(a, b);
    const Array expected = relu_gradient(dy, y.array());
    EXPECT_NE(expected.storage(), dy.array().storage());
    const auto product = [&] { return pending_product(a.array(), b.array()); };
    const Tensor unseen = product();
    const void* const memory = unseen.impl()->array.data();
    const Array masked = relu_gradient(unseen, y.array());
    EXPECT_EQ(masked.data(), memory);
    EXPECT_EQ(bits(Tensor(masked)), bits(Tensor(expected)));

    const Tensor held = product(), handle = held;
    EXPECT_EQ(bits(Tensor(relu_gradient(held, y.array()))), bits(Tensor(expected)));
    EXPECT_EQ(bits(handle), bits(dy));
    const Tensor seen = product();
    EXPECT_EQ(bits(seen), bits(dy));
    EXPECT_EQ(bits(Tensor(relu_gradient(seen, y.array()))), bits(Tensor(expected)));
    EXPECT_EQ(bits(seen), bits(dy));
    const Tensor strided = y.t().contiguous().t();
    EXPECT_EQ(bits(Tensor(relu_gradient(product(), strided.array()))), bits(Tensor(expected)));
  }
}

// A NaN of relu's output lets the gradient through; a zero stops an infinite one.
TEST_P(PendingProducts, MaskAsReluDoes) {
  const double inf = kInf, nan = std::nan("");
  const std::vector<double> outputs{0, -0.0, 1, inf, nan, 0, 0, 2, 2, 1e-7, nan, 3};
  const std::vector<double> gradients{1, 1, -0.0, 2, 3, inf, nan, inf, nan, 1, -inf, 1e-8};
  for (const DType dtype : {kFloat, kHalf, kBFloat16}) {
    const Tensor y = values(outputs, dtype), dy = values(gradients, dtype);
    // [1, n] by the identity would add 0 * inf, so each gradient is a product of its own column.
    const Tensor a = ones({1, 1}, {.dtype = dtype, .device = device()});
    const Tensor product = pending_product(a.array(), dy.array());
    const Tensor expected(relu_gradient(matmul(a, dy), y.array()));
    EXPECT_EQ(bits(Tensor(relu_gradient(product, y.array()))), bits(expected));
    EXPECT_EQ(expected[0][5].item(), 0);
    EXPECT_EQ(expected[0][4].item(), 3);
  }
}

}  // namespace
}  // namespace halfgrad::detail
