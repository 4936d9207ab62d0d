#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/autograd/composed/statistics.h>
#include <halfgrad/autograd/composed/writing.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// scatter_reduce() and covariances. Expected values are PyTorch's.
namespace halfgrad {
namespace {

using In = std::vector<Tensor>;
using ScatterReduce = TensorsOnDevice;
HALFGRAD_ON_DEVICES(ScatterReduce);

TEST_P(ScatterReduce, CombinesTheValuesOfAPlace) {
  struct Case {
    const char* reduce;
    Doubles with_self, without;
  };
  const std::vector<Case> cases{
      {"sum", {10, 2, 2, 4, 16.5, 6}, {9, 2, -1, 4, 11.5, 6}},
      {"prod", {14, 2, -3, 4, 45, 6}, {14, 2, -1, 4, 9, 6}},
      {"mean", {10.0 / 3, 2, 1, 4, 4.125, 6}, {4.5, 2, -1, 4, 11.5 / 3, 6}},
      {"amax", {7, 2, 3, 4, 9, 6}, {7, 2, -1, 4, 9, 6}},
      {"amin", {1, 2, -1, 4, 0.5, 6}, {2, 2, -1, 4, 0.5, 6}}};
  const Tensor index = elements({0, 0, 2, 1, 1, 1}, kLong).reshape({2, 3});
  for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    const Tensor x = elements({1, 2, 3, 4, 5, 6}, dtype).reshape({2, 3});
    const Tensor src = elements({2, 7, -1, 0.5, 2, 9}, dtype).reshape({2, 3});
    for (const Case& c : cases) {
      SCOPED_TRACE(c.reduce);
      const Tensor y = scatter_reduce(x, 1, index, src, c.reduce);
      EXPECT_EQ(y.dtype(), dtype);
      expect_values(y.flatten(), elements(elements(c.with_self).to(dtype)));
      expect_values(x.scatter_reduce(-1, index, src, c.reduce, false).flatten(),
                    elements(elements(c.without).to(dtype)));
      expect_values(x.t().scatter_reduce(0, index.t(), src.t(), c.reduce).t().flatten(),
                    elements(y));
      expect_values(x.clone().scatter_reduce_(1, index, src, c.reduce).flatten(), elements(y));
    }
  }
  const Tensor whole = elements({1, 2, 3, 4, 5, 6}, kLong).reshape({2, 3});
  const Tensor src = elements({2, 7, -1, 0, 2, 9}, kLong).reshape({2, 3});
  EXPECT_EQ(elements(scatter_reduce(whole, 1, index, src, "mean")), (Doubles{3, 2, 1, 4, 4, 6}));
  EXPECT_EQ(elements(scatter_reduce(whole, 1, index, src, "mean", false)),
            (Doubles{4, 2, -1, 4, 3, 6}));
  EXPECT_EQ(elements(whole.scatter(1, index, src, "add")), (Doubles{10, 2, 2, 4, 16, 6}));
  EXPECT_EQ(elements(whole.clone().scatter_(1, index, 2, "multiply")),
            (Doubles{4, 2, 6, 4, 40, 6}));
}

TEST_P(ScatterReduce, ManyValuesOfFewPlaces) {
  const std::int64_t n = 1000;
  const Tensor src = random_tensor({n}, 0.99, 1.01, {.seed = 3}).to(device());
  const Tensor index = (arange(n, in(kLong)) * 7).remainder(3);
  const Doubles values = elements(src);
  Doubles product{1, 1, 1}, largest{1, 1, 1};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t place = i * 7 % 3;
    product[place] *= values[i];
    largest[place] = std::max(largest[place], values[i]);
  }
  const Tensor x = ones({3}, in(kFloat64));
  EXPECT_EQ(elements(scatter_reduce(x, 0, index, src, "amax")), largest);
  const Doubles actual = elements(scatter_reduce(x, 0, index, src, "prod"));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(actual[i], product[i], 400 * roundoff(kFloat64) * product[i]);
  }
}

TEST_P(ScatterReduce, NaNEmptyAndMistakes) {
  const Tensor x = elements({1, 2}), index = elements({0, 0}, kLong);
  expect_values(scatter_reduce(x, 0, index, elements({kNan, 3}), "amin"), {kNan, 2});
  expect_values(scatter_reduce(x, 0, index, elements({3, kNan}), "amax"), {kNan, 2});
  expect_values(scatter_reduce(x, 0, index, elements({kInf, -kInf}), "amax"), {kInf, 2});
  const Tensor none = elements(Doubles(), kLong);
  for (const char* const reduce : {"sum", "prod", "mean", "amax", "amin"}) {
    expect_values(scatter_reduce(x, 0, none, elements(Doubles()), reduce, false), {1, 2});
  }
  EXPECT_EQ(elements(scatter_reduce(elements({2}).reshape({}), 0, elements({0}, kLong).reshape({}),
                                    elements({3}).reshape({}), "prod")),
            Doubles{6});
  EXPECT_EQ(message_of([&] { scatter_reduce(x, 0, index, x, "add"); }),
            "scatter_reduce: expected sum, prod, mean, amax or amin, got add");
  EXPECT_EQ(message_of([&] { x.scatter(0, index, x, "sum"); }),
            "scatter: expected add or multiply, got sum");
  EXPECT_THROW(scatter_reduce(x, 0, index, x.to(kFloat32), "sum"), std::invalid_argument);
  // A GPU reports it when the host next waits.
  EXPECT_THROW(elements(scatter_reduce(x, 0, index + 2, x, "sum")), std::out_of_range);
}

TEST_P(ScatterReduce, GradientsAgreeWithFiniteDifferences) {
  const auto random = [&](const Shape& sizes, std::uint64_t stream) {
    return random_tensor(sizes, -2, 2, {.seed = 4, .stream = stream}).to(device()).requires_grad_();
  };
  const Tensor x = random({2, 2}, 0), src = random({4, 2}, 1);
  const Tensor index = elements({0, 0, 0, 1, 1, 1, 0, 1}, kLong).reshape({4, 2});
  for (const char* const reduce : {"sum", "prod", "mean", "amax", "amin"}) {
    for (const bool include_self : {true, false}) {
      SCOPED_TRACE(reduce);
      const auto f = [&](const In& in) {
        return scatter_reduce(in[0], 0, index, in[1], reduce, include_self);
      };
      EXPECT_TRUE(autograd::gradcheck(f, {x, src}));
      EXPECT_TRUE(!include_self || autograd::gradgradcheck(f, {x, src}));
    }
  }
}

TEST_P(ScatterReduce, EqualExtremaShareTheGradient) {
  const Tensor x = elements({3, 1, 0}).requires_grad_();
  const Tensor src = elements({3, 3, 0, 1}).requires_grad_();
  scatter_reduce(x, 0, elements({0, 0, 0, 1}, kLong), src, "amax").backward(elements({6, 1, 1}));
  EXPECT_EQ(elements(x.grad()), (Doubles{2, 0.5, 1}));
  EXPECT_EQ(elements(src.grad()), (Doubles{2, 2, 0, 0.5}));
}

using Covariance = TensorsOnDevice;
HALFGRAD_ON_DEVICES(Covariance);

void expect_close(const Tensor& actual, const Doubles& expected) {
  const Doubles values = elements(actual);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], 16 * roundoff(kFloat32) * std::fabs(expected[i])) << i;
  }
}

TEST_P(Covariance, OfRowsWithWeights) {
  const Tensor z = elements({0, 1, 2, 4, 2, 1, 0, 7, 1, 5, 2, 2}).reshape({3, 4});
  expect_close(
      cov(z), {35.0 / 12, 23.0 / 6, -1.0 / 6, 23.0 / 6, 29.0 / 3, -4.0 / 3, -1.0 / 6, -4.0 / 3, 3});
  expect_close(corrcoef(z), {1, 0.7219294905662537, -0.05634361878037453, 0.7219294905662537, 1,
                             -0.24759379029273987, -0.05634361878037453, -0.24759379029273987, 1});
  const Tensor counts = elements({1, 2, 0, 3}, kLong), weights = elements({0.5, 1, 2, 0.25});
  expect_close(z.cov(0, counts, {}), {26.0 / 9, 83.0 / 18, -17.0 / 18, 83.0 / 18, 8.138888888888889,
                                      -101.0 / 36, -17.0 / 18, -101.0 / 36, 89.0 / 36});
  expect_close(z.cov(1, counts, weights),
               {2.5230767726898193, 4.123076438903809, -0.9846153259277344, 4.123076438903809,
                7.9230756759643555, -3.5846152305603027, -0.9846153259277344, -3.5846152305603027,
                3.6769232749938965});
  expect_close(cov(z[0]), {35.0 / 12});
  EXPECT_EQ(cov(z.slice(0, 0, 1)).dim(), 0);
  EXPECT_EQ(cov(z.to(kLong)).dtype(), kFloat32);
  EXPECT_EQ(cov(z.to(kHalf)).dtype(), kHalf);
  EXPECT_EQ(corrcoef(z[0]).item<double>(), 1);
  for (const double c : elements(cov(z.slice(1, 0, 1)))) EXPECT_TRUE(std::isnan(c));
  EXPECT_THROW(cov(z, 1, counts - 5), std::invalid_argument);
  EXPECT_THROW(cov(z, 1, weights), std::invalid_argument);
  EXPECT_THROW(cov(z.unsqueeze(0)), std::invalid_argument);
}

TEST_P(Covariance, GradientsAgreeWithFiniteDifferences) {
  const Tensor x = random_tensor({3, 5}, -1, 1, {.seed = 6}).to(device()).requires_grad_();
  const Tensor w = random_tensor({5}, 0.5, 1, {.seed = 7}).to(device()).requires_grad_();
  EXPECT_TRUE(autograd::gradcheck([](const In& in) { return cov(in[0], 1, {}, in[1]); }, {x, w}));
  EXPECT_TRUE(autograd::gradcheck([](const In& in) { return corrcoef(in[0]); }, {x}));
}

}  // namespace
}  // namespace halfgrad
