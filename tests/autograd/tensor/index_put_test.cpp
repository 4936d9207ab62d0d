#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// index_put_() with tensors among the indices: the counterpart of index().
namespace halfgrad {
namespace {

using indexing::Ellipsis;
using indexing::None;
using indexing::Slice;
using Indices = std::vector<indexing::TensorIndex>;

class IndexPut : public TensorsOnDevice {
 protected:
  Tensor positions(const std::vector<std::int64_t>& values) const {
    return tensor(values, {.device = device()});
  }
  Tensor mask(std::initializer_list<bool> values) const {
    return tensor(values, {.device = device()});
  }
  // 0 ... 23 as [2, 3, 4].
  Tensor counted() const { return arange(24, in(kFloat64)).reshape({2, 3, 4}); }
};
HALFGRAD_ON_DEVICES(IndexPut);

TEST_P(IndexPut, DropsLeadingDimensionsOfSizeOneOfTheValue) {
  const Tensor row = arange(3, in(kFloat64)), x = zeros({2, 3}, in(kFloat64));
  x.index_put_({0}, row.reshape({1, 1, 3}));
  EXPECT_EQ(elements(x), (Doubles{0, 1, 2, 0, 0, 0}));
  x.index_put_({positions({1})}, row.reshape({1, 1, 1, 3}));
  EXPECT_EQ(elements(x), (Doubles{0, 1, 2, 0, 1, 2}));
  x.index_put_({true}, ones({1, 1, 2, 3}, in(kFloat64)), true);
  EXPECT_EQ(elements(x), (Doubles{1, 2, 3, 1, 2, 3}));
  EXPECT_ANY_THROW(x.index_put_({0}, ones({2, 3}, in(kFloat64))));
  EXPECT_ANY_THROW(x.index_put_({0}, ones({1, 2, 3}, in(kFloat64))));
  const Tensor leaf = ones({1, 1, 3}, in(kFloat64)).requires_grad_();
  zeros({2, 3}, in(kFloat64)).index_put_({1}, leaf).sum().backward();
  EXPECT_EQ(leaf.grad().sizes(), Shape({1, 1, 3}));
  EXPECT_EQ(elements(leaf.grad()), Doubles(3, 1));
}

TEST_P(IndexPut, WritesTheElementsThatIndexSelects) {
  const Indices cases[] = {
      {Slice(), positions({2, 0, -3}), 1},
      {positions({1, 0}), positions({2, -3})},
      {Slice(), positions({2, 1}), positions({0, 3})},
      {positions({1, 0}), Slice(), positions({0, 3})},
      {positions({1, 0}).reshape({2, 1}), positions({0, 2}).to(kInt), 3},
      {0, Slice(), positions({1, 2})},
      {0, positions({2, 0}), Slice(1, 3)},
      {Ellipsis, positions({3})},
      {None, positions({1}), None, 2},
      {counted() > 20},
      {Slice(), mask({true, false, true}), 0},
      {mask({true, true}), positions({2, 0}), 0},
      {positions({})},
      {mask({false})[0]},
      {mask({true})[0], 0, 0, 1},
  };
  for (const Indices& indices : cases) {
    SCOPED_TRACE(&indices - cases);
    const Tensor all = counted();  // an element is its own position
    const Tensor picked = all.index(indices);
    const Tensor values = -1 - arange(picked.numel(), in(kFloat64)).reshape(picked.sizes());
    for (const bool accumulate : {false, true}) {
      Doubles expected = elements(all);
      const Doubles at = elements(picked);
      for (std::size_t i = 0; i < at.size(); ++i) {
        double& element = expected[static_cast<std::size_t>(at[i])];
        const double value = -1 - static_cast<double>(i);
        element = accumulate ? element + value : value;
      }
      const Tensor x = counted();
      EXPECT_TRUE(x.index_put_(indices, values, accumulate).is_same(x));
      EXPECT_EQ(elements(x), expected);
      const Tensor base = counted().transpose(0, 2).contiguous();
      base.transpose(0, 2).index_put_(indices, values, accumulate);
      EXPECT_EQ(elements(base.transpose(0, 2)), expected);
    }
  }
}

// libtorch does not define which value stays; here it is the last one on every device.
TEST_P(IndexPut, RepeatedIndicesKeepTheLastValueOrAddAllValues) {
  const Tensor x = elements({1, 2, 3});
  x.index_put_({positions({2, 0, 2, 0, 2})}, elements({10, 20, 30, 40, 50}));
  EXPECT_EQ(elements(x), (Doubles{40, 2, 50}));
  x.index_put_({positions({2, 0, 2, 0, 2})}, elements({10, 20, 30, 40, 50}), /*accumulate=*/true);
  EXPECT_EQ(elements(x), (Doubles{100, 2, 140}));
  x.index_put_({positions({1, 1, 1})}, elements({1}), true)
      .index_put_({Slice(0, 1)}, elements({100}), true);
  EXPECT_EQ(elements(x), (Doubles{200, 5, 140}));
}

TEST_P(IndexPut, BroadcastsAndKeepsTheDtype) {
  const Tensor x = zeros({2, 3}, in(kHalf));
  x.index_put_({Slice(), positions({0, 2})}, elements({0.1, 2}).to(kHalf));
  EXPECT_EQ(x.dtype(), kHalf);
  EXPECT_EQ(elements(x), (Doubles{0.0999755859375, 0, 2, 0.0999755859375, 0, 2}));
  x.index_put_({positions({1})}, 7);
  EXPECT_EQ(elements(x), (Doubles{0.0999755859375, 0, 2, 7, 7, 7}));
  x.index_put_({x > 1}, ones({}, {.device = Device(kCPU, 1)}));
  EXPECT_EQ(elements(x), (Doubles{0.0999755859375, 0, 1, 1, 1, 1}));
  const Tensor exact = elements({0, 0});
  exact.index_put_({positions({0, 1})}, elements({-0.0, kNan}));
  EXPECT_TRUE(std::signbit(elements(exact)[0]) && std::isnan(elements(exact)[1]));
  const Tensor flags = mask({false, false});
  flags.index_put_({positions({1})}, mask({true})[0]);
  EXPECT_EQ(elements(flags), (Doubles{0, 1}));
}

// As in PyTorch: views convert as copy_() does, and so does one value for a mask.
TEST_P(IndexPut, RefusesValuesOfAnotherDtype) {
  const Tensor x = zeros({2, 3}, in(kHalf));
  const Tensor value = ones({3}, in(kFloat64)), one = ones({1}, in(kFloat64));
  const std::string message =
      "index_put_: expected values of float16, as the tensor, got float64; convert them by to()";
  for (const bool accumulate : {false, true}) {
    EXPECT_EQ(message_of([&] { x.index_put_({positions({0})}, value, accumulate); }), message);
  }
  EXPECT_EQ(message_of([&] { x.index_put_({Slice(), positions({0})}, one); }), message);
  EXPECT_EQ(message_of([&] { x.index_put_({mask({true, false})}, value); }), message);
  EXPECT_EQ(message_of([&] { x.index_put_({mask({true, false})}, one, true); }), message);
  EXPECT_EQ(elements(x), Doubles(6, 0));
  x.index_put_({0}, value).index_put_({Ellipsis, Slice(0, 1)}, one * 2);
  x.index_put_({mask({false, true})}, one * 3);
  EXPECT_EQ(elements(x), (Doubles{2, 1, 1, 3, 3, 3}));
}

TEST_P(IndexPut, GradientsAgreeWithFiniteDifferences) {
  const Tensor x = random_tensor({2, 3, 4}, -2, 2, {.seed = 3}).to(device()).requires_grad_();
  const Tensor values = random_tensor({3, 1}, -2, 2, {.seed = 4}).to(device()).requires_grad_();
  for (const bool accumulate : {false, true}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      const Tensor base = in[0] * in[0];
      base.index_put_({positions({1, 0, 1}), Slice(None, None, 2), positions({0, 3, 0})},
                      in[1] * in[1], accumulate);
      base[0].index_put_({positions({2})}, in[1].sum(), accumulate);  // into a view
      return std::vector<Tensor>{base * base};
    };
    EXPECT_TRUE(autograd::gradcheck(f, {x, values}));
    EXPECT_TRUE(autograd::gradgradcheck(f, {x, values}));
  }
}

TEST_P(IndexPut, RefusesIndicesAndValuesThatDoNotFit) {
  const Tensor x = zeros({2, 3}, in(kFloat64));
  EXPECT_THROW(x.index_put_({positions({0, 1})}, elements({1, 2})), std::invalid_argument);
  EXPECT_THROW(x.index_put_({positions({})}, elements({1, 2})), std::invalid_argument);
  EXPECT_THROW(x.expand({4, 2, 3}).index_put_({positions({0})}, 1), std::invalid_argument);
  EXPECT_EQ(message_of([&] { x.index_put_({x}, 1); }),
            "index_put_: expected tensors of int64, int32 or bool, got float64");
  const Tensor leaf = zeros({2}, in(kFloat64)).requires_grad_();
  EXPECT_EQ(message_of([&] {
              leaf.index_put_({positions({0})}, 1);
            }).find("index_put_: expected a tensor that is not a leaf"),
            0U);
  if (device().is_cpu()) {  // a GPU reports it later
    EXPECT_EQ(message_of([&] { x.index_put_({positions({2})}, 1); }),
              "index_put_: expected indices >= 0 and below the size 2, got 2");
  }
  EXPECT_EQ(elements(x), Doubles(6, 0));
}

}  // namespace
}  // namespace halfgrad
