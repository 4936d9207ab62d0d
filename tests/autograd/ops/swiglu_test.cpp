#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/transformer.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

class SwigluOp : public TensorsOnDevice {};
HALFGRAD_ON_DEVICES(SwigluOp);

double swiglu_of(double gate, double up) { return gate / (1 + std::exp(-gate)) * up; }

// The gate is the first half.
TEST_P(SwigluOp, GatesWithTheFirstHalf) {
  const Tensor y = swiglu(elements({-2, 3, 5, 7, 0.5, -1, 11, 13}).view({2, 4}));
  const Doubles expected{swiglu_of(-2, 5), swiglu_of(3, 7), swiglu_of(0.5, 11), swiglu_of(-1, 13)};
  EXPECT_EQ(y.sizes(), Shape({2, 2}));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(elements(y)[i], expected[i], 1e-14) << i;
  }
}

// The kernels of both forms are the same, so their bits are, in every layout.
TEST_P(SwigluOp, OfHalvesIsThatOfTwoTensors) {
  const Tensor source = random_tensor({6, 5, 14}, -4, 4, {1, 2}).to(device());
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    for (const bool is_strided : {false, true}) {
      const Tensor whole = is_strided ? source.to(dtype).transpose(0, 2) : source.to(dtype);
      const std::int64_t n = whole.size(-1) / 2;
      Tensor x = whole.detach().requires_grad_();
      Tensor gate = whole.slice(-1, 0, n).clone().requires_grad_();
      Tensor up = whole.slice(-1, n, 2 * n).clone().requires_grad_();
      const Tensor y = swiglu(x), same = swiglu(gate, up);
      EXPECT_TRUE(equal(y, same));
      const Tensor dy = random_tensor(y.sizes(), -1, 1, {1, 3}).to(device()).to(dtype);
      y.backward(dy);
      same.backward(dy);
      EXPECT_TRUE(equal(x.grad(), cat({gate.grad(), up.grad()}, -1)));
    }
  }
}

// silu(-20) = -4e-8 is less than the smallest float16, so a product of rounded factors would be 0
// or, with an infinite `up`, NaN.
TEST_P(SwigluOp, DoesNotUnderflowBeforeTheProduct) {
  const Tensor gate = elements({-20, -20, 20, -900}, kHalf);
  const Tensor up = elements({60'000, kInf, -kInf, kInf}, kHalf);
  const Doubles y = elements(swiglu(gate, up));
  EXPECT_NEAR(y[0], swiglu_of(-20, 60'000), 0x1p-11 * 3e-3);
  EXPECT_EQ(y[1], -kInf);
  EXPECT_EQ(y[2], -kInf);
  EXPECT_EQ(y[3], -kInf);
  EXPECT_NEAR(elements(swiglu(elements({-17}, kHalf), elements({60'000}, kHalf)))[0],
              swiglu_of(-17, 60'000), 0x1p-11 * 0.1);
}

// The gradients' factors are not rounded either: dy = 2^15 and slopes near 2^-25.
TEST_P(SwigluOp, GradientsDoNotUnderflowBeforeTheProduct) {
  Tensor gate = elements({-21}, kHalf).requires_grad_();
  Tensor up = elements({8}, kHalf).requires_grad_();
  swiglu(gate, up).backward(elements({32768}, kHalf));
  const double s = 1 / (1 + std::exp(21.0));
  EXPECT_NEAR(elements(gate.grad())[0], 32768 * 8 * s * (1 - 21 * (1 - s)), 0x1p-11 * 4e-3);
  EXPECT_NEAR(elements(up.grad())[0], 32768 * -21 * s, 0x1p-11 * 6e-4);
}

TEST_P(SwigluOp, TakesEdges) {
  expect_values(swiglu(elements({kNan, 1, kInf, 0}), elements({1, kNan, 2, -3})),
                {kNan, kNan, kInf, -0.0});
  expect_values(swiglu(elements({0, -kInf, kInf, kNan, 0x1p-149}, kFloat),
                       elements({kInf, kInf, -kInf, kInf, kInf}, kFloat)),
                {kNan, kNan, -kInf, kNan, kInf});
  EXPECT_EQ(swiglu(zeros({0}, in(kFloat))).sizes(), Shape({0}));
  EXPECT_EQ(swiglu(zeros({3, 0}, in(kFloat))).sizes(), Shape({3, 0}));
}

// Autocast promotes, as for silu and mul.
TEST_P(SwigluOp, KeepsDtypesUnderAutocast) {
  const amp::Autocast autocast(device().type());
  EXPECT_EQ(swiglu(zeros({2, 4}, in(kFloat))).dtype(), kFloat);
  EXPECT_EQ(swiglu(zeros({2, 4}, in(kHalf))).dtype(), kHalf);
  EXPECT_EQ(swiglu(zeros({2}, in(kHalf)), zeros({2}, in(kFloat))).dtype(), kFloat);
}

TEST(SwigluOnCpu, HasGradients) {
  const auto of_two = [](const std::vector<Tensor>& in) { return swiglu(in[0], in[1]); };
  expect_gradients(of_two, {random_leaf({3, 5}, 1), random_leaf({3, 5}, 2)});
  expect_gradients(of_two, {random_leaf({3, 1}, 1), random_leaf({5}, 2)});
  const auto of_halves = [](const std::vector<Tensor>& in) { return swiglu(in[0]); };
  expect_gradients(of_halves, {random_leaf({3, 6}, 3)});
  expect_second_gradients(of_halves, {random_leaf({3, 6}, 3)});
}

TEST(SwigluOnCpu, RefusesOtherOperands) {
  EXPECT_THROW(swiglu(ones({2, 3})), std::invalid_argument);
  EXPECT_THROW(swiglu(ones({})), std::invalid_argument);
  EXPECT_THROW(swiglu(ones({4}).to(kInt64)), std::invalid_argument);
  EXPECT_THROW(swiglu(ones({2}), ones({3})), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
