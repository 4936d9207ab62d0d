#include "engine_test.h"

#include <functional>
#include <string>
#include <vector>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/tests/autograd/table/doubles.h>

// In-place changes of tensors, and of their elements through views.
namespace halfgrad {
namespace {

using InPlaceInGraph = GraphOnDevice;
using InPlaceOnViews = GraphOnDevice;
HALFGRAD_ON_DEVICES(InPlaceInGraph);
HALFGRAD_ON_DEVICES(InPlaceOnViews);

TEST_P(InPlaceInGraph, ChangingASavedTensorIsNoticedAndNamed) {
  const Tensor x = leaf({}, 3);
  Tensor y = x * 2;
  const Tensor z = y * y;
  y.add_(1);
  const std::string message = message_of([&] { z.backward(); });
  expect_contains(message, "mul");
  expect_contains(message, "in-place");
}

TEST_P(InPlaceInGraph, IsNoticedThroughViewsAndDetachedCopies) {
  const Tensor x = leaf({2}, 3);
  Tensor y = x * 2;
  const Tensor z = sum(y * y);
  y.detach().mul_(5);
  expect_contains(message_of([&] { z.backward(); }), "in-place");
}

TEST_P(InPlaceInGraph, BecomesPartOfTheGraph) {
  const Tensor x = leaf({}, 3);
  Tensor y = x * 2;
  y.mul_(x);  // 2 x^2
  y.add_(x);  // + x
  y.backward();
  EXPECT_EQ(y.item<double>(), 21);
  EXPECT_EQ(x.grad().item<double>(), 13);
}

TEST_P(InPlaceInGraph, LeavesThatRequireGradAreProtected) {
  Tensor x = leaf({}, 3);
  expect_contains(message_of([&] { x.add_(1); }), "NoGradGuard");
  const NoGradGuard off;
  x.add_(1);
  EXPECT_EQ(x.item<double>(), 4);
}

TEST_P(InPlaceOnViews, GiveTheBaseItsGradient) {
  const Tensor x = leaf({3}, 2);
  Tensor base = x * 1;
  base.select(0, 1).mul_(5);
  EXPECT_EQ(base.to_vector<double>(), (Doubles{2, 10, 2}));
  EXPECT_EQ(base.grad_fn_name(), "overwrite_part");
  sum(base * base).backward();  // 2 x, but 2 (5 x) 5 where it was multiplied
  EXPECT_EQ(x.grad().to_vector<double>(), (Doubles{4, 100, 4}));
}

TEST_P(InPlaceOnViews, ViewsFollowTheirBase) {
  const Tensor x = leaf({2}, 3);
  Tensor base = x * 1;
  const Tensor before = base.slice(0, 0, 1);
  base.mul_(4);
  EXPECT_EQ(before.grad_fn_name(), "as_strided");
  before.backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Doubles{4, 0}));
}

TEST_P(InPlaceOnViews, ViewsFollowEachOther) {
  const Tensor x = leaf({2, 2}, 3);
  Tensor base = x * 1;
  const Tensor row = base.select(0, 0);
  Tensor column = base.t().select(0, 1);
  column.exp_();
  column.zero_();
  column.add_(x.select(1, 0) * 7);
  sum(row).backward();  // x_00 + 7 x_00
  EXPECT_EQ(x.grad().to_vector<double>(), (Doubles{8, 0, 0, 0}));
}

TEST_P(InPlaceOnViews, ViewsOfViewsComeStraightFromTheirBase) {
  const Tensor x = leaf({2, 3}, 2);
  Tensor base = x * 1;
  const Tensor nested = base.t().slice(0, 1).select(1, 1).unsqueeze(0);
  base.mul_(4);
  EXPECT_EQ(nested.grad_fn()->edges()[0].node, base.grad_fn());
  sum(nested * nested).backward();  // 2 (4 x) 4
  EXPECT_EQ(x.grad().to_vector<double>(), (Doubles{0, 0, 0, 0, 64, 64}));
}

TEST_P(InPlaceOnViews, ViewsMayBeThousandsDeep) {
  const Tensor x = leaf({2, 2}, 3);
  Tensor base = x * 1;
  Tensor view = base;
  for (int i = 0; i < 10000; ++i) {
    view = i % 2 == 0 ? view.t() : view.reshape({2, 2});
    if (i % 10 == 0) view.select(0, 0).neg_();
  }
  sum(view).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Doubles{1, 1, 1, 1}));
}

// Expected values are PyTorch's.
TEST_P(InPlaceOnViews, WorkOnABaseWithStrides) {
  const Tensor x = arange(1, 7, {.dtype = kDouble, .device = device()}).requires_grad_();
  const Tensor base(Array::empty({3, 2}, kDouble, device()).transpose(0, 1));
  base.copy_(x.reshape({2, 3}));
  const Tensor row = base[0];
  base.select(1, 1).mul_(5);
  row.mul_(row.clone());
  EXPECT_EQ(base.to_vector<double>(), (Doubles{1, 100, 9, 4, 25, 6}));
  sum(base * arange(6, {.dtype = kDouble, .device = device()}).reshape({2, 3})).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Doubles{0, 100, 12, 3, 20, 5}));
}

TEST_P(InPlaceOnViews, FillABufferThatHadNoGradient) {
  const Tensor x = leaf({2}, 3);
  Tensor buffer = full({2, 2}, 0);
  const Tensor early = buffer.select(0, 1);
  EXPECT_FALSE(early.requires_grad());
  buffer.select(0, 1).copy_(x * x);
  EXPECT_TRUE(buffer.requires_grad());
  EXPECT_TRUE(early.requires_grad());
  // An earlier operand that requires grad must not hide a view whose graph is out of date.
  const Tensor weight = leaf({2}, 10);
  const Tensor again = buffer.select(0, 1);
  buffer.select(0, 0).copy_(x);
  sum(weight * again).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Doubles{60, 60}));
  EXPECT_EQ(weight.grad().to_vector<double>(), (Doubles{9, 9}));
}

TEST_P(InPlaceOnViews, OverwrittenPartsGetNoGradientNotEvenNaN) {
  const Tensor x = leaf({2}, 0);
  Tensor z = x * 1;
  z.slice(0, 0, 1).fill_(9);
  sum(z / full({2}, 0)).backward();  // an infinite gradient
  EXPECT_EQ(x.grad().to_vector<double>()[0], 0);
}

TEST_P(InPlaceOnViews, AgreeWithFiniteDifferencesTwice) {
  struct Case {
    const char* name;
    std::function<Tensor(const Tensor&, const Tensor&)> function;
  };
  const Case cases[] = {
      {"select",
       [](const Tensor& x, const Tensor& w) {
         Tensor y = x * x;
         y.select(1, -1).mul_(w);
         return y * y;
       }},
      {"a view of a view",
       [](const Tensor& x, const Tensor& w) {
         Tensor y = x * x;
         y.t().slice(0, 0, 3, 2).select(1, 0).copy_(w * w);
         return y * x;
       }},
      {"reshape and permute",
       [](const Tensor& x, const Tensor& w) {
         Tensor y = x * 2;
         Tensor seen = y.reshape({2, 3, 1}).permute({2, 0, 1}).squeeze(0).unsqueeze(-1);
         seen.select(2, 0).select(1, 1).add_(w * w).mul_(w);
         return y * seen.squeeze();
       }},
      {"changes through the base and through the view",
       [](const Tensor& x, const Tensor& w) {
         Tensor y = x * x;
         Tensor row = y.select(1, 0);
         y.mul_(3);
         row.add_(w);
         y.sigmoid_();
         return y * row.unsqueeze(1);
       }},
      {"repeating and overlapping views",
       [](const Tensor& x, const Tensor& w) {
         Tensor y = x * x;
         const Tensor repeated = y.unsqueeze(0).expand({2, 2, 3});
         const Tensor overlapping = y.as_strided({2, 2, 2}, {1, 2, 1}, 1);
         y.select(1, 0).mul_(w);
         return (repeated * repeated).sum() + (overlapping * overlapping).sum();
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::vector<Tensor> inputs{
        random_tensor({2, 3}, -2, 2, {.seed = 1}).to(device()).requires_grad_(),
        random_tensor({2}, -2, 2, {.seed = 2}).to(device()).requires_grad_()};
    const auto f = [&](const std::vector<Tensor>& in) { return c.function(in[0], in[1]); };
    EXPECT_TRUE(autograd::gradcheck(f, inputs));
    EXPECT_TRUE(autograd::gradgradcheck(f, inputs));
  }
}

TEST_P(InPlaceOnViews, RefuseChangesThatAutogradCannotFollow) {
  const Tensor x = leaf({2}, 3);
  Tensor of_leaf = x.select(0, 0);
  expect_contains(message_of([&] { of_leaf.mul_(2); }), "view of one");
  Tensor leaf_of_buffer = full({2}, 1).select(0, 0).requires_grad_();
  expect_contains(message_of([&] { leaf_of_buffer.mul_(2); }), "not a leaf requiring grad, got");
  const Tensor part = full({2, 2}, 1).view({4}).requires_grad_().slice(0, 0, 2);
  expect_contains(message_of([&] { part.mul_(2); }), "view of one");
  Tensor expanded = (x * 1).unsqueeze(0).expand({3, 2});
  expect_contains(message_of([&] { expanded.mul_(2); }), "do not share memory");
  Tensor y = x * 1;
  Tensor overlapping = (x * 1).as_strided({2, 2}, {1, 0});
  expect_contains(message_of([&] { overlapping.mul_(2); }), "do not share memory");
  const Tensor repeated(full({2}, 1).array().expand({3, 2}));
  expect_contains(message_of([&] { repeated[0].copy_(x); }), "does not know");
  Tensor unseen;
  {
    const NoGradGuard no_grad;
    unseen = y.select(0, 0);
  }
  expect_contains(message_of([&] { unseen.copy_(x.select(0, 0)); }), "does not know");
  EXPECT_EQ(y.to_vector<double>(), (Doubles{3, 3}));
}

// A detached view has a history of its own, as in PyTorch; the tensor it was cut from has not.
TEST_P(InPlaceOnViews, RecordChangesOfADetachedView) {
  const Tensor x = leaf({2}, 3), y = x * 1;
  const Tensor detached = y.select(0, 0).detach();
  EXPECT_FALSE(detached.is_view());
  detached.add_(x.select(0, 1));
  EXPECT_EQ(y.to_vector<double>(), (Doubles{6, 3}));
  (detached * detached).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Doubles{0, 12}));
}

TEST(InPlaceOnCpu, CopiesBetweenViewsThatOverlap) {
  Tensor x = arange(9, kDouble).reshape({3, 3});
  x.copy_(x.t());
  EXPECT_EQ(elements(x), (Doubles{0, 3, 6, 1, 4, 7, 2, 5, 8}));
  x.slice(0, 1).copy_(x.slice(0, 0, 2));
  EXPECT_EQ(elements(x), (Doubles{0, 3, 6, 0, 3, 6, 1, 4, 7}));
}

TEST(InPlaceOnCpu, RefusesLeavesBeforeDrawingNumbers) {
  const Tensor leaf = ones({2}, {.requires_grad = true});
  const RandomKey before = default_generator().get_state();
  EXPECT_THROW(leaf.normal_(), std::runtime_error);
  EXPECT_EQ(default_generator().get_state().stream, before.stream);
}

}  // namespace
}  // namespace halfgrad
