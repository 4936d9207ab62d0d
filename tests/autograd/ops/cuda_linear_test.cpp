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

TEST_F(LinearOnCuda, WithAnActivationAgreesWithTheCpu) {
  for (const GemmBackend backend : kWithEpilogues) {
    set_gemm_backend(backend);
    expect_activations_as_on_the_cpu();
  }
}

}  // namespace
}  // namespace halfgrad
