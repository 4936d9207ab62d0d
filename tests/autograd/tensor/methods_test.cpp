#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/devices.h>

// Each method gives the result of the function with its name.
namespace halfgrad {
namespace {

struct MethodCase {
  std::string name;
  Tensor method, function;
};

void expect_pairs(const std::vector<MethodCase>& cases) {
  for (const auto& [name, method, function] : cases) {
    EXPECT_EQ(method.dtype(), function.dtype()) << name;
    EXPECT_EQ(method.sizes(), function.sizes()) << name;
    EXPECT_EQ(method.to_vector<double>(), function.to_vector<double>()) << name;
  }
}

class Methods : public ::testing::Test {
 protected:
  const Tensor x = tensor({{0.5, 2.25, 1.5}, {4.0, 0.75, 3.0}});
  const Tensor y = tensor({{1.5, 2.25, 0.5}, {3.0, 2.0, 1.0}});
  const Tensor w = tensor({{0.25, 0.5, 0.75}, {0.0, 1.0, 0.125}});
  const Tensor mask = x > y;
  const Tensor index = tensor({1, 0, 1});
};

TEST_F(Methods, EqualFunctionsOfArithmetic) {
  expect_pairs({{"add", x.add(y, 3), add(x, y, 3)},
                {"sub", x.sub(y, 3), sub(x, y, 3)},
                {"mul", x.mul(y), mul(x, y)},
                {"div", x.div(y), div(x, y)},
                {"add scalar", x.add(2, 3), add(x, 2, 3)},
                {"sub scalar", x.sub(2, 3), sub(x, 2, 3)},
                {"mul scalar", x.mul(2), mul(x, 2)},
                {"div scalar", x.div(2), div(x, 2)},
                {"div rounded", x.div(y, "floor"), div(x, y, "floor")},
                {"div rounded scalar", x.div(2, "trunc"), div(x, 2, "trunc")},
                {"floor_divide", x.floor_divide(y), floor_divide(x, y)},
                {"floor_divide scalar", x.floor_divide(2), div(x, 2, "floor")},
                {"remainder", x.remainder(-y), remainder(x, -y)},
                {"remainder scalar", x.remainder(-2), remainder(x, -2)},
                {"fmod", x.fmod(-y), fmod(x, -y)},
                {"fmod scalar", x.fmod(-2), fmod(x, -2)},
                {"neg", x.neg(), neg(x)},
                {"pow", x.pow(y), pow(x, y)},
                {"pow scalar", x.pow(3), pow(x, 3)},
                {"maximum", x.maximum(y), maximum(x, y)},
                {"minimum", x.minimum(y), minimum(x, y)},
                {"max", x.max(y), maximum(x, y)},
                {"min", x.min(y), minimum(x, y)},
                {"clamp scalars", x.clamp(1, 2), clamp(x, 1, 2)},
                {"clamp from below", x.clamp(y), maximum(x, y)},
                {"clamp", x.clamp(w, y), minimum(maximum(x, w), y)},
                {"clamp_min scalar", x.clamp_min(1), clamp(x, 1)},
                {"clamp_max scalar", x.clamp_max(1), clamp(x, {}, 1)},
                {"clamp_min", x.clamp_min(y), maximum(x, y)},
                {"clamp_max", x.clamp_max(y), minimum(x, y)},
                {"lerp", x.lerp(y, w), lerp(x, y, w)},
                {"lerp scalar", x.lerp(y, 0.25), lerp(x, y, 0.25)},
                {"addcmul", x.addcmul(y, w, 2), x + 2 * (y * w)},
                {"addcdiv", x.addcdiv(w, y, 2), x + 2 * (w / y)},
                {"where", x.where(mask, y), where(mask, x, y)},
                {"where scalar", x.where(mask, 7), where(mask, x, 7)}});
}

TEST_F(Methods, EqualFunctionsOfOneOperand) {
  const Tensor z = x - 1.75;
  expect_pairs({{"abs", z.abs(), abs(z)},          {"exp", z.exp(), exp(z)},
                {"expm1", z.expm1(), expm1(z)},    {"log", x.log(), log(x)},
                {"log1p", x.log1p(), log1p(x)},    {"sqrt", x.sqrt(), sqrt(x)},
                {"rsqrt", x.rsqrt(), rsqrt(x)},    {"reciprocal", x.reciprocal(), reciprocal(x)},
                {"square", z.square(), square(z)}, {"sin", z.sin(), sin(z)},
                {"cos", z.cos(), cos(z)},          {"tanh", z.tanh(), tanh(z)},
                {"erf", z.erf(), erf(z)},          {"sigmoid", z.sigmoid(), sigmoid(z)},
                {"relu", z.relu(), relu(z)},       {"floor", z.floor(), floor(z)},
                {"ceil", z.ceil(), ceil(z)},       {"round", z.round(), round(z)},
                {"trunc", z.trunc(), trunc(z)},    {"sign", z.sign(), sign(z)},
                {"exp2", z.exp2(), exp2(z)},       {"tan", z.tan(), tan(z)},
                {"log2", x.log2(), log2(x)},       {"log10", x.log10(), log10(x)}});
}

TEST_F(Methods, EqualComparisonsAndLogic) {
  const Tensor other = x.eq(y);
  expect_pairs({{"eq", x.eq(y), eq(x, y)},
                {"ne", x.ne(y), ne(x, y)},
                {"lt", x.lt(y), lt(x, y)},
                {"le", x.le(y), le(x, y)},
                {"gt", x.gt(y), gt(x, y)},
                {"ge", x.ge(y), ge(x, y)},
                {"eq scalar", x.eq(1.5), eq(x, 1.5)},
                {"ne scalar", x.ne(1.5), ne(x, 1.5)},
                {"lt scalar", x.lt(1.5), lt(x, 1.5)},
                {"le scalar", x.le(1.5), le(x, 1.5)},
                {"gt scalar", x.gt(1.5), gt(x, 1.5)},
                {"ge scalar", x.ge(1.5), ge(x, 1.5)},
                {"logical_and", mask.logical_and(other), logical_and(mask, other)},
                {"logical_or", mask.logical_or(other), logical_or(mask, other)},
                {"logical_xor", mask.logical_xor(other), logical_xor(mask, other)},
                {"logical_not", mask.logical_not(), logical_not(mask)},
                {"isfinite", (x / 0).isfinite(), isfinite(x / 0)},
                {"isinf", (x / 0).isinf(), isinf(x / 0)},
                {"isnan", (x / 0 * 0).isnan(), isnan(x / 0 * 0)},
                {"isclose", x.isclose(y, 0.5), isclose(x, y, 0.5)}});
  EXPECT_TRUE(x.allclose(y, 0, 2));
  EXPECT_FALSE(x.allclose(y));
  EXPECT_TRUE(x.equal(x + 0));
  EXPECT_FALSE(x.equal(y));
}

TEST_F(Methods, EqualFunctionsOfShapesAndConversion) {
  const Tensor column = x.select(1, 0).unsqueeze(1);
  const Tensor batch = x.unsqueeze(0);
  expect_pairs({{"reshape", x.reshape({3, -1}), reshape(x, {3, 2})},
                {"reshape_as", x.reshape_as(x.t()), reshape(x, {3, 2})},
                {"view", x.view({3, -1}), reshape(x, {3, 2})},
                {"view_as", x.view_as(x.t()), reshape(x, {3, 2})},
                {"expand", column.expand({2, 3}), expand(column, {2, 3})},
                {"expand_as", column.expand_as(x), expand(column, {2, 3})},
                {"transpose", x.transpose(0, 1), transpose(x, 0, 1)},
                {"t", x.t(), transpose(x, 0, 1)},
                {"permute", x.permute({1, 0}), permute(x, {1, 0})},
                {"squeeze", column.squeeze(), squeeze(column)},
                {"squeeze one", column.squeeze(1), squeeze(column, 1)},
                {"unsqueeze", x.unsqueeze(1), unsqueeze(x, 1)},
                {"flatten", x.flatten(), flatten(x)},
                {"as_strided", x.as_strided({2, 2}, {1, 3}), as_strided(x, {2, 2}, {1, 3}, 0)},
                {"[]", x[1], select(x, 0, 1)},
                {"select", x.select(1, 2), select(x, 1, 2)},
                {"slice", x.slice(1, 0, 3, 2), slice(x, 1, 0, 3, 2)},
                {"narrow", x.narrow(1, 1, 2), narrow(x, 1, 1, 2)},
                {"split", x.split(2, 1)[1], split(x, 2, 1)[1]},
                {"split by list", x.split({1, 2}, 1)[1], narrow(x, 1, 1, 2)},
                {"chunk", x.chunk(2, 1)[1], chunk(x, 2, 1)[1]},
                {"unbind", x.unbind(1)[2], unbind(x, 1)[2]},
                {"diagonal", batch.diagonal(1, 2, 1), diagonal(batch, 1, 2, 1)},
                {"diag", x.diag(1), diag(x, 1)},
                {"trace", x.trace(), trace(x)},
                {"roll", x.roll(1, 0), roll(x, 1, 0)},
                {"roll all", x.roll(1), roll(x, 1)},
                {"flip", x.flip(1), flip(x, {1})},
                {"repeat", x.repeat({2, 3}), repeat(x, {2, 3})},
                {"tril", x.tril(-1), tril(x, -1)},
                {"triu", x.triu(1), triu(x, 1)},
                {"to dtype", x.to(kHalf), to(x, kHalf)},
                {"to device and dtype", x.to(kCPU, kHalf), to(x, kHalf)},
                {"to like", x.to(index), to(x, kLong)},
                {"type_as", x.type_as(index), to(x, kLong)},
                {"cpu", x.cpu(), x},
                {"clone", x.clone(), x},
                {"contiguous", x.t().contiguous(), x.t()}});
}

TEST_F(Methods, EqualFunctionsOfIndexingAndProducts) {
  const Tensor positions = tensor({{1, 0, 1}});
  const Tensor batch = x.unsqueeze(0);
  const Tensor square = x.mm(y.t());
  const Tensor vector = x.select(0, 1);
  expect_pairs({{"gather", x.gather(0, positions), gather(x, 0, positions)},
                {"scatter_add", x.scatter_add(0, positions, y), scatter_add(x, 0, positions, y)},
                {"index_select", x.index_select(0, index), index_select(x, 0, index)},
                {"masked_fill", x.masked_fill(mask, 9), masked_fill(x, mask, 9)},
                {"matmul", x.matmul(y.t()), matmul(x, y.t())},
                {"mm", x.mm(y.t()), mm(x, y.t())},
                {"bmm", batch.bmm(batch.transpose(1, 2)), bmm(batch, batch.transpose(1, 2))},
                {"mv", x.mv(vector), mv(x, vector)},
                {"dot", vector.dot(vector), dot(vector, vector)},
                {"outer", vector.outer(vector), outer(vector, vector)},
                {"addmm", square.addmm(x, y.t(), 2, 3), addmm(square, x, y.t(), 2, 3)},
                {"baddbmm", square.baddbmm(batch, batch.transpose(1, 2), 2, 3),
                 baddbmm(square, batch, batch.transpose(1, 2), 2, 3)}});
}

TEST_F(Methods, EqualReductions) {
  const auto [largest, largest_at] = x.max(1, true);
  const auto [smallest, smallest_at] = x.min(0);
  expect_pairs({{"sum", x.sum(), sum(x)},
                {"sum of a dtype", x.sum(kDouble), sum(x, kDouble)},
                {"sum along one", x.sum(1, true, kDouble), sum(x, {1}, true, kDouble)},
                {"sum along both", x.sum({0, 1}), sum(x)},
                {"sum_to_size", x.sum_to_size({1, 3}), sum_to_size(x, {1, 3})},
                {"mean", x.mean(), mean(x)},
                {"mean along one", x.mean(-1), mean(x, -1)},
                {"prod", x.prod(), prod(x)},
                {"prod along one", x.prod(1, true), prod(x, 1, true)},
                {"var", x.var(), var(x)},
                {"var, biased", x.var(false), var(x, false)},
                {"var with a correction", x.var({0, 1}, 2), var(x, {0, 1}, 2)},
                {"std with a correction", x.std(1, 0.5, true), std(x, 1, 0.5, true)},
                {"var along one", x.var(0), var(x, {0})},
                {"var along one, biased", x.var(0, false, true), var(x, 0, false, true)},
                {"std", x.std(), std(x)},
                {"std, biased", x.std(false), std(x, false)},
                {"std along one", x.std(1), std(x, {1})},
                {"std along one, biased", x.std({1}, false, true), std(x, 1, false, true)},
                {"max", x.max(), max(x)},
                {"min", x.min(), min(x)},
                {"max along one", largest, std::get<0>(max(x, 1, true))},
                {"max along one, where", largest_at, std::get<1>(max(x, 1, true))},
                {"min along one", smallest, std::get<0>(min(x, 0))},
                {"min along one, where", smallest_at, std::get<1>(min(x, 0))},
                {"amax", x.amax(0, true), amax(x, {0}, true)},
                {"amin", x.amin(), amin(x)},
                {"argmax", x.argmax(1), argmax(x, 1)},
                {"argmin", x.argmin(), argmin(x)},
                {"norm", x.norm(3), norm(x, 3)},
                {"norm along one", x.norm(1, 0, true), norm(x, 1, {0}, true)},
                {"logsumexp", x.logsumexp(1), logsumexp(x, 1)},
                {"all", mask.all(), all(mask)},
                {"all along one", mask.all(0, true), all(mask, 0, true)},
                {"any", mask.any(), any(mask)},
                {"any along one", mask.any(1), any(mask, 1)},
                {"softmax", x.softmax(1, kDouble), softmax(x, 1, kDouble)},
                {"log_softmax", x.log_softmax(0), log_softmax(x, 0)}});
}

TEST_F(Methods, EqualFunctionsOfOrder) {
  const auto [values, indices] = x.sort(1, true);
  const auto [least, least_at] = x.topk(2, 1, false);
  expect_pairs({{"sort", values, std::get<0>(sort(x, 1, true))},
                {"sort, where", indices, argsort(x, 1, true)},
                {"argsort", x.argsort(0), argsort(x, 0)},
                {"topk", least, std::get<0>(sort(x)).slice(1, 0, 2)},
                {"topk, where", least_at, argsort(x).slice(1, 0, 2)},
                {"cumsum", x.cumsum(1, kDouble), cumsum(x, 1, kDouble)}});
  manual_seed(1);
  const Tensor drawn = x.multinomial(5, true);
  manual_seed(1);
  EXPECT_TRUE(equal(drawn, multinomial(x, 5, true)));
}

TEST_F(Methods, ReportMetadata) {
  const Tensor part = x.to(kHalf).slice(1, 1);
  EXPECT_EQ(part.stride(0), 3);
  EXPECT_EQ(part.stride(-1), 1);
  EXPECT_EQ(part.storage_offset(), 1);
  EXPECT_EQ(part.ndimension(), 2);
  EXPECT_EQ(part.element_size(), 2);
  EXPECT_EQ(part.nbytes(), 8U);
  EXPECT_EQ(part.is_cpu(), default_device_type() == kCPU);
  EXPECT_EQ(part.is_cuda(), default_device_type() == kCUDA);
  EXPECT_THROW(part.stride(2), std::out_of_range);
}

TEST(SumToSize, RefusesSizesThatDoNotExpandToTheTensors) {
  const Tensor x = ones({2, 3});
  EXPECT_EQ(x.sum_to_size({3}).sizes(), Shape{3});
  EXPECT_THROW(x.sum_to_size({3, 2}), std::invalid_argument);
  EXPECT_THROW(ones({6}).sum_to_size({2, 3}), std::invalid_argument);
}

template <class Dim>
concept NamesADimension = requires(Tensor x, Dim dim) {
  sum(x, dim);
};
static_assert(NamesADimension<int> && !NamesADimension<bool>);

TEST_F(Methods, TransposesOfMatrices) {
  const Tensor batch = stack({x, y});
  expect_pairs({{"mT", batch.mT(), batch.transpose(1, 2)}, {"mT of a matrix", x.mT(), x.t()}});
  EXPECT_THROW(static_cast<void>(tensor({1.0}).mT()), std::invalid_argument);
  EXPECT_TRUE(x.is_same_size(y));
  EXPECT_FALSE(x.is_same_size(x.mT()));
}

}  // namespace
}  // namespace halfgrad
