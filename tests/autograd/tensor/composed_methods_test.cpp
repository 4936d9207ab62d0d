#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/halfgrad.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Composed functions as methods, their in-place forms, views in place, and what is printed.
namespace halfgrad {
namespace {

using ComposedMethod = TensorsOnDevice;
HALFGRAD_ON_DEVICES(ComposedMethod);

template <class T>
std::string text_of(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST_P(ComposedMethod, FillsADiagonal) {
  const auto filled = [&](const Shape& sizes, bool wrap = false) {
    Tensor x = zeros(sizes, {.device = device()});
    EXPECT_EQ(&x.fill_diagonal_(1, wrap), &x);
    return elements(x.nonzero());
  };
  EXPECT_EQ(filled({2, 4}), (Doubles{0, 0, 1, 1}));
  EXPECT_EQ(filled({4, 2}), (Doubles{0, 0, 1, 1}));
  EXPECT_EQ(filled({7, 2}, true), (Doubles{0, 0, 1, 1, 3, 0, 4, 1, 6, 0}));
  EXPECT_EQ(filled({3, 2}, true), (Doubles{0, 0, 1, 1}));
  EXPECT_EQ(filled({2, 7}, true), (Doubles{0, 0, 1, 1}));
  EXPECT_EQ(filled({2, 2, 2}), (Doubles{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(filled({2, 2, 2, 2}, true), (Doubles{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(filled({0, 3}), Doubles());
  EXPECT_EQ(filled({3, 0}, true), Doubles());
  EXPECT_EQ(filled({1, 1}, true), (Doubles{0, 0}));
  Tensor transposed = zeros({2, 7}, {.device = device()});
  transposed.t().fill_diagonal_(2, true);
  EXPECT_EQ(elements(transposed.t().nonzero()), (Doubles{0, 0, 1, 1, 3, 0, 4, 1, 6, 0}));
  EXPECT_EQ(message_of([&] {
              zeros({2, 2, 3}).fill_diagonal_(1);
            }),
            "fill_diagonal_: expected a matrix, or more dimensions of equal size, got shape "
            "[2, 2, 3]");
  EXPECT_THROW(zeros({3}).fill_diagonal_(1), std::invalid_argument);
  EXPECT_THROW(zeros({}).fill_diagonal_(1), std::invalid_argument);
  const Tensor x = ones({2, 2}, {.device = device(), .requires_grad = true});
  Tensor y = x * 3;
  y.fill_diagonal_(5);
  y.sum().backward();
  EXPECT_EQ(elements(x.grad()), (Doubles{0, 3, 3, 0}));
}

TEST_P(ComposedMethod, EqualsItsFunction) {
  const Tensor x = tensor({{4.0, 1.0, 3.0}, {2.0, 6.0, 5.0}}).to(device());
  const Tensor picked = tensor({2, 0}).to(device());
  const std::vector<std::pair<Tensor, Tensor>> pairs = {
      {x.movedim(0, 1), movedim(x, 0, 1)},
      {x.swapaxes(0, -1), swapaxes(x, 0, -1)},
      {x.unflatten(1, {3, 1}), unflatten(x, 1, {3, 1})},
      {x.rot90(), rot90(x)},
      {x.tensor_split(2, 1)[1], tensor_split(x, 2, 1)[1]},
      {x.tile({2, 1}), tile(x, {2, 1})},
      {x.repeat_interleave(2, 1), repeat_interleave(x, 2, 1)},
      {x.diag_embed(1), diag_embed(x, 1)},
      {x.take(picked), take(x, picked)},
      {x.index_fill(1, picked, 7), index_fill(x, 1, picked, 7)},
      {x.median(), median(x)},
      {std::get<1>(x.kthvalue(2)), std::get<1>(kthvalue(x, 2))},
      {x.quantile(0.25, 1), quantile(x, 0.25, 1)},
      {x.nanmean(0), nanmean(x, 0)},
      {std::get<0>(x.aminmax(1)), std::get<0>(aminmax(x, 1))},
      {x.count_nonzero(1), count_nonzero(x, 1)},
      {x.cumprod(1), cumprod(x, 1)},
      {std::get<0>(x.cummax(1)), std::get<0>(cummax(x, 1))},
      {x.diff(), diff(x)},
      {x.kron(x), kron(x, x)},
      {x.histc(3), histc(x, 3)},
      {x.logit(0.1), logit(x, 0.1)},
      {x.sinh(), sinh(x)},
      {(x / 7).asin(), asin(x / 7)},
      {(x / 7).acos(), acos(x / 7)},
      {x.atan(), atan(x)},
      {x.atan2(x.flip(1)), atan2(x, x.flip(1))},
      {x.asinh(), asinh(x)},
      {x.acosh(), acosh(x)},
      {(x / 7).atanh(), atanh(x / 7)},
      {x.hsplit(3)[1], hsplit(x, 3)[1]},
      {x.vsplit({0, 1})[1], vsplit(x, {0, 1})[1]},
      {x.t().ravel(), x.t().reshape({6})},
      {x[0].vdot(x[1]), dot(x[0], x[1])},
      {x.clip(2, 4), clamp(x, 2, 4)},
      {x.fmax(x.flip(1)), fmax(x, x.flip(1))},
      {x.hypot(x), hypot(x, x)},
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_TRUE(pairs[i].first.equal(pairs[i].second)) << "pair " << i;
  }
}

TEST_P(ComposedMethod, WritesInPlace) {
  const Tensor x = zeros({2, 3}).to(device());
  EXPECT_TRUE(x.scatter_(1, tensor({{0}, {2}}).to(device()), 5).is_same(x));
  EXPECT_EQ(elements(x), (Doubles{5, 0, 0, 0, 0, 5}));
  x.scatter_(0, tensor({{1, 1}}).to(device()), tensor({{1.0, 2.0}}).to(device()));
  EXPECT_EQ(elements(x), (Doubles{5, 0, 0, 1, 2, 5}));
  x.index_add_(1, tensor({0, 0}).to(device()), ones({2, 2}).to(device()), 3);
  EXPECT_EQ(elements(x), (Doubles{11, 0, 0, 7, 2, 5}));
  x.index_copy_(0, tensor({0}).to(device()), ones({1, 3}).to(device()));
  x.index_fill_(1, tensor({2}).to(device()), -1);
  EXPECT_EQ(elements(x), (Doubles{1, 1, -1, 7, 2, -1}));
  x.masked_scatter_(x < 0, tensor({8.0, 9.0}).to(device()));
  EXPECT_EQ(elements(x), (Doubles{1, 1, 8, 7, 2, 9}));
}

TEST_P(ComposedMethod, RecordsWhatItWritesInPlace) {
  const auto written = [](const std::vector<Tensor>& in) {
    const Tensor y = in[0] * 2;
    const Tensor index = tensor({1, 1}).to(in[0].device());
    y.index_add_(0, index, in[1], 3);
    y.scatter_(1, tensor({{2}, {0}}).to(in[0].device()), in[1]);
    return y;
  };
  const Tensor x = randn({2, 3}, dtype(kDouble)).to(device()).requires_grad_();
  const Tensor y = randn({2, 3}, dtype(kDouble)).to(device()).requires_grad_();
  EXPECT_TRUE(autograd::gradcheck(written, {x, y}));
  const Tensor leaf = ones({2, 3}, requires_grad());
  EXPECT_THROW(leaf.index_fill_(0, tensor({0}), 1), std::runtime_error);
  EXPECT_EQ(leaf[0][0].item<float>(), 1);
}

TEST_P(ComposedMethod, ChangesTheShapeInPlace) {
  const Tensor x = arange(6).reshape({1, 2, 3}).to(device());
  const Tensor same = x;
  x.squeeze_(0).transpose_(0, 1).unsqueeze_(-1);
  EXPECT_EQ(same.sizes(), (Shape{3, 2, 1}));
  EXPECT_EQ(elements(same), (Doubles{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(x.squeeze_().t_().sizes(), (Shape{2, 3}));
  const Tensor w = ones({2, 3}, requires_grad());
  EXPECT_EQ(message_of<std::invalid_argument>([&] { w.unsqueeze_(0); }),
            "unsqueeze_: expected a tensor that does not require grad, got one that does; assign "
            "the result of the function without _");
  EXPECT_EQ(w.sizes(), (Shape{2, 3}));
}

TEST(Conversions, TakeLibtorchsFlags) {
  const Tensor x = ones({2});
  EXPECT_TRUE(x.to(kFloat, true).is_same(x));
  EXPECT_FALSE(x.to(kFloat, false, true).is_alias_of(x));
  EXPECT_EQ(x.to(kHalf, false, true).dtype(), kHalf);
  EXPECT_EQ(x.to(Device(kCPU, 1), true).device(), Device(kCPU, 1));
  EXPECT_EQ(x.to(kCPU, kHalf, true, true).dtype(), kHalf);
  EXPECT_EQ(x.itemsize(), 4);
  EXPECT_FALSE(x.is_complex());
}

TEST(Printing, OfShapesDevicesOptionsAndScalars) {
  EXPECT_EQ(text_of(zeros({2, 3}).sizes()), "[2, 3]");
  EXPECT_EQ(text_of(Shape()), "[]");
  EXPECT_EQ(text_of(Device()), "cpu");
  EXPECT_EQ(text_of(Device(kCUDA, 1)), "cuda:1");
  EXPECT_EQ(text_of(DeviceType::CUDA), "cuda");
  EXPECT_EQ(text_of(ScalarType::Half), "float16");
  EXPECT_EQ(text_of(Scalar(2.5)), "2.5");
  EXPECT_EQ(text_of(Scalar(9007199254740993)), "9007199254740993");
  EXPECT_EQ(text_of(Scalar(true)), "true");
  EXPECT_EQ(text_of(dtype(kHalf).requires_grad(true)),
            "TensorOptions(dtype=float16, device=cpu, requires_grad=true)");
}

TEST(IntArrayRefs, HaveLibtorchsMethods) {
  const Shape sizes = zeros({2, 3, 4}).sizes();
  EXPECT_EQ(sizes.front(), 2);
  EXPECT_EQ(sizes.at(2), 4);
  EXPECT_EQ(sizes.slice(1), (Shape{3, 4}));
  EXPECT_EQ(sizes.slice(0, 2), (Shape{2, 3}));
  EXPECT_EQ(sizes.slice(3), Shape());
  EXPECT_EQ(sizes.slice(1).slice(1), sizes.slice(2));
  EXPECT_EQ(text_of(sizes.slice(1)), "[3, 4]");
  std::vector<std::int64_t> values{1};
  values.insert(values.end(), sizes.slice(1).begin(), sizes.slice(1).end());
  EXPECT_EQ(values, (std::vector<std::int64_t>{1, 3, 4}));
  EXPECT_TRUE(sizes.equals({2, 3, 4}));
  EXPECT_THROW(sizes.at(3), std::out_of_range);
  EXPECT_THROW(sizes.at(-1), std::out_of_range);
  EXPECT_THROW(sizes.slice(4), std::out_of_range);
  EXPECT_THROW(sizes.slice(1, 3), std::out_of_range);
  EXPECT_THROW(Shape().front(), std::out_of_range);
}

}  // namespace
}  // namespace halfgrad
