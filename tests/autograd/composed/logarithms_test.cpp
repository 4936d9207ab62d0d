#include <algorithm>
#include <cmath>
#include <limits>

#include <halfgrad/autograd/composed/pointwise.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Expected values are PyTorch's, or are computed with <cmath>.
namespace halfgrad {
namespace {

using LogarithmsComposed = TensorsOnDevice;
HALFGRAD_ON_DEVICES(LogarithmsComposed);

TEST_P(LogarithmsComposed, Logit) {
  const auto reference = [](double x) { return std::log(x) - std::log1p(-x); };
  const Doubles xs{0, 1e-30, 0.1, 0.5, 0.75, 1, 1.5, -0.1};
  const Doubles y = elements(logit(elements(xs)));
  for (std::size_t i = 0; i < 6; ++i) {
    if (std::isinf(reference(xs[i]))) {
      EXPECT_EQ(y[i], reference(xs[i]));
    } else {
      EXPECT_NEAR(y[i], reference(xs[i]), 0x1p-51 * std::max(1.0, std::fabs(reference(xs[i]))));
    }
  }
  EXPECT_EQ(y[3], 0);
  EXPECT_TRUE(std::isnan(y[6]) && std::isnan(y[7]));
  const double limit = std::log(0.9) - std::log(1 - 0.9);
  const Doubles clamped = elements(logit(elements({-1, 0.5, 2}), 0.1));
  EXPECT_NEAR(clamped[0], -limit, 1e-15);
  EXPECT_NEAR(clamped[2], limit, 1e-15);
  EXPECT_EQ(elements(logit(elements({1}, kLong))), Doubles{kInf});
  EXPECT_EQ(elements(logit(elements({0.25}), -1)), elements(logit(elements({0.25}))));
  const Tensor ends = elements({0, 1}).requires_grad_();
  logit(ends).backward(ones_like(ends));
  EXPECT_EQ(elements(ends.grad()), (Doubles{kInf, kInf}));
}

TEST_P(LogarithmsComposed, Logaddexp) {
  const Doubles a{0, 0, 1000, kInf, -kInf, -kInf, kInf, kNan, kInf};
  const Doubles b{0, -40, 1001, kInf, -kInf, 3, -kInf, 1, kNan};
  const Doubles y = elements(logaddexp(elements(a), elements(b)));
  EXPECT_NEAR(y[0], std::log(2.0), 1e-16);
  EXPECT_NEAR(y[1], std::exp(-40.0), 1e-32);
  EXPECT_NEAR(y[2], 1001 + std::log1p(std::exp(-1.0)), 2e-13);
  EXPECT_EQ((Doubles{y[3], y[4], y[5], y[6]}), (Doubles{kInf, -kInf, 3, kInf}));
  EXPECT_TRUE(std::isnan(y[7]) && std::isnan(y[8]));
  EXPECT_EQ(logaddexp(elements({1}, kHalf), elements({2}, kHalf)).dtype(), kHalf);
  EXPECT_EQ(logaddexp(elements({1, 2}).unsqueeze(1), elements({1, 2, 3})).sizes(), (Shape{2, 3}));
  EXPECT_EQ(message_of([&] { logaddexp(elements({1}, kLong), elements({1}, kInt)); }),
            "logaddexp: expected a floating point tensor, got int64 and int32");
  const Tensor x = elements({2}).requires_grad_(), z = elements({2}).requires_grad_();
  logaddexp(x, z).backward(ones_like(x));
  EXPECT_EQ(elements(x.grad()), Doubles{0.5});
  EXPECT_EQ(elements(z.grad()), Doubles{0.5});
}

TEST_P(LogarithmsComposed, Xlogy) {
  const Tensor x = elements({0, 0, 0, 2, 0, 1, 0});
  const Tensor y = elements({0, kInf, -1, 1, kNan, 0, 5});
  expect_values(xlogy(x, y), {0, 0, 0, 0, kNan, -kInf, 0});
  EXPECT_NEAR(elements(xlogy(elements({2}), 3))[0], 2 * std::log(3.0), 1e-15);
  EXPECT_NEAR(elements(xlogy(2, elements({3})))[0], 2 * std::log(3.0), 1e-15);
  EXPECT_EQ(xlogy(elements({2}, kLong), elements({3}, kLong)).dtype(), kFloat32);
  EXPECT_EQ(xlogy(elements({2}, kHalf), 3.5).dtype(), kHalf);
  const Tensor weight = x.detach().clone().requires_grad_();
  const Tensor base = y.detach().clone().requires_grad_();
  xlogy(weight, base).backward(ones_like(x));
  const Doubles dx = elements(weight.grad());
  EXPECT_EQ(dx[0], 0);
  EXPECT_NEAR(dx[6], std::log(5.0), 1e-15);
  EXPECT_EQ(elements(base.grad())[0], 0);
}

}  // namespace
}  // namespace halfgrad
