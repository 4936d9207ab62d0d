#include <cstdint>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/composed/writing.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Copies with elements written by indices. Expected values are PyTorch's.
namespace halfgrad {
namespace {

class WrittenElements : public TensorsOnDevice {
 protected:
  Tensor indices(const Doubles& values) const { return elements(values, kLong); }
  Tensor random(const Shape& sizes, std::uint64_t stream) const {
    const Tensor x = random_tensor(sizes, -2, 2, {.seed = 8, .stream = stream});
    return x.to(device()).requires_grad_();
  }
};
HALFGRAD_ON_DEVICES(WrittenElements);

TEST_P(WrittenElements, ScatterATensor) {
  const Tensor src = arange(1, 11).reshape({2, 5}).to(device());
  const Tensor x = zeros({3, 5}, in(kLong));
  const Tensor row = indices({0, 1, 2, 0}).unsqueeze(0);
  EXPECT_EQ(elements(scatter(x, 0, row, src)),
            (Doubles{1, 0, 0, 4, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0}));
  const Tensor index = indices({0, 1, 2, 0, 1, 4}).reshape({2, 3});
  EXPECT_EQ(elements(scatter(x, 1, index, src)),
            (Doubles{1, 2, 3, 0, 0, 6, 7, 0, 0, 8, 0, 0, 0, 0, 0}));
  EXPECT_EQ(elements(x), elements(zeros({15}))) << "not changed";
  EXPECT_EQ(elements(scatter(x, -1, index.to(kInt), src)), elements(scatter(x, 1, index, src)));
  const Tensor transposed = scatter(x.t(), 0, index.t(), src.t());
  EXPECT_EQ(elements(transposed.t()), elements(scatter(x, 1, index, src))) << "not contiguous";
}

TEST_P(WrittenElements, ScatterKeepsTheLastOfSeveralValues) {
  const Tensor x = zeros({2, 3}, in(kFloat));
  const Tensor index = indices({1, 1, 0, 1, 1, 1}).reshape({2, 3});
  const Tensor src = elements({1, 2, 3, 4, 5, 6}, kFloat).reshape({2, 3});
  EXPECT_EQ(elements(scatter(x, 1, index, src)), (Doubles{3, 2, 0, 0, 6, 0}));
  EXPECT_EQ(elements(scatter(x, 0, index, src)), (Doubles{0, 0, 3, 4, 5, 6}));
  const Tensor many = zeros({1000}, in(kLong));
  EXPECT_EQ(elements(scatter(x[0], 0, many, arange(1000.0F).to(many.device()))),
            (Doubles{999, 0, 0}));
}

TEST_P(WrittenElements, ScatterAValue) {
  const Tensor x = elements({1, 2, 3, 4}, kHalf).reshape({2, 2});
  const Tensor index = indices({1, 1}).unsqueeze(0);
  EXPECT_EQ(elements(scatter(x, 0, index, 1.5)), (Doubles{1, 2, 1.5, 1.5}));
  EXPECT_EQ(elements(scatter(x, 1, index, kInf)), (Doubles{1, kInf, 3, 4}));
  EXPECT_EQ(scatter(x, 0, index, 1.5).dtype(), kHalf);
  EXPECT_EQ(elements(scatter(x.to(kLong), 0, index, 7)), (Doubles{1, 2, 7, 7}));
  EXPECT_EQ(elements(scatter(x > 9, 0, index, true)), (Doubles{0, 0, 1, 1}));
  EXPECT_THROW(scatter(x, 0, index, 1e9), std::invalid_argument) << "no float16";
  const Tensor many = zeros({1000}, in(kLong));
  EXPECT_EQ(elements(scatter(x[0], 0, many, 9)), (Doubles{9, 2}));
}

TEST_P(WrittenElements, ScatterOverwritesValuesThatAreNotFinite) {
  const Tensor x = elements({kNan, kInf, 1}), src = elements({5, kNan, kNan});
  expect_values(scatter(x, 0, indices({0}), src).to(kCPU), {5, kInf, 1});
  expect_values(scatter(x, 0, indices({2, 1}), src).to(kCPU), {kNan, kNan, 5});
  expect_values(scatter(x, 0, indices({0}), 5).to(kCPU), {5, kInf, 1});
  expect_values(index_fill(x, 0, indices({0}), 5).to(kCPU), {5, kInf, 1});
  expect_values(index_copy(x, 0, indices({1, 0, 2}), src).to(kCPU), {kNan, 5, kNan});
  expect_values(masked_scatter(x, x > 0, src).to(kCPU), {kNan, 5, kNan});
}

TEST_P(WrittenElements, ScatterToScalarsAndOfEmptyIndices) {
  const Tensor scalar = elements({1})[0];
  EXPECT_EQ(scatter(scalar, 0, zeros({}, in(kLong)), elements({5})[0]).item(), 5);
  EXPECT_EQ(scatter(scalar, -1, zeros({1}, in(kLong)), 5).sizes(), Shape{});
  const Tensor x = elements({1, 2});
  const Tensor copy = scatter(x, 0, zeros({0}, in(kLong)), x);
  EXPECT_EQ(elements(copy), (Doubles{1, 2}));
  EXPECT_FALSE(copy.is_alias_of(x));
  EXPECT_FALSE(scatter(x, 0, zeros({0}, in(kLong)), 3).is_alias_of(x));
  EXPECT_EQ(scatter(zeros({0, 3}), 0, zeros({0, 3}, kLong), 1).sizes(), (Shape{0, 3}));
}

TEST_P(WrittenElements, ScatterRefusesWhatDoesNotFit) {
  const Tensor x = zeros({2, 3}, in(kFloat)), index = zeros({2, 2}, in(kLong));
  EXPECT_EQ(message_of([&] {
              scatter(x, 1, index, zeros({2, 1}, in(kFloat)));
            }),
            "scatter: expected an index no larger than src, got [2, 2] and [2, 1]");
  EXPECT_EQ(message_of([&] {
              scatter(x, 0, zeros({2, 4}, in(kLong)), 1);
            }),
            "scatter: expected an index no larger than self except in dimension 0, got [2, 4] and "
            "[2, 3]");
  EXPECT_EQ(message_of([&] { scatter(x, 1, index, x.to(kDouble)); }),
            "scatter: expected self and source of one dtype, got float32 and float64");
  EXPECT_THROW(scatter(x, 0, zeros({2}, in(kLong)), 1), std::invalid_argument);
  EXPECT_THROW(scatter(x, 0, index, zeros({4}, in(kFloat))), std::invalid_argument);
  EXPECT_THROW(scatter(x, 0, index.to(kFloat), 1), std::invalid_argument);
  EXPECT_THROW(scatter(x, 2, index, 1), std::out_of_range);
}

TEST_P(WrittenElements, MaskedScatter) {
  const Tensor x = elements({1, 2, 3, 4, 5, 6}).reshape({2, 3});
  const Tensor src = elements({10, 20, 30, 40, 50, 60}).reshape({3, 2});
  const Tensor mask = elements({0, 1, 0, 1, 1, 0}, kBool).reshape({2, 3});
  EXPECT_EQ(elements(masked_scatter(x, mask, src)), (Doubles{1, 10, 3, 20, 30, 6}));
  EXPECT_EQ(elements(masked_scatter(x, mask, src.t())), (Doubles{1, 10, 3, 30, 50, 6}));
  EXPECT_EQ(elements(masked_scatter(x, mask[0], src)), (Doubles{1, 10, 3, 4, 20, 6}));
  EXPECT_EQ(elements(masked_scatter(x[0], mask, src)), (Doubles{1, 10, 3, 20, 30, 3}))
      << "self broadcasts";
  EXPECT_EQ(elements(masked_scatter(x > 9, mask, src > 9)), (Doubles{0, 1, 0, 1, 1, 0}));
  EXPECT_EQ(masked_scatter(x.to(kHalf), mask, src.to(kHalf)).dtype(), kHalf);
  EXPECT_EQ(masked_scatter(x[0][0], mask[0][1], src).item(), 10);
  const Tensor nothing = zeros({0}, in(kDouble));
  EXPECT_EQ(elements(masked_scatter(x, mask & ~mask, nothing)), elements(x));
  EXPECT_FALSE(masked_scatter(x, mask & ~mask, nothing).is_alias_of(x));
  EXPECT_EQ(masked_scatter(nothing, nothing > 0, nothing).sizes(), Shape{0});
  EXPECT_EQ(message_of([&] { masked_scatter(x, mask, src[0]); }),
            "masked_scatter: expected a source of at least 3 elements, got 2");
  EXPECT_EQ(message_of([&] { masked_scatter(x, x, src); }),
            "masked_scatter: expected a mask of bool, got float64");
  EXPECT_THROW(masked_scatter(x, mask, src.to(kFloat)), std::invalid_argument);
  EXPECT_THROW(masked_scatter(x, mask.t(), src), std::invalid_argument);
}

TEST_P(WrittenElements, ScatterHasTheGradientsOfFiniteDifferences) {
  const Tensor index = indices({0, 2, 2, 1}).reshape({2, 2});
  const Tensor mask = elements({0, 1, 0, 1, 1, 0}, kBool).reshape({2, 3});
  const auto f = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{scatter(in[0], 1, index, in[1]), scatter(in[0].t(), 0, index, in[1]),
                               scatter(in[0], 1, index, 3), masked_scatter(in[0], mask, in[1]),
                               masked_scatter(in[0][1], mask, in[1])};
  };
  const std::vector<Tensor> inputs{random({2, 3}, 0), random({2, 2}, 1)};
  for (const Tensor& y : f(inputs)) EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(autograd::gradcheck(f, inputs));
  EXPECT_TRUE(autograd::gradgradcheck(f, inputs));
}

TEST_P(WrittenElements, OnlyTheValueThatStaysGetsAGradient) {
  const Tensor x = elements({1, 2}).requires_grad_();
  const Tensor src = elements({3, 4, 5}).requires_grad_();
  scatter(x, 0, indices({1, 1, 1}), src).backward(elements({10, 20}));
  EXPECT_EQ(elements(x.grad()), (Doubles{10, 0}));
  EXPECT_EQ(elements(src.grad()), (Doubles{0, 0, 20}));
}

TEST_P(WrittenElements, OnCpuRefuseIndicesOutOfRange) {
  const Tensor x = zeros({2, 3});
  const Tensor index = tensor({3});
  EXPECT_EQ(message_of<std::out_of_range>([&] { scatter(x[0], 0, index, 1); }),
            "scatter: expected indices >= 0 and below the size 3, got 3");
  EXPECT_THROW(scatter(x[0], 0, index - 4, x[0]), std::out_of_range);
  EXPECT_THROW(scatter(zeros({0}), 0, index, x[0]), std::out_of_range);
  EXPECT_THROW(scatter(x[0][0], 0, index, 1), std::out_of_range);
  EXPECT_EQ(message_of<std::out_of_range>([&] { index_add(x, 0, index, x.slice(0, 0, 1)); }),
            "index_add: expected indices >= 0 and below the size 2, got 3");
  EXPECT_THROW(index_copy(x, 0, index - 4, x.slice(0, 0, 1)), std::out_of_range);
  EXPECT_EQ(message_of<std::out_of_range>([&] { index_fill(x, 1, index - 7, 1); }),
            "index_fill: expected indices >= 0 and below the size 3, got -4");
}

}  // namespace
}  // namespace halfgrad
