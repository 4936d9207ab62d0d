// linear on a GPU against float64 on the CPU. In backward, one product gives the gradients of both
// weight and bias.
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
#include <halfgrad/core/stream.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

class LinearOnCuda : public OnCuda {
 protected:
  void TearDown() override { set_gemm_backend(GemmBackend::automatic); }
};

// These operands are so small that our own kernel multiplies those of 16 bits.
constexpr GemmBackend kWithEpilogues[] = {GemmBackend::automatic, GemmBackend::cublaslt};

// `actual` is a sum of n products, rounded to its dtype; their absolute values sum to `magnitude`.
void expect_sum(const Tensor& actual, const Tensor& expected, const Tensor& magnitude, double n) {
  const double accumulator = roundoff(actual.dtype() == kDouble ? kDouble : kFloat);
  const double rounding = is_reduced(actual.dtype()) ? roundoff(actual.dtype()) : accumulator;
  const std::vector<double> a = actual.to_vector<double>(), e = expected.to_vector<double>(),
                            m = magnitude.to_vector<double>();
  ASSERT_EQ(a.size(), e.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], e[i], n * accumulator * m[i] + rounding * std::abs(e[i])) << i;
  }
}

TEST_F(LinearOnCuda, AgreesWithTheCpu) {
  constexpr std::int64_t kRows = 48, kIn = 64, kOut = 40;
  for (const GemmBackend backend :
       {GemmBackend::automatic, GemmBackend::cublaslt, GemmBackend::tensor_core_lesson}) {
    set_gemm_backend(backend);
    for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
      SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(static_cast<int>(backend)));
      manual_seed(3);
      const CreationOptions wide{.dtype = kDouble};
      const auto rounded = [&](const Tensor& t) { return t.to(dtype).to(kDouble); };
      const Tensor x = rounded(randn({kRows, kIn}, wide)), w = rounded(randn({kOut, kIn}, wide));
      const Tensor b = rounded(randn({kOut}, wide)), dy = rounded(randn({kRows, kOut}, wide));
      const auto there = [&](const Tensor& t) { return t.to(dtype).to(kCUDA); };
      const Tensor x_there = there(x).requires_grad_(), w_there = there(w).requires_grad_();
      const Tensor b_there = there(b).requires_grad_(), dy_there = there(dy);
      const auto waits = cuda::host_waits();
      const Tensor y = linear(x_there, w_there, b_there);
      y.backward(dy_there);
      EXPECT_EQ(cuda::host_waits(), waits);
      expect_sum(y, linear(x, w, b), linear(abs(x), abs(w), abs(b)), kIn + 2);
      expect_sum(x_there.grad(), mm(dy, w), mm(abs(dy), abs(w)), kOut + 2);
      expect_sum(w_there.grad(), mm(dy.t(), x), mm(abs(dy).t(), abs(x)), kRows + 2);
      expect_sum(b_there.grad(), sum(dy, {0}), sum(abs(dy), {0}), kRows + 2);
    }
  }
}

// expect_sum() for sums whose terms were rounded to 16 bits a few times.
void expect_rounded_sum(const Tensor& actual, const Tensor& expected, const Tensor& magnitude,
                        double n) {
  const double per_term = n * roundoff(actual.dtype() == kDouble ? kDouble : kFloat) +
                          (is_reduced(actual.dtype()) ? 4 * roundoff(actual.dtype()) : 0);
  const std::vector<double> a = actual.to_vector<double>(), e = expected.to_vector<double>(),
                            m = magnitude.to_vector<double>();
  ASSERT_EQ(a.size(), e.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], e[i], per_term * std::fmax(1, m[i])) << i;
  }
}

// A NaN in the argument gives NaN in the result; cuBLASLt's own relu may return 0.
TEST_F(LinearOnCuda, ActivationsDoNotHideNaN) {
  for (const GemmBackend backend : kWithEpilogues) {
    set_gemm_backend(backend);
    for (const auto f : {linear_relu, linear_gelu}) {
      for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
        for (const bool with_bias : {false, true}) {
          SCOPED_TRACE(std::string(name(dtype)) + (with_bias ? " bias" : ""));
          Tensor x = ones({16, 16}, {.dtype = dtype});
          x[3][5].fill_(std::nan(""));
          const Tensor w = ones({16, 16}, {.dtype = dtype, .device = kCUDA});
          const Tensor bias = with_bias ? ones({16}, {.dtype = dtype, .device = kCUDA}) : Tensor();
          const Tensor y = f(x.to(kCUDA), w, bias);
          EXPECT_EQ(isnan(y).sum(1).to_vector<std::int64_t>(),
                    isnan(x).any(1).to(kLong).mul(16).to_vector<std::int64_t>());
        }
      }
    }
  }
}

// cuBLASLt sums the rows in the same launch for 16-bit operands only.
TEST_F(LinearOnCuda, ProductAndRowSumsNeed16BitOperands) {
  for (const DType dtype : {kDouble, kFloat}) {
    const Array a = Array::full({16, 16}, 1, dtype, kCUDA);
    EXPECT_FALSE(detail::product_and_row_sums(a, a)) << name(dtype);
  }
}

void expect_activations_as_on_the_cpu() {
  constexpr std::int64_t kRows = 48, kIn = 64;
  // cuBLASLt stores the argument of gelu only in rows whose length is a multiple of 8.
  for (const std::int64_t out : {40, 41}) {
    for (const auto f : {linear_relu, linear_gelu}) {
      for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
        SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(out));
        manual_seed(3);
        const CreationOptions wide{.dtype = kDouble};
        const auto rounded = [&](const Tensor& t) { return t.to(dtype).to(kDouble); };
        const Tensor x = rounded(randn({kRows, kIn}, wide)).requires_grad_();
        const Tensor w = rounded(randn({out, kIn}, wide)).requires_grad_();
        const Tensor b = rounded(randn({out}, wide)).requires_grad_();
        const Tensor dy = rounded(randn({kRows, out}, wide));
        const auto there = [&](const Tensor& t) { return t.detach().to(dtype).to(kCUDA); };
        const Tensor x_there = there(x).requires_grad_(), w_there = there(w).requires_grad_();
        const Tensor b_there = there(b).requires_grad_();
        const Tensor y = f(x, w, b), y_there = f(x_there, w_there, b_there);
        y.backward(dy);
        y_there.backward(there(dy));
        const Tensor dz = 1.13 * abs(dy);  // an upper bound
        expect_rounded_sum(y_there, y, linear(abs(x), abs(w), abs(b)), kIn + 2);
        expect_rounded_sum(x_there.grad(), x.grad(), mm(dz, abs(w)), static_cast<double>(out) + 2);
        expect_rounded_sum(w_there.grad(), w.grad(), mm(dz.t(), abs(x)), kRows + 2);
        expect_rounded_sum(b_there.grad(), b.grad(), sum(dz, {0}), kRows + 2);
      }
    }
  }
}

// Y = relu(X W1^T + b1) W2^T, its gradients for dY, and the launches of forward and backward.
struct TwoLayers {
  Tensor hidden, y, dw1, db1, dw2;
  std::int64_t forward = 0, backward = 0;
};

TwoLayers run_two_layers(std::int64_t rows, std::int64_t width, DType dtype, bool fused, double b) {
  manual_seed(8);
  constexpr std::int64_t kEnds = 8;
  const auto there = [&](const Shape& sizes) { return randn(sizes).to(dtype).to(kCUDA); };
  const Tensor x = there({rows, kEnds}), w1 = there({width, kEnds}).requires_grad_();
  const Tensor b1 = there({width}), w2 = there({kEnds, width}).requires_grad_();
  const Tensor dy = there({rows, kEnds});
  b1[1].fill_(b);
  b1.requires_grad_();
  TwoLayers result;
  std::int64_t launches = detail::launches;
  result.hidden = fused ? linear_relu(x, w1, b1) : relu(linear(x, w1, b1));
  result.forward = detail::launches - launches;
  result.y = linear(result.hidden, w2);
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

// Our own kernel has relu, and the mask of its gradient, as epilogues.
TEST_F(LinearOnCuda, ReluCostsNoLaunchInSmallProducts) {
  for (const DType dtype : {kHalf, kBFloat16}) {
    const TwoLayers fused = run_two_layers(48, 40, dtype, true, 0);
    const TwoLayers separate = run_two_layers(48, 40, dtype, false, 0);
    EXPECT_EQ(values_of(fused), values_of(separate));
    EXPECT_EQ(fused.forward, 1);
    EXPECT_EQ(separate.forward, 2);
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
TEST_F(LinearOnCuda, ReluMaskSavesTheLaunchesOfReluInLargeProducts) {
  struct Case {
    std::int64_t rows, width;
    DType dtype;
  };
  for (const auto& [rows, width, dtype] : {Case{48, 40, kFloat}, Case{1024, 520, kHalf}}) {
    SCOPED_TRACE(name(dtype));
    const TwoLayers separate = run_two_layers(rows, width, dtype, false, 0);
    const AllowReluMask allow;
    const TwoLayers fused = run_two_layers(rows, width, dtype, true, 0);
    EXPECT_EQ(values_of(fused), values_of(separate));
    const Array out = Array::empty({rows, width}, dtype, kCUDA);
    const Array a = Array::full({rows, 8}, 1, dtype, kCUDA);
    const Array b = Array::full({8, width}, 1, dtype, kCUDA);
    const Array mask = detail::relu_mask(out, 8);
    ASSERT_TRUE(mask.defined());
    if (detail::activated_product(detail::Activation::relu, a, b, {}, out, mask)) {
      EXPECT_EQ(fused.forward, 1);
      EXPECT_EQ(separate.forward, 2);
      EXPECT_EQ(separate.backward - fused.backward, 1);
    } else {
      EXPECT_EQ(separate.forward, 3);  // a cuBLASLt that cannot even add a bias
      EXPECT_EQ(separate.backward, fused.backward);
    }
    // NaN may become 0; then its gradient is 0, too.
    const TwoLayers with_nan = run_two_layers(rows, width, dtype, true, std::nan(""));
    const Tensor column = with_nan.hidden.select(1, 1);
    const bool is_zero = (column == 0).all().item<bool>();
    EXPECT_TRUE(is_zero || isnan(column).all().item<bool>());
    EXPECT_TRUE(!is_zero || with_nan.db1.to_vector<double>()[1] == 0);
  }
}

TEST_F(LinearOnCuda, ReluMaskIsOffByDefaultAndForSmallProducts) {
  const Array large = Array::empty({1024, 520}, kHalf, kCUDA);
  EXPECT_FALSE(backends::cuda::matmul::allow_relu_mask());
  EXPECT_FALSE(detail::relu_mask(large, 8).defined());
  const AllowReluMask allow;
  EXPECT_EQ(detail::relu_mask(large, 8).sizes(), (Shape{1024, 80}));
  EXPECT_FALSE(detail::relu_mask(Array::empty({48, 40}, kHalf, kCUDA), 8).defined());
  EXPECT_FALSE(detail::relu_mask(Array::empty({1024, 520}, kHalf), 8).defined());
}

TEST_F(LinearOnCuda, WithAnActivationAgreesWithTheCpu) {
  for (const GemmBackend backend : kWithEpilogues) {
    set_gemm_backend(backend);
    expect_activations_as_on_the_cpu();
  }
}

}  // namespace
}  // namespace halfgrad
