#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// `x[0] = y` copies into the elements that the temporary views; `x = y` only rebinds the variable.
namespace halfgrad {
namespace {

using indexing::Ellipsis;
using indexing::Slice;

class Assignment : public TensorsOnDevice {
 protected:
  Tensor zero(const Shape& sizes, DType dtype = kFloat64) const { return zeros(sizes, in(dtype)); }
};
HALFGRAD_ON_DEVICES(Assignment);

TEST_P(Assignment, ToAViewCopiesIntoItsBase) {
  const Tensor x = zero({2, 3});
  x[0] = elements({1, 2, 3});
  EXPECT_EQ(elements(x), (Doubles{1, 2, 3, 0, 0, 0}));
  x[1][2] = 6;
  x.slice(1, 0, 1) = elements({7, 8}).reshape({2, 1});
  EXPECT_EQ(elements(x), (Doubles{7, 2, 3, 8, 0, 6}));
  x.select(1, 1) = -1.5;
  x.index({1, Slice(1)}) = elements({4, 5});
  EXPECT_EQ(elements(x), (Doubles{7, -1.5, 3, 8, 4, 5}));
  x.t()[2] = x.t()[0];
  x.narrow(0, 1, 1) = x.slice(0, 0, 1);
  EXPECT_EQ(elements(x), (Doubles{7, -1.5, 7, 7, -1.5, 7}));
  x.view(-1).slice(0, 1) = x.view(-1).slice(0, 0, 5);  // the two overlap
  EXPECT_EQ(elements(x), (Doubles{7, 7, -1.5, 7, 7, -1.5}));
  x[0] = x[0];
  EXPECT_EQ(elements(x), (Doubles{7, 7, -1.5, 7, 7, -1.5}));
  x.index({Ellipsis}) = 0;
  x.diagonal() = 1;
  EXPECT_EQ(elements(x), (Doubles{1, 0, 0, 0, 1, 0}));
}

TEST_P(Assignment, BroadcastsAndConverts) {
  const Tensor halves = zero({2, 2}, kHalf);
  halves[0] = elements({0.1});
  EXPECT_EQ(halves.dtype(), kHalf);
  EXPECT_EQ(elements(halves), (Doubles{0.0999755859375, 0.0999755859375, 0, 0}));
  const Tensor integers = zero({3}, kLong);
  integers[1] = 2.75;
  integers[2] = elements({-2.75})[0];
  EXPECT_EQ(elements(integers), (Doubles{0, 2, -2}));
  halves[1] = ones({2}, {.device = Device(kCPU, 1)});
  EXPECT_EQ(halves.device(), Device(device()));
  EXPECT_EQ(elements(halves[1]), (Doubles{1, 1}));
  EXPECT_THROW(halves[0] = ones({3}, in(kHalf)), std::invalid_argument);
  EXPECT_THROW(integers[0] = Tensor(), std::runtime_error);
}

TEST_P(Assignment, IsRecorded) {
  const Tensor x = elements({1, 2, 3, 4}).requires_grad_();
  const Tensor y = elements({5, 6}).requires_grad_();
  const Tensor z = (x * 2).reshape({2, 2});
  z[1] = y;
  z[0][0] = 9;
  (z * elements({1, 10, 100, 1000}).reshape({2, 2})).sum().backward();
  EXPECT_EQ(elements(x.grad()), (Doubles{0, 20, 0, 0}));
  EXPECT_EQ(elements(y.grad()), (Doubles{100, 1000}));

  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor base = in[0] * in[0];
    base.slice(1, 0, 2) = in[1];
    base[1] = in[0][0] + base[0];
    return std::vector<Tensor>{base * base};
  };
  const std::vector<Tensor> inputs{
      random_tensor({2, 3}, 1, 2, {.seed = 1}).to(device()).requires_grad_(),
      random_tensor({2, 1}, 1, 2, {.seed = 2}).to(device()).requires_grad_()};
  EXPECT_TRUE(autograd::gradcheck(f, inputs));
  EXPECT_TRUE(autograd::gradgradcheck(f, inputs));
}

TEST_P(Assignment, IsAChangeInPlace) {
  const Tensor x = zero({2, 2}).requires_grad_();
  EXPECT_NE(message_of([&] { x[0] = 1; }).find("fill_: expected a tensor that is not a leaf"),
            std::string::npos);
  {
    const NoGradGuard no_grad;
    x[0] = 1;
  }
  EXPECT_EQ(elements(x), (Doubles{1, 1, 0, 0}));
  const Tensor y = x * 3;
  const Tensor product = y * y;
  const std::uint32_t version = y._version();
  y[1] = x[0];
  EXPECT_EQ(y._version(), version + 1);
  EXPECT_NE(message_of([&] { product.sum().backward(); }).find("modified by an in-place"),
            std::string::npos);
}

TEST_P(Assignment, WithoutEffectIsAnError) {
  for (const bool recorded : {false, true}) {
    const Tensor x = elements({1, 2, 3}).requires_grad_(recorded) * 1;
    const Tensor y = elements({4, 5, 6});
    const Tensor rows = tensor({2, 0}, {.device = device()});
    EXPECT_EQ(message_of([&] { x.index({x > 1}) = 0; }),
              "operator=: expected a view of a tensor, got a temporary of shape [2] whose elements "
              "nothing else refers to, so the assignment would be lost; to assign at an index "
              "tensor, use index_put_()");
    EXPECT_THROW(x.index({rows}) = y.slice(0, 1), std::invalid_argument);
    EXPECT_THROW(x.reshape({3, 1}).index({rows, Slice()}) = 0, std::invalid_argument);
    EXPECT_THROW(x.masked_select(x > 1) = 0, std::invalid_argument);
    EXPECT_THROW(x.index_select(0, rows) = 0, std::invalid_argument);
    EXPECT_THROW((x + y) = y, std::invalid_argument);
    EXPECT_THROW(x.clone() = y, std::invalid_argument);
    EXPECT_THROW(x.to(kHalf) = y, std::invalid_argument);
    EXPECT_THROW(zeros({3}) = y, std::invalid_argument);
    EXPECT_THROW(Tensor() = y, std::runtime_error);
    EXPECT_EQ(elements(x), (Doubles{1, 2, 3}));
  }
}

TEST_P(Assignment, ToAnotherHandleCopies) {
  const Tensor x = elements({1, 2, 3});
  const auto handle = [&] { return x; };
  handle() = elements({4, 5, 6});
  EXPECT_EQ(elements(x), (Doubles{4, 5, 6}));
  x.detach() = 1;
  x.contiguous() = x + 1;
  x.to(device()) = x * 2;
  EXPECT_EQ(elements(x), (Doubles{4, 4, 4}));
  Tensor(x.array()) = 7;
  EXPECT_EQ(elements(x), (Doubles{7, 7, 7}));
}

TEST(AssignmentToABlob, WritesTheCallersMemory) {
  float elements[] = {1, 2};
  Tensor(Array::from_blob(elements, 2, 1, kFloat, nullptr)) = 3;
  EXPECT_EQ(elements[0] + elements[1], 6);
}

TEST_P(Assignment, ToTheResultOfAnOperatorInPlaceWorksOnTemporaries) {
  const Tensor x = elements({1, 2, 3, 4}).reshape({2, 2});
  x[0] += x[1];
  x[1] *= 2;
  x.select(1, 0) -= 1;
  EXPECT_EQ(elements(x), (Doubles{3, 6, 5, 8}));
  const Tensor leaf = elements({1, 2}).requires_grad_();
  (leaf * 3).sum().backward();
  leaf.grad() /= 2;
  EXPECT_EQ(elements(leaf.grad()), (Doubles{1.5, 1.5}));
}

template <class Target, class Source>
concept Assignable = std::is_assignable_v<Target, Source>;
static_assert(Assignable<Tensor&, Tensor> && Assignable<Tensor&, const Tensor&>);
static_assert(std::is_nothrow_move_assignable_v<Tensor> && std::is_copy_assignable_v<Tensor>);
static_assert(std::permutable<Tensor*>);  // required by std::ranges
static_assert(Assignable<Tensor, Tensor> && Assignable<Tensor, int>);
static_assert(!Assignable<Tensor&, int> && !Assignable<const Tensor&, Tensor>);
static_assert(!Assignable<decltype(std::declval<Tensor>().grad()), Tensor>);
static_assert(!Assignable<decltype(std::declval<Tensor>().grad()), int>);
static_assert(!Assignable<Array, Array> && Assignable<Array&, Array>);

TEST(AssignmentToVariables, RebindsAndLeavesTheElements) {
  const Tensor a = elements({1}), b = elements({2}), c = elements({3});
  Tensor x = a, y = b;
  x = y;
  EXPECT_TRUE(x.is_same(b));
  std::tie(x, y) = std::make_tuple(c, a);
  EXPECT_TRUE(x.is_same(c) && y.is_same(a));
  std::swap(x, y);
  EXPECT_TRUE(std::exchange(x, b).is_same(a) && x.is_same(b) && y.is_same(c));
  (x.is_same(b) ? x : y) = a;
  EXPECT_TRUE(x.is_same(a));
  for (auto&& part : a.unbind()) part = b;

  std::vector<Tensor> list{c, a, b, a};
  list.erase(list.begin());
  list.insert(list.begin(), b);
  std::sort(list.begin(), list.end(),
            [](const Tensor& one, const Tensor& other) { return one.item() < other.item(); });
  EXPECT_TRUE(list[0].is_same(a) && list[1].is_same(a) && list[2].is_same(b));
  std::copy_n(std::vector<Tensor>{c, c}.begin(), 2, list.begin());
  std::rotate(list.begin(), list.begin() + 3, list.end());
  EXPECT_TRUE(list[0].is_same(b) && list[1].is_same(c));

  std::optional<Tensor> maybe = a;
  maybe = c;
  std::map<std::string, Tensor> named{{"weight", a}};
  named["weight"] = b;
  std::pair<Tensor, int> pair{a, 1};
  pair = std::pair{b, 2};
  x = {};
  EXPECT_TRUE(maybe->is_same(c) && named["weight"].is_same(b) && pair.first.is_same(b));
  EXPECT_FALSE(x.defined());
  EXPECT_EQ(elements(cat({a, b, c})), (Doubles{1, 2, 3}));
}

}  // namespace
}  // namespace halfgrad
