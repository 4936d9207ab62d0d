#include <halfgrad/autograd/indexing.h>

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

using indexing::Ellipsis;
using indexing::None;
using indexing::Slice;
using Indices = std::vector<indexing::TensorIndex>;

class Index : public TensorsOnDevice {
 protected:
  // 0 ... 23 as [2, 3, 4].
  Tensor counted() const { return arange(24, in(kFloat64)).reshape({2, 3, 4}); }
  Tensor positions(const std::vector<std::int64_t>& values) const {
    return tensor(values, {.device = device()});
  }
  Tensor mask(std::initializer_list<bool> values) const {
    return tensor(values, {.device = device()});
  }
};
HALFGRAD_ON_DEVICES(Index);

// Expected values: PyTorch 2.15.
TEST_P(Index, SelectsTheElementsThatPyTorchSelects) {
  const Tensor x = counted();
  struct Case {
    const char* python;
    Indices indices;
    Shape sizes;
    Doubles values;
  };
  const Case cases[] = {
      {"x[-1, 2]", {-1, 2}, {4}, {20, 21, 22, 23}},
      {"x[..., 0]", {Ellipsis, 0}, {2, 3}, {0, 4, 8, 12, 16, 20}},
      {"x[0, 1:, ::2]", {0, Slice(1, None), Slice(None, None, 2)}, {2, 2}, {4, 6, 8, 10}},
      {"x[:, None, -2:, 3]", {Slice(), None, Slice(-2), 3}, {2, 1, 2}, {7, 11, 19, 23}},
      {"x[0, 0, ..., None]", {0, 0, Ellipsis, None}, {4, 1}, {0, 1, 2, 3}},
      {"x[:, [2, 0, -1], 1]", {Slice(), positions({2, 0, -1}), 1}, {2, 3}, {9, 1, 9, 21, 13, 21}},
      {"x[[1, 0], [2, -3]]",
       {positions({1, 0}), positions({2, -3})},
       {2, 4},
       {20, 21, 22, 23, 0, 1, 2, 3}},
      {"x[:, [2, 1], [0, 3]]",
       {Slice(), positions({2, 1}), positions({0, 3})},
       {2, 2},
       {8, 7, 20, 19}},
      {"x[[1, 0], :, [0, 3]]",
       {positions({1, 0}), Slice(), positions({0, 3})},
       {2, 3},
       {12, 16, 20, 3, 7, 11}},
      {"x[[[1], [0]], [0, 2], 3]",
       {positions({1, 0}).reshape({2, 1}), positions({0, 2}).to(kInt), 3},
       {2, 2},
       {15, 23, 3, 11}},
      {"x[0, :, [1, 2]]", {0, Slice(), positions({1, 2})}, {3, 2}, {1, 2, 5, 6, 9, 10}},
      {"x[0, [2, 2], 1:3]", {0, positions({2, 2}), Slice(1, 3)}, {2, 2}, {9, 10, 9, 10}},
      {"x[x > 20]", {x > 20}, {3}, {21, 22, 23}},
      {"x[:, [True, False, True], 0]",
       {Slice(), mask({true, false, true}), 0},
       {2, 2},
       {0, 8, 12, 20}},
      {"x[[True, True], [2, 0], 0]", {mask({true, true}), positions({2, 0}), 0}, {2}, {8, 12}},
      {"x[tensor(1), tensor(2)]", {positions({1})[0], positions({2})[0]}, {4}, {20, 21, 22, 23}},
      {"x[[]]", {positions({})}, {0, 3, 4}, {}},
      {"x[True, 0, 0, 1]", {mask({true})[0], 0, 0, 1}, {1}, {1}},
      {"x[False]", {mask({false})[0]}, {0, 2, 3, 4}, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.python);
    const Tensor picked = x.index(c.indices);
    EXPECT_EQ(picked.sizes(), c.sizes);
    EXPECT_EQ(elements(picked), c.values);
  }
  EXPECT_EQ(elements(x.index({})), elements(x));
}

TEST_P(Index, IsAViewUnlessATensorIsAnIndex) {
  const Tensor x = counted();
  EXPECT_EQ(x.index({0, Slice(1)}).array().storage(), x.array().storage());
  EXPECT_EQ(x.index({Ellipsis}).array().storage(), x.array().storage());
  EXPECT_FALSE(x.index({Ellipsis}).is_same(x));
  EXPECT_FALSE(x.index({}).is_same(x));
  EXPECT_NE(x.index({positions({0})}).array().storage(), x.array().storage());
}

TEST_P(Index, TakesMasksOfUint8) {
  const Tensor x = counted();
  const Tensor bits = mask({true, false}), bytes = bits.to(kByte);
  EXPECT_TRUE(equal(x.index({bytes}), x.index({bits})));
  EXPECT_TRUE(equal(x.index({0, None, bytes[0]}), x.index({0, None, bits[0]})));
  Tensor y = x.clone();
  y.index_put_({bytes}, -1);
  EXPECT_TRUE(equal(y, where(bits.reshape({2, 1, 1}), -1, x)));
}

TEST(TensorIndex, SaysWhatItIs) {
  const Indices indices{None, "...", Ellipsis, 2, Slice(1, None, 2), zeros({1}, kLong)};
  EXPECT_TRUE(indices[0].is_none());
  EXPECT_TRUE(indices[1].is_ellipsis() && indices[2].is_ellipsis());
  EXPECT_TRUE(indices[3].is_integer());
  EXPECT_EQ(indices[3].integer(), 2);
  EXPECT_TRUE(indices[4].is_slice());
  EXPECT_EQ(indices[4].slice().stop(), indexing::INDEX_MAX);
  EXPECT_TRUE(indices[5].is_tensor());
  EXPECT_FALSE(indices[5].is_integer() || indices[3].is_none());
  std::ostringstream text;
  text << Slice(1, 2, 3) << " " << Slice(None, 5);
  EXPECT_EQ(text.str(), "1:2:3 0:5:1");
}

TEST_P(Index, RefusesInvalidIndices) {
  const Tensor x = counted();
  EXPECT_THROW(x.index({0, 3}), std::out_of_range);
  EXPECT_EQ(message_of([&] { x.index({0, 0, 0, 0}); }), "index: expected at most 3 indices, got 4");
  EXPECT_EQ(message_of([&] {
              x.index({Ellipsis, Ellipsis});
            }),
            "index: expected one Ellipsis at most");
  EXPECT_EQ(message_of([&] {
              x.index({0, mask({true, false})});
            }),
            "index: expected a mask of the sizes that [3, 4] has from dimension 0 on, got [2]");
  EXPECT_THROW(x.index({positions({0, 1}), positions({0, 1, 2})}), std::invalid_argument);
  EXPECT_EQ(message_of([&] { x.index({x}); }),
            "index: expected tensors of int64, int32 or bool, got float64");
  for (const DType small : {kInt16, kInt8}) {  // one position is no list, as in PyTorch
    EXPECT_TRUE(equal(x.index({positions({1})[0].to(small)}), x[1]));
    EXPECT_THROW(x.index({positions({1}).to(small)}), std::invalid_argument);
  }
  EXPECT_THROW(x.index({Slice(0, 1, -1)}), std::invalid_argument);
  if (device().is_cpu()) {  // a GPU reports it later
    EXPECT_EQ(message_of([&] { x.index({positions({-3})}); }),
              "index: expected indices >= 0 and below the size 2, got -3");
    EXPECT_THROW(x.index({positions({0}), positions({3})}), std::out_of_range);
  }
}

TEST_P(Index, GradientsAgreeWithFiniteDifferences) {
  const auto f = [this](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{
        in[0].index({positions({1, 0, 1}), Slice(None, None, 2), positions({0, 3, 0})})};
  };
  const Tensor x = random_tensor({2, 3, 4}, -2, 2, {.seed = 3}).to(device()).requires_grad_();
  EXPECT_TRUE(autograd::gradcheck(f, {x}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {x}));
}

TEST_P(Index, PutsScalarsAndTensors) {
  Tensor x = zeros({2, 3}, in(kFloat64));
  x.index_put_({0}, 1).index_put_({Ellipsis, Slice(1, None)}, elements({5, 6}));
  EXPECT_EQ(elements(x), (Doubles{1, 5, 6, 0, 5, 6}));
  x.index_put_({x > 5}, -1);
  EXPECT_EQ(elements(x), (Doubles{1, 5, -1, 0, 5, -1}));
  Tensor square = zeros({2, 2}, in(kFloat64));
  square.index_put_({mask({false, true})}, 3);  // rows, as in index()
  EXPECT_EQ(elements(square), (Doubles{0, 0, 3, 3}));
  EXPECT_THROW(x.index_put_({mask({false, true, true})}, 3), std::out_of_range);
  EXPECT_THROW(x.index_put_({0}, elements({1, 2})), std::invalid_argument);
  EXPECT_EQ(elements(x), (Doubles{1, 5, -1, 0, 5, -1}));
}

TEST_P(Index, PuttingIsRecorded) {
  const Tensor x = elements({1, 2, 3, 4}).requires_grad_();
  const Tensor value = elements({5}).requires_grad_();
  Tensor y = x * 2;
  y.index_put_({Slice(1, 3)}, value);
  (y * elements({1, 10, 100, 1000})).sum().backward();
  EXPECT_EQ(elements(x.grad()), (Doubles{2, 0, 0, 2000}));
  EXPECT_EQ(elements(value.grad()), Doubles{110});
}

TEST_P(Index, FindsNonzeroElements) {
  const Tensor x = elements({0, kNan, 0, -1, 2, 0}).reshape({2, 3});
  EXPECT_EQ(x.nonzero().sizes(), (Shape{3, 2}));
  EXPECT_EQ(elements(nonzero(x)), (Doubles{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(nonzero(x).dtype(), kLong);
  EXPECT_EQ(nonzero(x).device(), Device(device()));
  EXPECT_EQ(nonzero(x[1][0]).sizes(), (Shape{1, 0}));
  EXPECT_EQ(nonzero(x[0][0]).sizes(), (Shape{0, 0}));
  EXPECT_EQ(nonzero(zeros({0, 2}, in(kFloat64))).sizes(), (Shape{0, 2}));
}

TEST_P(Index, MasksSelectAndBroadcast) {
  const Tensor x = elements({1, 2, 3, 4}).reshape({2, 2}).requires_grad_();
  const Tensor selected = x.masked_select(mask({false, true}));
  EXPECT_EQ(elements(selected), (Doubles{2, 4}));
  (selected * selected).sum().backward();
  EXPECT_EQ(elements(x.grad()), (Doubles{0, 4, 0, 8}));
  EXPECT_EQ(masked_select(x, mask({false})).sizes(), Shape{0});
  EXPECT_EQ(message_of([&] { masked_select(x, x); }),
            "masked_select: expected a mask of bool, got float64");
}

}  // namespace
}  // namespace halfgrad
