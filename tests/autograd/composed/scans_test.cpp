#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

#include <halfgrad/autograd/composed/scans.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Expected values are PyTorch's, or are computed in double one after the other.
namespace halfgrad {
namespace {

using ScansComposed = TensorsOnDevice;
HALFGRAD_ON_DEVICES(ScansComposed);

TEST_P(ScansComposed, Cumprod) {
  const Tensor x = elements({1, 2, 3, 4, 5, 6}).reshape({2, 3});
  EXPECT_EQ(elements(cumprod(x, 1)), (Doubles{1, 2, 6, 4, 20, 120}));
  EXPECT_EQ(elements(cumprod(x, 0)), (Doubles{1, 2, 3, 4, 10, 18}));
  EXPECT_EQ(elements(cumprod(x.t(), -2)), (Doubles{1, 4, 2, 20, 6, 120})) << "not contiguous";
  EXPECT_EQ(cumprod(elements({2, 3}, kInt), 0).dtype(), kLong);
  EXPECT_EQ(elements(cumprod(elements({16, 16, 3}, kUInt8), 0, kUInt8)), (Doubles{16, 0, 0}));
  EXPECT_EQ(elements(cumprod(elements({1, 1, 0, 1}, kBool), 0)), (Doubles{1, 1, 0, 0}));
  EXPECT_EQ(elements(cumprod(elements({1, 3}, kInt), 0, kDouble)), (Doubles{1, 3}));
  EXPECT_EQ(elements(cumprod(elements({3}).squeeze(), 0)), Doubles{3});
  EXPECT_EQ(cumprod(zeros({0, 3}, in(kDouble)), 0).sizes(), (Shape{0, 3}));
  EXPECT_EQ(cumprod(zeros({3, 0}, in(kDouble)), 0).sizes(), (Shape{3, 0}));
  EXPECT_NE(cumprod(ones({1}, in(kDouble)), 0).array().storage(), x.array().storage());
  EXPECT_THROW(cumprod(x, 2), std::out_of_range);
}

TEST_P(ScansComposed, CumprodOfProductsThatOverflowOnTheirOwn) {
  expect_values(cumprod(elements({0, 1e200, 1e200, 2}), 0), {0, 0, 0, 0});
  expect_values(cumprod(elements({1e-300, 1e200, 1e200}), 0),
                {1e-300, 1e-300 * 1e200, 1e-300 * 1e200 * 1e200});
  expect_values(cumprod(elements({1e300, 1e-200, 1e-200}), 0),
                {1e300, 1e300 * 1e-200, 1e300 * 1e-200 * 1e-200});
  expect_values(cumprod(elements({2, kInf, 0, 3}), 0), {2, kInf, kNan, kNan});
  expect_values(cumprod(elements({2, kNan, 0}), 0), {2, kNan, kNan});
  // In float32 the square would overflow.
  expect_values(cumprod(elements({0x1p-60, 0x1p100, 0x1p60}, kFloat32), 0),
                {0x1p-60, 0x1p40, 0x1p100});
}

TEST_P(ScansComposed, CumprodRoundsOnce) {
  Doubles values, wanted;
  double product = 1;
  for (int i = 0; i < 50; ++i) {
    values.push_back(1 + 0x1p-11 * (i % 7 - 3));
    product *= values.back();
    wanted.push_back(product);
  }
  for (const DType dtype : {kFloat32, kFloat16}) {
    if (dtype == kFloat16) {
      for (double& each : values) each = each < 1 ? 1 - 0x1p-11 : 1 + 0x1p-10;
      product = 1;
      for (std::size_t i = 0; i < values.size(); ++i) wanted[i] = product *= values[i];
    }
    EXPECT_EQ(elements(cumprod(elements(values, dtype), 0)), elements(elements(wanted, dtype)));
  }
}

TEST_P(ScansComposed, RunningExtremesTakeTheLastOfEqualElements) {
  const Tensor x = elements({1, 3, 3, 2, 5, 0, 5});
  const auto [largest, at] = cummax(x, 0);
  EXPECT_EQ(elements(largest), (Doubles{1, 3, 3, 3, 5, 5, 5}));
  EXPECT_EQ(elements(at), (Doubles{0, 1, 2, 2, 4, 4, 6}));
  EXPECT_EQ(at.dtype(), kLong);
  const auto [smallest, where_smallest] = cummin(x, -1);
  EXPECT_EQ(elements(smallest), (Doubles{1, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(elements(where_smallest), (Doubles{0, 0, 0, 0, 0, 5, 5}));
  const auto [values, indices] = cummax(elements({2, kNan, 3, kNan, 9}), 0);
  expect_values(values, {2, kNan, kNan, kNan, kNan});
  EXPECT_EQ(elements(indices), (Doubles{0, 1, 1, 3, 3}));
}

TEST_P(ScansComposed, RunningExtremesOfOtherShapesAndDtypes) {
  const Tensor x = elements({1, 3, 2, 0, 4, 1}).reshape({2, 3});
  EXPECT_EQ(elements(std::get<0>(cummax(x, 0))), (Doubles{1, 3, 2, 1, 4, 2}));
  EXPECT_EQ(elements(std::get<1>(cummax(x.t(), 0))), (Doubles{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(elements(std::get<0>(cummin(elements({200, 5, 7}, kUInt8), 0))), (Doubles{200, 5, 5}));
  EXPECT_EQ(elements(std::get<0>(cummax(elements({0, 1, 0}, kBool), 0))), (Doubles{0, 1, 1}));
  EXPECT_EQ(elements(std::get<0>(cummax(elements({4}).squeeze(), 0))), Doubles{4});
  EXPECT_EQ(std::get<1>(cummax(elements({4}).squeeze(), 0)).sizes(), Shape());
  EXPECT_EQ(std::get<1>(cummax(zeros({2, 0}, in(kDouble)), 1)).sizes(), (Shape{2, 0}));
  EXPECT_THROW(cummin(x, -3), std::out_of_range);
}

TEST_P(ScansComposed, Logcumsumexp) {
  const Doubles xs{-1000, -1000, 0, 3, -40, 1000, 999};
  const Doubles y = elements(logcumsumexp(elements(xs), 0));
  double sum = -kInf;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double larger = std::fmax(sum, xs[i]), smaller = std::fmin(sum, xs[i]);
    sum = larger + std::log1p(std::exp(smaller - larger));
    EXPECT_NEAR(y[i], sum, 0x1p-50 * std::fmax(1, std::fabs(sum))) << i;
  }
  expect_values(logcumsumexp(elements({-kInf, -kInf, 2, kInf, 1}), 0),
                {-kInf, -kInf, 2, kInf, kInf});
  expect_values(logcumsumexp(elements({1, kNan, kInf}), 0), {1, kNan, kNan});
  EXPECT_EQ(logcumsumexp(elements({1, 2}, kHalf), 0).dtype(), kHalf);
  EXPECT_EQ(logcumsumexp(zeros({0}, in(kDouble)), 0).sizes(), Shape{0});
  EXPECT_EQ(elements(logcumsumexp(elements({5}).squeeze(), 0)), Doubles{5});
  EXPECT_EQ(message_of([&] { logcumsumexp(elements({1}, kInt), 0); }),
            "logcumsumexp: expected a floating point tensor, got int32");
}

TEST_P(ScansComposed, Diff) {
  const Tensor x = elements({1, 4, 9, 16, 5, 5}).reshape({2, 3});
  EXPECT_EQ(elements(diff(x)), (Doubles{3, 5, -11, 0}));
  EXPECT_EQ(elements(diff(x, 2)), (Doubles{2, 11}));
  EXPECT_EQ(elements(diff(x, 1, 0)), (Doubles{15, 1, -4}));
  EXPECT_EQ(elements(diff(elements({1, 3}), 1, 0, elements(Doubles{0}), elements({7, 7}))),
            (Doubles{1, 2, 4, 0}));
  EXPECT_EQ(diff(x, 3).sizes(), (Shape{2, 0}));
  EXPECT_EQ(diff(x, 9).sizes(), (Shape{2, 0}));
  EXPECT_EQ(diff(zeros({0}, in(kLong))).sizes(), Shape{0});
  EXPECT_EQ(elements(diff(x, 0)), elements(x));
  EXPECT_EQ(diff(x > 4).dtype(), kBool);
  EXPECT_EQ(elements(diff(elements({1, 0, 0}, kBool))), (Doubles{1, 0}));
  EXPECT_EQ(elements(diff(elements({1, 0}, kUInt8))), Doubles{255});
  // The first differences, 2049 and 2047, round to 2048 and 2047 in float16.
  EXPECT_EQ(elements(diff(elements({-2046, 3, 2050}, kHalf), 2)), Doubles{-2});
  EXPECT_EQ(message_of([&] { diff(x, -1); }), "diff: expected n >= 0, got -1");
  EXPECT_THROW(diff(sum(x)), std::invalid_argument);
  EXPECT_THROW(diff(x, 1, 2), std::out_of_range);
}

TEST_P(ScansComposed, Trapezoid) {
  const Tensor y = elements({1, 2, 4, 0, 1, 5}).reshape({2, 3});
  EXPECT_EQ(elements(trapezoid(y)), (Doubles{4.5, 3.5}));
  EXPECT_EQ(elements(trapezoid(y, 2)), (Doubles{9, 7}));
  EXPECT_EQ(elements(trapezoid(y, 1, 0)), (Doubles{0.5, 1.5, 4.5}));
  EXPECT_EQ(elements(trapezoid(y, elements({0, 1, 3}))), (Doubles{7.5, 6.5}));
  EXPECT_EQ(elements(trapezoid(y, elements({0, 2}), 0)), (Doubles{1, 3, 9}));
  EXPECT_EQ(elements(trapezoid(y, elements({0, 1, 3, 0, 2, 4}).reshape({2, 3}))),
            (Doubles{7.5, 7}));
  EXPECT_EQ(elements(trapz(y, elements({0, 1, 3}))), (Doubles{7.5, 6.5}));
  EXPECT_EQ(elements(trapz(y, 0.5)), (Doubles{2.25, 1.75}));
  EXPECT_EQ(elements(trapz(y)), (Doubles{4.5, 3.5}));
  EXPECT_EQ(trapezoid(elements({1, 2}, kInt)).dtype(), kFloat32);
  EXPECT_EQ(trapezoid(elements({1, 2}, kInt)).item(), 1.5);
  EXPECT_EQ(trapezoid(elements({6e4, 6e4}, kHalf)).item(), elements(elements({6e4}, kHalf))[0]);
  EXPECT_EQ(trapezoid(elements({3})).item(), 0);
  EXPECT_EQ(trapezoid(elements(Doubles())).item(), 0);
  EXPECT_EQ(trapezoid(elements(Doubles()), elements(Doubles())).item(), 0);
  EXPECT_EQ(elements(trapezoid(zeros({2, 0}, in(kDouble)))), (Doubles{0, 0}));
}

TEST_P(ScansComposed, TrapezoidRefuses) {
  const Tensor y = elements({1, 2, 4, 0, 1, 5}).reshape({2, 3});
  EXPECT_EQ(message_of([&] {
              trapezoid(y, elements({1, 2}));
            }),
            "trapezoid: expected points x for dimension 1 of y, got [2] and [2, 3]");
  EXPECT_THROW(trapezoid(y, elements({1})), std::invalid_argument);
  EXPECT_THROW(trapezoid(elements({1, 2}), elements({1})), std::invalid_argument);
  EXPECT_THROW(trapezoid(y, y.unsqueeze(0)), std::invalid_argument);
  EXPECT_THROW(trapezoid(y, y.t()), std::invalid_argument);
  EXPECT_THROW(trapezoid(y, sum(y)), std::invalid_argument);
  EXPECT_THROW(trapezoid(y > 0), std::invalid_argument);
  EXPECT_THROW(trapezoid(sum(y)), std::invalid_argument);
  EXPECT_THROW(trapezoid(y, 1, 2), std::out_of_range);
}

TEST_P(ScansComposed, GradientsAgreeWithFiniteDifferences) {
  struct Case {
    const char* name;
    std::function<Tensor(const std::vector<Tensor>&)> function;
  };
  using In = std::vector<Tensor>;
  const Tensor zero_one = elements({1, 0, 1, 1}), scales = elements({1e-200, 1e150, 1e150, 1e-100});
  const Case cases[] = {
      {"cumprod", [](const In& in) { return cumprod(in[0], 1); }},
      {"cumprod, zeros", [&](const In& in) { return cumprod(in[0] * zero_one, 1); }},
      {"cumprod, one by one",
       [&](const In& in) {
         return cumprod(in[0] * scales, 1) * elements({1e200, 1e50, 1e-100, 1});
       }},
      {"cummax", [](const In& in) { return std::get<0>(cummax(in[0], 1)); }},
      {"cummin", [](const In& in) { return std::get<0>(cummin(in[0], 0)); }},
      {"logcumsumexp", [](const In& in) { return logcumsumexp(in[0], 1); }},
      {"diff", [](const In& in) { return diff(in[0], 2, 1, in[1]); }},
      {"trapezoid", [](const In& in) { return trapezoid(in[0], 0.5, 0); }},
      {"trapezoid, x", [](const In& in) { return trapezoid(in[0], in[1]); }}};
  In inputs;
  for (std::uint64_t stream = 0; stream < 2; ++stream) {
    const Tensor x = random_tensor({3, 4}, -2, 2, {.seed = 7, .stream = stream});
    inputs.push_back(x.to(device()).requires_grad_());
  }
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(autograd::gradcheck(c.function, inputs));
    EXPECT_TRUE(autograd::gradgradcheck(c.function, inputs));
  }
}

}  // namespace
}  // namespace halfgrad
