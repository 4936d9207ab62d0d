#include <cmath>
#include <cstdint>
#include <vector>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>

#include "engine_test.h"

// User-defined functions whose forward changes inputs in place.
namespace halfgrad {
namespace {

using autograd::AutogradContext;
using autograd::gradcheck;
using autograd::gradgradcheck;
using autograd::variable_list;
using VectorOfDoubles = std::vector<double>;

/// x becomes e^x, which is saved.
struct ExpInPlace : autograd::Function<ExpInPlace> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    x.exp_();
    ctx->mark_dirty({x});
    ctx->save_for_backward({x});
    return x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

/// b becomes e^b, which is saved; returns {2 a, e^b}.
struct ExpOfSecond : autograd::Function<ExpOfSecond> {
  static variable_list forward(AutogradContext* ctx, const Tensor& a, Tensor b) {
    ctx->mark_dirty({b.exp_()});
    ctx->save_for_backward({b});
    return {a * 2, b};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * 2, grads[1] * ctx->get_saved_variables()[0]};
  }
};

/// b becomes a b; returns {a + b, a b}. Changes the array, which autograd does not notice.
struct ProductInto : autograd::Function<ProductInto> {
  static variable_list forward(AutogradContext* ctx, const Tensor& a, const Tensor& b) {
    const Tensor before = b.clone();
    ctx->save_for_backward({a, before});
    ctx->mark_dirty({b});
    b.array().copy_((a * b).array());
    return {a + before, b};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    return {grads[0] + grads[1] * saved[1], grads[0] + grads[1] * saved[0]};
  }
};

TEST(MarkDirty, TheInputIsTheOutput) {
  const Tensor x = vector_leaf({0, 1});
  const Tensor y = x * 2;
  const std::uint32_t version = y._version();
  const Tensor result = ExpInPlace::apply(y);
  EXPECT_TRUE(result.is_same(y));
  EXPECT_GT(y._version(), version);
  expect_contains(y.grad_fn_name(), "ExpInPlace");
  sum(y * 3).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (VectorOfDoubles{6, 6 * std::exp(2.0)}));
}

TEST(MarkDirty, DerivativesAreThoseOfThePlainFunction) {
  const Tensor x = vector_leaf({0.3, -1.2, 2}), y = vector_leaf({1.5, 0.4, -0.7});
  const auto exp_in_place = [](const std::vector<Tensor>& in) {
    const Tensor copy = in[0] * 1;
    ExpInPlace::apply(copy);
    return copy * in[1];
  };
  EXPECT_TRUE(gradcheck(exp_in_place, {x, y}));
  EXPECT_TRUE(gradgradcheck(exp_in_place, {x, y}));
  const auto product = [](const std::vector<Tensor>& in) {
    const Tensor target = in[1] * 2;
    const Tensor sum_of_both = ProductInto::apply(in[0], target)[0];
    return std::vector<Tensor>{sum_of_both * target, target};
  };
  EXPECT_TRUE(gradcheck(product, {x, y}));
}

TEST(MarkDirty, ChangesOfAViewBelongToItsBase) {
  const Tensor x = vector_leaf({0.3, -1.2, 2, 0.5}), y = vector_leaf({1.5, -0.4});
  const auto part_of_base = [](const std::vector<Tensor>& in) {
    const Tensor base = in[0] * in[0];
    const Tensor other_view = base.slice(0, 0, 2);
    const Tensor part = base.slice(0, 1, 3);
    ExpInPlace::apply(part);
    return std::vector<Tensor>{base * 2, part * part, other_view};
  };
  EXPECT_TRUE(gradcheck(part_of_base, {x}));
  EXPECT_TRUE(gradgradcheck(part_of_base, {x}));
  const auto second_of_two = [](const std::vector<Tensor>& in) {
    const Tensor base = in[0] * 1;
    return ExpOfSecond::apply(in[1], base.slice(0, 2))[0] * base.slice(0, 1, 3);
  };
  EXPECT_TRUE(gradcheck(second_of_two, {x, y}));
  EXPECT_TRUE(gradgradcheck(second_of_two, {x, y}));
}

TEST(MarkDirty, PutsATensorWithoutGradientsIntoTheGraph) {
  const Tensor a = vector_leaf({2, 3});
  const Tensor b = tensor_of({5, 7}, {2});
  ProductInto::apply(a, b);
  EXPECT_TRUE(b.requires_grad());
  EXPECT_FALSE(b.is_leaf());
  sum(b).backward();
  EXPECT_EQ(a.grad().to_vector<double>(), (VectorOfDoubles{5, 7}));
}

TEST(MarkDirty, ChangesOfSavedTensorsAreFound) {
  const Tensor x = vector_leaf({1, 2});
  const Tensor y = x * 2;
  const Tensor square = sum(y * y);
  ProductInto::apply(tensor_of({2, 2}, {2}), y);
  expect_contains(message_of([&] { square.backward(); }), "in-place");
}

TEST(MarkDirty, CountsTheChangeWithoutRecording) {
  const Tensor x = vector_leaf({1, 2});
  const NoGradGuard no_grad;
  EXPECT_TRUE(ProductInto::apply(tensor_of({2, 3}, {2}), x)[1].is_same(x));
  EXPECT_EQ(x._version(), 1U);
  EXPECT_TRUE(x.is_leaf());
  EXPECT_EQ(x.to_vector<double>(), (VectorOfDoubles{2, 6}));
}

TEST(MarkDirty, ProtectsLeavesThatRequireGrad) {
  const Tensor x = vector_leaf({1, 2});
  const std::string message = message_of([&] { ExpInPlace::apply(x); });
  expect_contains(message, "ExpInPlace::forward: expected a tensor that is not a leaf");
  expect_contains(message_of([&] { ExpInPlace::apply(x.slice(0, 1)); }), "nor a view of one");
}

struct KeepsWhatItChanged : autograd::Function<KeepsWhatItChanged> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    ctx->mark_dirty({x.mul_(2)});
    return x + 1;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

TEST(MarkDirty, RequiresChangedInputsAsOutputs) {
  const Tensor x = vector_leaf({1, 2});
  const std::string message = message_of([&] { KeepsWhatItChanged::apply(x * 1); });
  expect_contains(message, "KeepsWhatItChanged::forward: expected every tensor of mark_dirty()");
}

/// Counts the positive x into `counter`, an integer.
struct CountPositive : autograd::Function<CountPositive> {
  static variable_list forward(AutogradContext* ctx, const Tensor& x, Tensor counter) {
    ctx->mark_dirty({counter.add_((x > 0).sum())});
    return {x.relu(), counter};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * 5, Tensor()};
  }
};

TEST(MarkDirty, IntegersStayOutsideTheGraph) {
  const Tensor x = vector_leaf({1, 2, -1});
  const Tensor counter(Array::full({}, 0, kLong));
  const variable_list outputs = CountPositive::apply(x, counter);
  EXPECT_TRUE(outputs[1].is_same(counter));
  EXPECT_FALSE(counter.requires_grad());
  EXPECT_EQ(counter.item<int>(), 2);
  sum(outputs[0]).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (VectorOfDoubles{5, 5, 5}));
}

}  // namespace
}  // namespace halfgrad
