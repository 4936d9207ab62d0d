#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>

// Ops with a Scalar instead of a tensor, or one dimension instead of a list, give the same result.
namespace halfgrad {
namespace {

void expect_same(const std::string& what, const Tensor& actual, const Tensor& expected) {
  EXPECT_EQ(actual.dtype(), expected.dtype()) << what;
  EXPECT_EQ(actual.sizes(), expected.sizes()) << what;
  EXPECT_EQ(actual.to_vector<double>(), expected.to_vector<double>()) << what;
}

TEST(ScalarForms, EqualTensorOperands) {
  const Tensor x = tensor({{1.0, -2.0, 3.0}, {0.5, 5.0, 2.0}}, {.dtype = kHalf});
  const Tensor two = full({}, 2, {.dtype = kHalf});
  const std::vector<std::pair<std::string, std::pair<Tensor, Tensor>>> cases = {
      {"add", {add(x, 2), add(x, two)}},
      {"add 3 times", {add(x, 2, 3), add(x, two, 3)}},
      {"sub", {sub(x, 2), sub(x, two)}},
      {"sub 3 times", {sub(x, 2.0, 3), sub(x, two, 3)}},
      {"mul", {mul(x, 2), mul(x, two)}},
      {"div", {div(x, 2), div(x, two)}},
      {"div, rounded", {div(x, 2, "floor"), div(x, two, "floor")}},
      {"floor_divide", {floor_divide(x, 2), floor_divide(x, two)}},
      {"remainder", {remainder(x, 2), remainder(x, two)}},
      {"remainder, scalar first", {remainder(2, x), remainder(two, x)}},
      {"%", {x % 2, x % two}},
      {"%, scalar first", {2 % x, two % x}},
      {"fmod", {fmod(x, 2), fmod(x, two)}},
      {"eq", {eq(x, 2), eq(x, two)}},
      {"ne", {ne(x, 2), ne(x, two)}},
      {"lt", {lt(x, 2), lt(x, two)}},
      {"le", {le(x, 2), le(x, two)}},
      {"gt", {gt(x, 2), gt(x, two)}},
      {"ge", {ge(x, 2), ge(x, two)}},
      {"where, scalar last", {where(x > 1, x, 2), where(x > 1, x, two)}},
      {"where, scalar first", {where(x > 1, 2, x), where(x > 1, two, x)}},
      {"max", {max(x, two), maximum(x, two)}},
      {"min", {min(x, two), minimum(x, two)}},
  };
  for (const auto& [what, pair] : cases) expect_same(what, pair.first, pair.second);
}

TEST(ScalarForms, EqualListsOfDimensions) {
  const Tensor x = tensor({{1.0, -2.0, 3.0}, {0.5, 5.0, 2.0}});
  for (const std::int64_t dim : {0, 1, -1}) {
    const Shape dims = {dim};
    expect_same("sum", sum(x, dim), sum(x, dims));
    expect_same("x.sum", x.sum(dim, true), sum(x, dims, true));
    expect_same("mean", mean(x, dim, true, kDouble), mean(x, dims, true, kDouble));
    expect_same("x.mean", x.mean(dim), mean(x, dims));
    expect_same("logsumexp", logsumexp(x, dim), logsumexp(x, dims));
    expect_same("var", var(x, dim, false), var(x, dims, false));
    expect_same("std", std(x, dim), std(x, dims));
  }
  const Shape first = {0};
  expect_same("var of a list", var(x, {0}), var(x, first));  // 0 is not a false `unbiased`
  expect_same("var, biased", var(x, false), var(x, Shape(), false));
}

}  // namespace
}  // namespace halfgrad
