#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Elements picked by indices. Expected values are PyTorch's.
namespace halfgrad {
namespace {

using PickedElements = TensorsOnDevice;
HALFGRAD_ON_DEVICES(PickedElements);

TEST_P(PickedElements, OfTheFlattenedTensor) {
  const Tensor x = elements({4, 3, 5, 6, 7, 8}).reshape({2, 3});
  const Tensor index = elements({0, 2, -1, 5}, kLong).reshape({2, 2});
  EXPECT_EQ(elements(take(x, index)), (Doubles{4, 5, 8, 8}));
  EXPECT_EQ(take(x, index).sizes(), (Shape{2, 2}));
  EXPECT_EQ(elements(take(x.t(), index)), (Doubles{4, 3, 8, 8})) << "not contiguous";
  EXPECT_EQ(elements(take(x, index.to(kInt).t())), (Doubles{4, 8, 5, 8}));
  EXPECT_EQ(take(x, index[0][1]).sizes(), Shape{});
  EXPECT_EQ(take(x, index[0][1]).item(), 5);
  EXPECT_FALSE(take(x, index[0][1]).is_alias_of(x));
  EXPECT_EQ(elements(take(x[0][0], elements({0, -1}, kLong))), (Doubles{4, 4}));
  EXPECT_EQ(take(x, zeros({0, 2}, in(kLong))).sizes(), (Shape{0, 2}));
  EXPECT_EQ(take(zeros({0}, in(kFloat)), zeros({0}, in(kLong))).sizes(), Shape{0});
  EXPECT_EQ(elements(take(x > 4, index)), (Doubles{0, 1, 1, 1}));
  EXPECT_EQ(take(x.to(kBFloat16), index).dtype(), kBFloat16);
}

TEST_P(PickedElements, AlongADimension) {
  const Tensor x = elements({4, 3, 5, 6, 7, 8}).reshape({2, 3});
  const Tensor order = argsort(x, 1);
  EXPECT_EQ(elements(take_along_dim(x, order, 1)), (Doubles{3, 4, 5, 6, 7, 8}));
  const Tensor column = elements({2, 0}, kLong).unsqueeze(1);
  EXPECT_EQ(elements(take_along_dim(x, column, 1)), (Doubles{5, 6}));
  EXPECT_EQ(take_along_dim(x, column, -1).sizes(), (Shape{2, 1}));
  EXPECT_EQ(elements(take_along_dim(x, elements({1}, kLong).unsqueeze(0), 0)), (Doubles{6, 7, 8}))
      << "the index broadcasts";
  EXPECT_EQ(elements(take_along_dim(x.slice(0, 0, 1), column.expand({2, 2}), 1)),
            (Doubles{5, 5, 4, 4}))
      << "self broadcasts";
  EXPECT_EQ(elements(take_along_dim(x, elements({5, 0}, kInt).unsqueeze(1))), (Doubles{8, 4}));
  EXPECT_EQ(take_along_dim(x, column).sizes(), Shape{2});
  EXPECT_EQ(take_along_dim(x[0][1], zeros({}, in(kLong)), 0).item(), 3);
  EXPECT_EQ(take_along_dim(x, zeros({2, 0}, in(kLong)), 1).sizes(), (Shape{2, 0}));
  EXPECT_EQ(take_along_dim(x > 4, order, 1).dtype(), kBool);
}

TEST_P(PickedElements, RefuseInvalidIndices) {
  const Tensor x = zeros({2, 3}, in(kFloat));
  EXPECT_EQ(message_of([&] { take(x, elements({0.0})); }),
            "take: expected indices of int64 or int32, got float64");
  EXPECT_EQ(message_of([&] { take_along_dim(x, zeros({2}, in(kLong)), 0); }),
            "take_along_dim: expected as many dimensions of both tensors, got [2, 3] and [2]");
  EXPECT_EQ(message_of([&] {
              take_along_dim(x, zeros({3, 2}, in(kLong)), 1);
            }),
            "take_along_dim: expected shapes that broadcast, got [2, 2] and [3, 2]");
  EXPECT_THROW(take_along_dim(x, zeros({2, 3}, in(kBool)), 1), std::invalid_argument);
  EXPECT_THROW(take_along_dim(x, zeros({2, 3}, in(kLong)), 2), std::out_of_range);
}

TEST_P(PickedElements, OnCpuRefuseIndicesOutOfRange) {
  const Tensor x = zeros({2, 3});
  for (const std::int64_t index : {6, -7}) {
    EXPECT_EQ(message_of<std::out_of_range>([&] { take(x, tensor({index})); }),
              "take: expected indices >= 0 and below the size 6, got " + std::to_string(index));
  }
  EXPECT_THROW(take(zeros({0}), zeros({1}, kLong)), std::out_of_range);
  // Along a dimension indices count modulo its size, as in PyTorch.
  const Tensor y = tensor({{0.0, 1.0, 2.0}, {3.0, 4.0, 5.0}});
  EXPECT_TRUE(equal(take_along_dim(y, full({2, 1}, 4, kLong), 1), y.narrow(1, 1, 1)));
  EXPECT_TRUE(equal(take_along_dim(y, full({2, 1}, -1, kLong), 1), y.narrow(1, 2, 1)));
  EXPECT_THROW(take_along_dim(x, full({1}, 6, kLong)), std::out_of_range);
}

TEST_P(PickedElements, HaveTheGradientsOfFiniteDifferences) {
  const Tensor index = elements({0, 3, -1, 3}, kLong);  // one element twice
  const Tensor column = elements({2, 0}, kLong).unsqueeze(1);
  const auto f = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{
        take(in[0].t(), index), take(in[0], index[1]), take_along_dim(in[0], column, 1),
        take_along_dim(in[0].slice(0, 0, 1), column, 1), take_along_dim(in[0], column)};
  };
  const Tensor x = random_tensor({2, 3}, -2, 2, {.seed = 7}).to(device()).requires_grad_();
  for (const Tensor& y : f({x})) EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(autograd::gradcheck(f, {x}));
}

}  // namespace
}  // namespace halfgrad
