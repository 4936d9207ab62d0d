#include <any>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/halfgrad.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

TEST(Resize, KeepsTheFirstElements) {
  Tensor x = arange(6);
  const Tensor same = x;
  x.resize_({2, 2});
  EXPECT_TRUE(x.equal(tensor({{0, 1}, {2, 3}})));
  EXPECT_EQ(same.sizes(), (Shape{2, 2})) << "handles share the shape";
  x.resize_({2, 3});
  EXPECT_TRUE(x.equal(tensor({{0, 1, 2}, {3, 4, 5}}))) << "the memory was kept";
  x.resize_({3, 4});
  EXPECT_EQ(x.sizes(), (Shape{3, 4}));
  EXPECT_TRUE(x.flatten().slice(0, 0, 6).equal(arange(6)));
  Tensor transposed = arange(4).reshape({2, 2}).clone();
  transposed.t_().resize_({3, 3});
  EXPECT_TRUE(transposed.flatten().slice(0, 0, 4).equal(arange(4))) << "in the order of memory";
  EXPECT_EQ(empty(0).resize_({2}).numel(), 2);
  EXPECT_THROW(ones({2}, {.requires_grad = true}).resize_({1}), std::invalid_argument);
  const Tensor base = arange(4);
  EXPECT_EQ(message_of([&] { base.slice(0, 2).resize_({5}); }),
            "resize_: expected a tensor that owns its elements, got a view of [2] to grow to [5]");
  EXPECT_TRUE(base.slice(0, 2).resize_({1}).equal(tensor({2})));
}

TEST(Data, IsTheTensorWithoutItsHistory) {
  const Tensor x = ones({3}, {.requires_grad = true});
  EXPECT_FALSE(x.data().requires_grad() || x.tensor_data().requires_grad());
  EXPECT_TRUE(x.data().is_alias_of(x) && x.variable_data().is_alias_of(x));
  EXPECT_FALSE(x.is_alias_of(ones({3})));
  EXPECT_EQ(x.data<float>(), x.data_ptr<float>());
  const Tensor y = x * x;
  x.data().fill_(2);
  EXPECT_EQ(x.sum().item<float>(), 6);
  EXPECT_THROW(y.sum().backward(), std::runtime_error);
  x.set_data(zeros({2, 2}));
  EXPECT_EQ(x.sizes(), (Shape{2, 2}));
  EXPECT_THROW(x.set_data(zeros({2}, kLong)), std::invalid_argument);
}

TEST(Views, AreKnown) {
  const Tensor x = ones({4}, {.requires_grad = true});
  EXPECT_TRUE(x.slice(0, 1).is_view() && !x.is_view() && !(x * 2).is_view());
  const Tensor y = x * 2;
  EXPECT_FALSE(y.retains_grad());
  y.retain_grad();
  EXPECT_TRUE(y.retains_grad());
  EXPECT_FALSE(x.retains_grad());
  EXPECT_EQ(y.output_nr(), 0);
  EXPECT_EQ(x.unbind()[2].dim(), 0);
}

TEST(Results, AreStoredByRows) {
  const Tensor x = ones({2, 3}).t();
  EXPECT_FALSE(x.is_contiguous());
  for (const Tensor& result : {x.clone(), x + 1, x.to(kHalf), zeros_like(x)}) {
    EXPECT_TRUE(result.is_contiguous());
  }
}

TEST(Views, AreNotWhatIndexTensorsPick) {
  const Tensor x = tensor({1.0, -2.0, 3.0});
  EXPECT_FALSE(x.index({x > 0}).is_view());
  EXPECT_FALSE(x.index({tensor({0, 2})}).is_view());
  EXPECT_EQ(x.index({x > 0}).resize_({3}).numel(), 3);
}

TEST(Backward, ReachesGivenInputsOnly) {
  const Tensor x = tensor(2.0).requires_grad_(), y = tensor(3.0).requires_grad_();
  const Tensor z = x * x + y * y;
  z.backward({}, /*retain_graph=*/true, /*create_graph=*/false, {x});
  EXPECT_EQ(x.grad().item<float>(), 4);
  EXPECT_FALSE(y.grad().defined());
  z.backward({}, std::nullopt, false, {x, y});
  EXPECT_EQ(x.grad().item<float>(), 8) << "gradients are added up";
  EXPECT_EQ(y.grad().item<float>(), 6);
  EXPECT_THROW((x * 1).backward({}, false, false, {tensor(1.0)}), std::runtime_error);
  const std::vector<Tensor> none;
  EXPECT_THROW(z.backward({}, false, false, none), std::invalid_argument) << "not every leaf";
  EXPECT_THROW(autograd::backward({z}, {}, false, false, none), std::invalid_argument);
}

TEST(Backward, TakesItsOptionsAsArguments) {
  const Tensor x = tensor(2.0).requires_grad_();
  const Tensor y = x * x * x;
  const auto first = autograd::grad({y}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true);
  EXPECT_EQ(first[0].item<float>(), 12);
  EXPECT_EQ(autograd::grad({first[0]}, {x}, {}, std::nullopt)[0].item<float>(), 12);
  EXPECT_FALSE(
      autograd::grad({x * 2}, {x, y}, {}, std::nullopt, false, /*allow_unused=*/true)[1].defined());
  autograd::backward({x * 2}, {tensor(3.0)}, std::nullopt, false, {x});
  EXPECT_EQ(x.grad().item<float>(), 6);
}

TEST(Hooks, MayReturnNothing) {
  const Tensor x = tensor(2.0).requires_grad_();
  float seen = 0;
  const auto hook = x.register_hook([&](Tensor gradient) { seen += gradient.item<float>(); });
  (x * 3).backward();
  x.remove_hook(hook);
  (x * 3).backward();
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(x.grad().item<float>(), 6);
}

struct Scaled : autograd::Function<Scaled> {
  static Tensor forward(autograd::AutogradContext* ctx, Tensor x, int factor) {
    ctx->saved_data["factor"] = factor;
    ctx->saved_data["half"] = 0.5;
    ctx->saved_data["x"] = x;
    return x * factor;
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx,
                                          autograd::variable_list gradients) {
    EXPECT_EQ(ctx->saved_data["half"].toDouble(), 0.5);
    EXPECT_EQ(ctx->saved_data["factor"].toDouble(), 3);
    EXPECT_EQ(ctx->saved_data["x"].toTensor().numel(), 1);
    EXPECT_THROW(ctx->saved_data["x"].toInt(), std::bad_any_cast);
    return {gradients[0] * ctx->saved_data["factor"].toInt(), Tensor()};
  }
};

TEST(SavedData, IsReadByLibtorchsFunctions) {
  const Tensor x = tensor(2.0).requires_grad_();
  Scaled::apply(x, 3).backward();
  EXPECT_EQ(x.grad().item<float>(), 3);
}

TEST(Indices, IncludeTextAndTruthValues) {
  const Tensor x = arange(6).view({2, 3});
  EXPECT_TRUE(x.index({"...", 1}).equal(tensor({1, 4})));
  EXPECT_EQ(x.index({true}).sizes(), (Shape{1, 2, 3}));
  EXPECT_EQ(x.index({false}).sizes(), (Shape{0, 2, 3}));
  EXPECT_EQ(message_of([&] { x.index({".."}); }), "TensorIndex: expected \"...\", got \"..\"");
}

TEST(Statistics, ComeInPairs) {
  const Tensor x = tensor({{1.0, 2.0, 6.0}, {0.0, 4.0, 5.0}});
  const auto [variance, mean] = var_mean(x, 1);
  EXPECT_TRUE(variance.equal(x.var(1)) && mean.equal(x.mean(1)));
  const auto [deviation, center] = std_mean(x, {0}, 0, true);
  EXPECT_TRUE(deviation.equal(x.std({0}, 0, true)) && center.equal(x.mean({0}, true)));
  EXPECT_TRUE(std::get<0>(var_mean(x, false)).equal(x.var(false)));
  EXPECT_TRUE(std::get<0>(std_mean(x)).equal(x.std()));
}

TEST(Split, TakesSizes) {
  const auto parts = arange(5).split_with_sizes({2, 3});
  EXPECT_TRUE(parts[1].equal(tensor({2, 3, 4})));
}

TEST(Cross, IsTheVectorProduct) {
  const Tensor x = tensor({1.0, 0.0, 0.0}), y = tensor({0.0, 1.0, 0.0});
  EXPECT_TRUE(cross(x, y).equal(tensor({0.0, 0.0, 1.0})));
  const Tensor a = randn({4, 3}), b = randn({3});
  EXPECT_TRUE(allclose((cross(a, b) * a).sum(1), zeros({4}), 0, 1e-5)) << "orthogonal";
  EXPECT_THROW(cross(ones({2}), ones({2})), std::invalid_argument);
  EXPECT_THROW(cross(a, b, 0), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
