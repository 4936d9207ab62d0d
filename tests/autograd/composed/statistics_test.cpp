#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

#include <halfgrad/autograd/composed/statistics.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Expected values are PyTorch's.
namespace halfgrad {
namespace {

using StatisticsComposed = TensorsOnDevice;
HALFGRAD_ON_DEVICES(StatisticsComposed);

using StatisticsPair = std::tuple<Tensor, Tensor>;

Tensor first_of(const StatisticsPair& pair) { return std::get<0>(pair); }
Doubles values_in(const StatisticsPair& pair) { return elements(std::get<0>(pair)); }
Doubles indices_in(const StatisticsPair& pair) {
  EXPECT_EQ(std::get<1>(pair).dtype(), kLong);
  return elements(std::get<1>(pair));
}

TEST_P(StatisticsComposed, MedianIsTheLowerMiddleElement) {
  const Tensor x = elements({4, 1, 3, 2, 9, 7, 8, 8}).reshape({2, 4});
  EXPECT_EQ(median(x).item(), 4);
  EXPECT_EQ(median(x).sizes(), Shape());
  EXPECT_EQ(values_in(median(x, 1)), (Doubles{2, 8}));
  EXPECT_EQ(indices_in(median(x, 1)), (Doubles{3, 2}));
  EXPECT_EQ(values_in(median(x, -2)), (Doubles{4, 1, 3, 2}));
  EXPECT_EQ(values_in(median(x.t(), 0)), (Doubles{2, 8})) << "not contiguous";
  EXPECT_EQ(first_of(median(x, 1, true)).sizes(), (Shape{2, 1}));
  EXPECT_EQ(first_of(median(x, 0)).sizes(), Shape{4});
  EXPECT_EQ(values_in(median(median(x), 0)), Doubles{4});
  EXPECT_EQ(first_of(median(median(x), -1, true)).sizes(), Shape());
  EXPECT_EQ(median(elements({5, 3, 4}, kHalf)).dtype(), kHalf);
  EXPECT_EQ(median(elements({5, 3, 4, 1}, kUInt8)).item(), 3);
}

TEST_P(StatisticsComposed, MedianOfNanAndOfNothing) {
  const Tensor x = elements({1, kNan, 0, kNan, 5, 6, 7, 8}).reshape({2, 4});
  EXPECT_TRUE(std::isnan(median(x).item()));
  EXPECT_TRUE(std::isnan(values_in(median(x, 1))[0]));
  EXPECT_EQ(values_in(median(x, 1))[1], 6);
  EXPECT_EQ(indices_in(median(x, 1)), (Doubles{1, 1}));
  EXPECT_TRUE(std::isnan(median(elements(Doubles())).item()));
  EXPECT_EQ(message_of([&] { median(elements(Doubles(), kLong)); }),
            "median: expected elements, got shape [0]");
  const Tensor none = zeros({3, 0}, in(kDouble));
  EXPECT_EQ(message_of([&] { median(none, 1); }),
            "median: expected elements along dimension 1, got shape [3, 0]");
  EXPECT_EQ(first_of(median(none, 0)).sizes(), Shape{0});
  EXPECT_THROW(median(x, 2), std::out_of_range);
}

TEST_P(StatisticsComposed, MedianSharesItsGradientAmongEqualElements) {
  const Tensor x = elements({2, 1, 2, 3}).requires_grad_();
  median(x).backward();
  EXPECT_EQ(elements(x.grad()), (Doubles{0.5, 0, 0.5, 0}));
  const Tensor y = elements({2, kNan, 1, kNan}).requires_grad_();
  median(y).backward();
  EXPECT_EQ(elements(y.grad()), (Doubles{0, 0.5, 0, 0.5}));
  const Tensor z = elements({2, 1, 2, 3}).requires_grad_();
  first_of(median(z, 0)).backward();
  EXPECT_EQ(elements(z.grad()), (Doubles{1, 0, 0, 0}));
}

TEST_P(StatisticsComposed, Kthvalue) {
  const Tensor x = elements({4, 1, kNan, 2, 9, 7, 8, 6}).reshape({2, 4});
  EXPECT_EQ(values_in(kthvalue(x, 2)), (Doubles{2, 7}));
  EXPECT_EQ(indices_in(kthvalue(x, 2)), (Doubles{3, 1}));
  EXPECT_TRUE(std::isnan(values_in(kthvalue(x, 4))[0]));
  EXPECT_EQ(values_in(kthvalue(x, 1, 0)), (Doubles{4, 1, 8, 2}));
  EXPECT_EQ(first_of(kthvalue(x, 1, 0, true)).sizes(), (Shape{1, 4}));
  EXPECT_EQ(values_in(kthvalue(elements({3}).squeeze(), 1)), Doubles{3});
  EXPECT_EQ(values_in(kthvalue(elements({3, 1, 2}, kInt), 3)), Doubles{3});
  EXPECT_EQ(message_of([&] { kthvalue(x, 5); }), "kthvalue: expected 1 <= k <= 4, got 5");
  EXPECT_THROW(kthvalue(x, 0), std::invalid_argument);
  EXPECT_THROW(kthvalue(x, 1, 2), std::out_of_range);
  EXPECT_THROW(kthvalue(zeros({0}, in(kDouble)), 1), std::invalid_argument);
}

TEST_P(StatisticsComposed, ModeIsTheSmallestOfTheMostFrequent) {
  const Tensor x = elements({3, 1, 3, 1, 2, 5, 5, 5, 0, 0}).reshape({2, 5});
  EXPECT_EQ(values_in(mode(x)), (Doubles{1, 5}));
  EXPECT_EQ(indices_in(mode(x)), (Doubles{3, 2}));
  EXPECT_EQ(values_in(mode(x, 0)), (Doubles{3, 1, 3, 0, 0}));
  EXPECT_EQ(first_of(mode(x, 1, true)).sizes(), (Shape{2, 1}));
  EXPECT_EQ(values_in(mode(elements({kNan, kNan, 4}))), Doubles{4});
  EXPECT_TRUE(std::isnan(values_in(mode(elements({kNan})))[0]));
  EXPECT_EQ(values_in(mode(elements({7}).squeeze())), Doubles{7});
  EXPECT_EQ(values_in(mode(elements({1, 0, 1}, kBool))), Doubles{1});
  EXPECT_THROW(mode(elements(Doubles())), std::invalid_argument);
  const Tensor y = elements({3, 1, 3, 1}).requires_grad_();
  first_of(mode(y)).backward();
  EXPECT_EQ(elements(y.grad()), (Doubles{0, 0, 0, 1}));
}

TEST_P(StatisticsComposed, QuantileInterpolates) {
  const Tensor x = elements({4, 1, 3, 2, 10, 20, 40, 30}).reshape({2, 4});
  EXPECT_EQ(quantile(x, 0.5).item(), 7);
  EXPECT_EQ(elements(quantile(x, 0.25, 1)), (Doubles{1.75, 17.5}));
  EXPECT_EQ(elements(quantile(x, elements({0, 0.5, 1}), 1)), (Doubles{1, 10, 2.5, 25, 4, 40}));
  EXPECT_EQ(quantile(x, elements({0, 0.5, 1}), 1).sizes(), (Shape{3, 2}));
  EXPECT_EQ(quantile(x, elements({0, 0.5, 1}), 1, true).sizes(), (Shape{3, 2, 1}));
  EXPECT_EQ(quantile(x, elements({0.5}), std::nullopt, true).sizes(), (Shape{1, 1, 1}));
  EXPECT_EQ(quantile(x, 0.5, std::nullopt, true).sizes(), (Shape{1, 1}));
  EXPECT_EQ(quantile(x, elements(Doubles()), 0).sizes(), (Shape{0, 4}));
  const char* const ways[] = {"lower", "higher", "nearest", "midpoint", "linear"};
  const double wanted[] = {1, 2, 2, 1.5, 1.6};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(quantile(x.select(0, 0), 0.2, 0, false, ways[i]).item(), wanted[i], 1e-15)
        << ways[i];
  }
  const char* const even = "0.5 and 1.5 round to an even index";
  EXPECT_EQ(quantile(elements({1, 2}), 0.5, 0, false, "nearest").item(), 1) << even;
  EXPECT_EQ(quantile(x.select(0, 0), 0.5, 0, false, "nearest").item(), 3) << even;
  EXPECT_EQ(quantile(quantile(x, 0.5), 0.3, -1).item(), 7);
}

TEST_P(StatisticsComposed, QuantileRanksAreRoundedToTheDtype) {
  const Tensor x = arange(11, in(kFloat32));
  EXPECT_EQ(quantile(x, elements({0.1}, kFloat32), 0, false, "higher").item(), 1);
  EXPECT_EQ(quantile(x, 0.1, 0, false, "lower").item(), 1);
  EXPECT_EQ(quantile(x, 0.1).dtype(), kFloat32);
}

TEST_P(StatisticsComposed, QuantileOfNanAndInfinity) {
  const Tensor x = elements({1, kNan, 3, 4}).reshape({2, 2});
  expect_values(quantile(x, 0.5, 1), {kNan, 3.5});
  expect_values(quantile(x, 0, 1), {kNan, 3});
  const Tensor infinite = elements({-kInf, -kInf, 0, 1, kInf, kInf});
  for (const auto& [q, wanted] : std::vector<std::pair<double, double>>{
           {0.1, -kInf}, {0.3, -kInf}, {0.5, 0.5}, {0.7, kInf}, {0.62, kInf}, {0.9, kInf}}) {
    EXPECT_EQ(quantile(infinite, q).item(), wanted) << q;
  }
  EXPECT_TRUE(std::isnan(quantile(elements({-kInf, kInf}), 0.5).item()));
}

TEST_P(StatisticsComposed, QuantileRefuses) {
  const Tensor x = elements({1});
  EXPECT_EQ(message_of([&] { quantile(x, 1.5); }), "quantile: expected 0 <= q <= 1, got 1.5");
  EXPECT_THROW(quantile(x, kNan), std::invalid_argument);
  EXPECT_THROW(quantile(x, elements({0, -0.1})), std::invalid_argument);
  EXPECT_THROW(quantile(x, elements({1}, kLong)), std::invalid_argument);
  EXPECT_THROW(quantile(x, zeros({1, 1}, in(kDouble))), std::invalid_argument);
  EXPECT_THROW(quantile(x.to(kHalf), 0.5), std::invalid_argument);
  EXPECT_THROW(quantile(elements(Doubles()), 0.5), std::invalid_argument);
  EXPECT_THROW(quantile(x, 0.5, 1), std::out_of_range);
  EXPECT_THROW(quantile(x, 0.5, 0, false, "cubic"), std::invalid_argument);
}

TEST_P(StatisticsComposed, SumsAndMeansWithoutNan) {
  const Tensor x = elements({1, kNan, 3, kNan, kNan, kNan}).reshape({2, 3});
  EXPECT_EQ(nansum(x).item(), 4);
  EXPECT_EQ(elements(nansum(x, 1)), (Doubles{4, 0}));
  EXPECT_EQ(nansum(x, {0, 1}, true).sizes(), (Shape{1, 1}));
  EXPECT_EQ(nansum(elements({1, 2}, kInt)).dtype(), kLong);
  EXPECT_EQ(nansum(x, kFloat32).dtype(), kFloat32);
  EXPECT_EQ(nanmean(x).item(), 2);
  expect_values(nanmean(x, -1), {2, kNan});
  EXPECT_EQ(nanmean(x, {0}, true).sizes(), (Shape{1, 3}));
  EXPECT_EQ(nanmean(elements({6e4, 6e4, kNan}, kHalf)).item(), elements(elements({6e4}, kHalf))[0]);
  EXPECT_EQ(nanmean(elements({1, 2}, kInt), kDouble).item(), 1.5);
  EXPECT_TRUE(std::isnan(nanmean(elements(Doubles())).item()));
  EXPECT_EQ(nansum(elements(Doubles())).item(), 0);
  EXPECT_THROW(nanmean(elements({1}, kInt)), std::invalid_argument);
  const Tensor y = elements({1, kNan, 3}).requires_grad_();
  nanmean(y).backward();
  EXPECT_EQ(elements(y.grad()), (Doubles{0.5, 0, 0.5}));
}

TEST_P(StatisticsComposed, Aminmax) {
  const Tensor x = elements({3, -1, 2, 5, kNan, 4}).reshape({2, 3});
  expect_values(first_of(aminmax(x, 1)), {-1, kNan});
  expect_values(std::get<1>(aminmax(x, 1)), {3, kNan});
  EXPECT_EQ(first_of(aminmax(x, 0, true)).sizes(), (Shape{1, 3}));
  EXPECT_EQ(first_of(aminmax(x, std::nullopt, true)).sizes(), (Shape{1, 1}));
  EXPECT_EQ(indices_in(aminmax(elements({3, 1, 2}, kLong))), Doubles{3});
  EXPECT_THROW(aminmax(elements(Doubles())), std::invalid_argument);
}

TEST_P(StatisticsComposed, CountNonzero) {
  const Tensor x = elements({0, 1, kNan, -0.0, 2, 0}).reshape({2, 3});
  EXPECT_EQ(count_nonzero(x).item(), 3);
  EXPECT_EQ(elements(count_nonzero(x, 0)), (Doubles{0, 2, 1}));
  EXPECT_EQ(count_nonzero(x, {0, 1}).item(), 3);
  EXPECT_EQ(count_nonzero(x > 0).dtype(), kLong);
  EXPECT_EQ(count_nonzero(elements(Doubles())).item(), 0);
  EXPECT_THROW(count_nonzero(x, 2), std::out_of_range);
}

TEST_P(StatisticsComposed, Cdist) {
  const Tensor a = elements({0, 0, 3, 4}).reshape({2, 2}), b = elements({0, 1}).reshape({1, 2});
  EXPECT_EQ(elements(cdist(a, b)), (Doubles{1, std::sqrt(18.0)}));
  EXPECT_EQ(elements(cdist(a, b, 1)), (Doubles{1, 6}));
  EXPECT_EQ(elements(cdist(a, b, kInf)), (Doubles{1, 3}));
  EXPECT_EQ(elements(cdist(a, b, 0)), (Doubles{1, 2}));
  EXPECT_EQ(cdist(ones({5, 1, 2, 3}, in(kDouble)), ones({4, 7, 3}, in(kDouble))).sizes(),
            (Shape{5, 4, 2, 7}));
  EXPECT_EQ(elements(cdist(zeros({2, 0}, in(kDouble)), zeros({1, 0}, in(kDouble)), kInf)),
            (Doubles{0, 0}));
  EXPECT_EQ(cdist(zeros({0, 3}, in(kDouble)), zeros({2, 3}, in(kDouble)), kInf).sizes(),
            (Shape{0, 2}));
  EXPECT_EQ(cdist(a.to(kHalf), b.to(kHalf)).dtype(), kHalf);
  EXPECT_EQ(cdist(elements({6e4}, kHalf).unsqueeze(0), elements({-1}, kHalf).unsqueeze(0)).item(),
            elements(elements({60001}, kHalf))[0]);
  EXPECT_THROW(cdist(a, elements({1, 2})), std::invalid_argument);
  EXPECT_THROW(cdist(a, ones({2, 3}, in(kDouble))), std::invalid_argument);
  EXPECT_THROW(cdist(a, b, -1), std::invalid_argument);
  EXPECT_THROW(cdist(a, b, kNan), std::invalid_argument);
  EXPECT_THROW(cdist(a.to(kLong), b.to(kLong)), std::invalid_argument);
}

TEST_P(StatisticsComposed, CdistComparesAllRowsOfEachBatch) {
  constexpr std::int64_t kRows = 5, kColumns = 70, kSize = 40;
  const Tensor a = random_tensor({2, 1, kRows, kSize}, -2, 2, {.seed = 3});
  const Tensor b = random_tensor({3, kColumns, kSize}, -2, 2, {.seed = 4});
  const Tensor distances = cdist(a.to(device()), b.to(device()));
  EXPECT_EQ(distances.sizes(), (Shape{2, 3, kRows, kColumns}));
  const Tensor expected = norm(unsqueeze(a, -2) - unsqueeze(b, -3), 2, {-1});
  EXPECT_LE(worst_error(distances.to(kCPU), expected).roundoffs, 8);
  for (const DType dtype : {kFloat, kHalf, kBFloat16}) {
    const Tensor x = a.to(dtype), y = b.to(dtype);
    const Tensor wide = cdist(x.to(kDouble), y.to(kDouble));
    const Tensor narrow_distances = cdist(x.to(device()), y.to(device()));
    EXPECT_EQ(narrow_distances.dtype(), dtype);
    EXPECT_LE(worst_error(narrow_distances.to(kCPU), wide).roundoffs, 8) << dtype;
  }
  EXPECT_EQ(elements(cdist(zeros({2, 0}, in(kDouble)), zeros({1, 0}, in(kDouble)))),
            (Doubles{0, 0}));
  EXPECT_EQ(cdist(zeros({0, 3}, in(kDouble)), zeros({4, 3}, in(kDouble))).sizes(), (Shape{0, 4}));
  EXPECT_EQ(elements(cdist(elements({1, 2, 3, 4}).reshape({2, 2}).t(),
                           elements({1, 3, 2, 5}).reshape({2, 2}))),
            (Doubles{0, std::hypot(1.0, 2.0), std::hypot(1.0, 1.0), 1}))
      << "not contiguous";
  const Tensor same = elements({1, 2}).reshape({1, 2}).requires_grad_();
  cdist(same, elements({1, 2}).reshape({1, 2})).sum().backward();
  EXPECT_EQ(elements(same.grad()), (Doubles{0, 0}));
}

TEST_P(StatisticsComposed, GradientsAgreeWithFiniteDifferences) {
  struct Case {
    const char* name;
    std::function<Tensor(const std::vector<Tensor>&)> function;
  };
  using In = std::vector<Tensor>;
  const Case cases[] = {
      {"median", [](const In& in) { return median(in[0]); }},
      {"median, dim", [](const In& in) { return first_of(median(in[0], 0)); }},
      {"kthvalue", [](const In& in) { return first_of(kthvalue(in[0], 2, 1)); }},
      {"mode", [](const In& in) { return first_of(mode(in[0], 1)); }},
      {"quantile", [](const In& in) { return quantile(in[0], 0.3, 1); }},
      {"quantile, q", [](const In& in) { return quantile(in[0], sigmoid(in[1].select(0, 0))); }},
      {"nansum", [](const In& in) { return nansum(in[0], 1); }},
      {"nanmean", [](const In& in) { return nanmean(in[0], 0); }},
      {"aminmax", [](const In& in) { return first_of(aminmax(in[0], 1)); }},
      {"cdist", [](const In& in) { return cdist(in[0], in[1]); }},
      {"cdist, 3", [](const In& in) { return cdist(in[0], in[1], 3); }}};
  In inputs;
  for (std::uint64_t stream = 0; stream < 2; ++stream) {
    const Tensor x = random_tensor({3, 4}, -2, 2, {.seed = 6, .stream = stream});
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
