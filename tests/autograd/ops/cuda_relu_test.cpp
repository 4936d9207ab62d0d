// relu as an epilogue of products on a GPU: the launches that it saves, and the bits that stay.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/product.h>
#include <halfgrad/core/gemm.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

using ReluOnCuda = OnCuda;

// Y = relu(X W1^T + b1) W2^T, its gradients for dY, and the launches of forward and backward.
struct TwoLayers {
  Tensor hidden, y, dw1, db1, dw2;
  std::int64_t forward = 0, backward = 0;
};

TwoLayers run_two_layers(std::int64_t rows, std::int64_t width, DType dtype, bool fused, double b) {
  manual_seed(8);
  constexpr std::int64_t kEnds = 8;
  const auto there = [&](const Shape& sizes) { return randn(sizes).to(dtype).to(kCUDA); };
  const auto parameter = [&](const Shape& sizes) { return there(sizes).to(kFloat); };
  const Tensor x = there({rows, kEnds}), dy = there({rows, kEnds});
  const Tensor w1 = parameter({width, kEnds}), b1 = parameter({width});
  const Tensor w2 = parameter({kEnds, width});
  b1[1].fill_(b);
  for (const Tensor& p : {w1, b1, w2}) p.requires_grad_();
  const Tensor w1_cast = w1.to(dtype), b1_cast = b1.to(dtype);
  TwoLayers result;
  std::int64_t launches = detail::launches;
  result.hidden = fused ? linear_relu(x, w1_cast, b1_cast) : relu(linear(x, w1_cast, b1_cast));
  result.forward = detail::launches - launches;
  result.y = linear(result.hidden, w2.to(dtype));  // cast after relu, as autocast does
  launches = detail::launches;
  result.y.backward(dy);
  result.backward = detail::launches - launches;
  result.dw1 = w1.grad(), result.db1 = b1.grad(), result.dw2 = w2.grad();
  return result;
}

std::vector<std::vector<double>> values_of(const TwoLayers& r) {
  std::vector<std::vector<double>> all;
  for (const Tensor& t : {r.hidden, r.y, r.dw1, r.db1, r.dw2}) all.push_back(t.to_vector<double>());
  return all;
}

// The operands of linear: relu(rows [m, k] times the transpose of w [n, k], plus bias).
struct LinearOperands {
  Array rows, w, bias, out;

  LinearOperands(std::int64_t m, std::int64_t n, DType dtype)
      : rows(Array::full({m, 8}, 1, dtype, kCUDA)),
        w(Array::full({n, 8}, 1, dtype, kCUDA)),
        bias(Array::full({n}, 0, dtype, kCUDA)),
        out(Array::empty({m, n}, dtype, kCUDA)) {}

  /// Returns whether one launch computes it.
  bool is_one_launch(const Array& mask = {}) const {
    return detail::activated_product(detail::Activation::relu, rows, w.transpose(0, 1), bias, out,
                                     mask);
  }
};

// cuBLASLt has relu as an epilogue, unless it loses NaN, and our own kernel the mask of its
// gradient.
TEST_F(ReluOnCuda, CostsNoLaunchInSmallProducts) {
  for (const DType dtype : {kHalf, kBFloat16}) {
    run_two_layers(48, 40, dtype, true, 0);  // the first asks cuBLASLt what its relu does
    const TwoLayers fused = run_two_layers(48, 40, dtype, true, 0);
    const TwoLayers separate = run_two_layers(48, 40, dtype, false, 0);
    EXPECT_EQ(values_of(fused), values_of(separate));
    const bool has_relu = LinearOperands(48, 40, dtype).is_one_launch();
    EXPECT_EQ(fused.forward, has_relu ? 1 : separate.forward);
    if (has_relu) {
      EXPECT_EQ(separate.forward, 2);
    }
    EXPECT_EQ(separate.backward, fused.backward);
    // Weight and bias of the first layer, weight of the second, and the hidden layer's gradient.
    EXPECT_EQ(fused.backward, 3);
    const TwoLayers with_nan = run_two_layers(48, 40, dtype, true, std::nan(""));
    EXPECT_TRUE(isnan(with_nan.hidden.select(1, 1)).all().item<bool>());
    EXPECT_EQ(with_nan.db1.to_vector<double>()[1],
              run_two_layers(48, 40, dtype, false, std::nan("")).db1.to_vector<double>()[1]);
  }
}

class AllowReluMask {
 public:
  AllowReluMask() { backends::cuda::matmul::set_allow_relu_mask(true); }
  ~AllowReluMask() { backends::cuda::matmul::set_allow_relu_mask(false); }
  AllowReluMask(const AllowReluMask&) = delete;
  AllowReluMask& operator=(const AllowReluMask&) = delete;
};

// cuBLASLt's mask of one bit for each element, for products that our own kernel does not take.
TEST_F(ReluOnCuda, MaskSavesLaunchesInLargeProducts) {
  struct Case {
    std::int64_t rows, width;
    DType dtype;
  };
  for (const auto& [rows, width, dtype] : {Case{48, 40, kFloat}, Case{1024, 520, kHalf}}) {
    SCOPED_TRACE(name(dtype));
    const TwoLayers separate = run_two_layers(rows, width, dtype, false, 0);
    const AllowReluMask allow;
    run_two_layers(rows, width, dtype, true, 0);  // the first asks cuBLASLt what its relu does
    const TwoLayers fused = run_two_layers(rows, width, dtype, true, 0);
    EXPECT_EQ(values_of(fused), values_of(separate));
    const LinearOperands linear(rows, width, dtype);
    const Array next_w = Array::full({8, width}, 1, dtype, kCUDA);
    const Array mask = detail::relu_mask(linear.out, 8);
    ASSERT_TRUE(mask.defined());
    const Array dy = Array::empty({rows, width}, dtype, kCUDA);
    const bool stores_mask = linear.is_one_launch(mask);
    const bool has_relu = stores_mask || linear.is_one_launch();
    const bool masks =
        stores_mask && detail::masked_product(linear.rows, next_w, linear.out, mask, dy);
    EXPECT_EQ(separate.backward - fused.backward, masks ? 1 : 0);
    EXPECT_EQ(fused.forward, has_relu ? 1 : separate.forward);
    // NaN may become 0; then its gradient is 0, too.
    const TwoLayers with_nan = run_two_layers(rows, width, dtype, true, std::nan(""));
    const Tensor column = with_nan.hidden.select(1, 1);
    const bool is_zero = (column == 0).all().item<bool>();
    EXPECT_TRUE(is_zero || isnan(column).all().item<bool>());
    EXPECT_TRUE(!is_zero || with_nan.db1.to_vector<double>()[1] == 0);
  }
}

TEST_F(ReluOnCuda, MaskIsOffByDefaultAndForSmallProducts) {
  const Array large = Array::empty({1024, 520}, kHalf, kCUDA);
  EXPECT_FALSE(backends::cuda::matmul::allow_relu_mask());
  EXPECT_FALSE(detail::relu_mask(large, 8).defined());
  const AllowReluMask allow;
  EXPECT_EQ(detail::relu_mask(large, 8).sizes(), (Shape{1024, 80}));
  EXPECT_FALSE(detail::relu_mask(Array::empty({48, 40}, kHalf, kCUDA), 8).defined());
  EXPECT_FALSE(detail::relu_mask(Array::empty({1024, 520}, kHalf), 8).defined());
}

}  // namespace
}  // namespace halfgrad
