#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/tests/amp/training/trained.h>

/// Losses of several scales in one backward pass: an error only if a parameter gets gradients of
/// two.
namespace halfgrad::amp {
namespace {

/// Losses w^2 and v^2, an optimizer for each parameter, two scalers.
struct TwoScalers {
  Tensor w = vector_of({1}).requires_grad_();
  Tensor v = vector_of({-3}).requires_grad_();
  optim::SGD of_w{{w}, {.lr = 0.25}};
  optim::SGD of_v{{v}, {.lr = 0.25}};
  GradScaler scaler = started({.init_scale = 8});
  GradScaler second = started({.init_scale = 4});

  static Tensor loss(const Tensor& p) { return sum(p * p); }
  Tensor scaled(const Tensor& p) { return scaler.scale(loss(p)); }
};

/// A call, and the fix that its error names.
using Act = std::pair<const char*, std::function<void(TwoScalers&)>>;

const Act kMixingPasses[] = {
    {"a scaled and a plain loss", [](TwoScalers& b) { (b.scaled(b.w) + sum(b.w)).backward(); }},
    {"a plain and a scaled loss", [](TwoScalers& b) { (sum(b.w) + b.scaled(b.w)).backward(); }},
    {"two roots",
     [](TwoScalers& b) {
       autograd::backward({b.scaled(b.w), sum(b.w)});
     }},
    {"two scalers", [](TwoScalers& b) { (b.scaled(b.w) + b.second.scale(sum(b.w))).backward(); }},
    {"two scalers on the way to the parameter",
     [](TwoScalers& b) {
       const Tensor shared = b.w * b.v;
       (b.scaled(shared) + b.second.scale(sum(shared))).backward();
     }},
    {"a plain root whose gradient is scaled",
     [](TwoScalers& b) {
       b.scaled(b.v).backward();
       autograd::backward({b.w * 1, sum(b.w)}, {b.v.grad(), Tensor()});
     }},
};

TEST(MixedScales, AreAnErrorWhenTheGradientIsUsed) {
  const Act uses[] = {
      {"call scaler.unscale_(optimizer) first",
       [](TwoScalers& b) { nn::utils::clip_grad_norm_(b.w, 1); }},
      {"call scaler.step(optimizer)", [](TwoScalers& b) { b.of_w.step(); }},
      {"scale() every loss", [](TwoScalers& b) { b.scaler.unscale_(b.of_w); }},
      {"scale() every loss", [](TwoScalers& b) { b.scaler.step(b.of_w); }},
      {"scale() every loss", [](TwoScalers& b) { b.second.step(b.of_w); }},
  };
  for (const auto& [what, backward] : kMixingPasses) {
    SCOPED_TRACE(what);
    TwoScalers bench;
    backward(bench);
    for (const Act& use : uses) {
      const std::string text = message_of<std::runtime_error>([&] { use.second(bench); });
      EXPECT_NE(text.find(use.first), std::string::npos) << text;
    }
    EXPECT_EQ(bench.w.item(), 1);
  }
}

TEST(MixedScales, DoNotOutliveTheGradient) {
  for (const auto& [what, backward] : kMixingPasses) {
    SCOPED_TRACE(what);
    TwoScalers bench;
    backward(bench);
    bench.of_w.zero_grad();
    bench.scaled(bench.w).backward();
    bench.scaler.step(bench.of_w);
    EXPECT_EQ(bench.w.item(), 0.5);
  }
}

TEST(MixedScales, DoNotOccurIfEachParameterHasOneLoss) {
  TwoScalers bench;
  (bench.scaled(bench.w) + TwoScalers::loss(bench.v)).backward();
  EXPECT_NO_THROW(bench.of_v.step());
  EXPECT_THROW(bench.of_w.step(), std::runtime_error);
  bench.scaler.step(bench.of_w);
  EXPECT_EQ(bench.w.item(), 0.5);
  EXPECT_EQ(bench.v.item(), -1.5);
}

TEST(MixedScales, DoNotOccurIfEachScalerHasItsParameters) {
  TwoScalers bench;
  (bench.scaled(bench.w) + bench.second.scale(TwoScalers::loss(bench.v))).backward();
  EXPECT_THROW(bench.second.step(bench.of_w), std::runtime_error);
  EXPECT_THROW(bench.scaler.step(bench.of_v), std::runtime_error);
  bench.scaler.step(bench.of_w);
  bench.second.step(bench.of_v);
  EXPECT_EQ(bench.w.item(), 0.5);
  EXPECT_EQ(bench.v.item(), -1.5);
}

// w^2 is the loss in each: the step must be w -= 0.25 * 2 w.
const Act kAllowed[] = {
    {"arithmetic after scale()",
     [](TwoScalers& b) {
       (b.scaler.scale(b.w * b.w) * vector_of({0.5}) + b.scaled(b.w) / 2).backward();
     }},
    {"a path without a gradient",
     [](TwoScalers& b) { (b.scaled(b.w) + sum(b.w.detach()) + sum(b.v)).backward(); }},
    {"a gradient of the same scale handed on",
     [](TwoScalers& b) {
       const Tensor part = b.w.detach().requires_grad_();
       (b.scaled(part) / 2).backward();
       autograd::backward({b.w * 1, b.scaled(b.w) / 2}, {part.grad(), Tensor()});
     }},
    {"a gradient handed on after unscale_",
     [](TwoScalers& b) {
       b.scaled(b.v).backward();
       b.scaler.unscale_(b.of_v);
       (b.w * -1).backward(b.v.grad() / 3 * b.scaler.get_scale());
     }},
    {"a hook that replaces the gradient",
     [](TwoScalers& b) {
       const Tensor square = b.w * b.w;
       square.register_hook([](const Tensor& grad) { return grad * 1; });
       b.scaler.scale(sum(square)).backward();
     }},
    {"a penalty of gradients that were unscaled by hand",
     [](TwoScalers& b) {
       const Tensor scaled = autograd::grad({b.scaled(b.w)}, {b.w}, {}, {.create_graph = true})[0];
       const Tensor gradient = scaled / b.scaler.get_scale();
       b.scaler.scale(sum(gradient * gradient) / 4).backward();
     }},
    {"one scaler's loss, unscaled by hand, under another",
     [](TwoScalers& b) { b.scaler.scale(b.second.scale(sum(b.w * b.w)) / 4).backward(); }},
};

TEST(MixedScales, AllowedPassesAreStepped) {
  for (const auto& [what, backward] : kAllowed) {
    SCOPED_TRACE(what);
    TwoScalers bench;
    backward(bench);
    EXPECT_EQ(message_of([&] { bench.scaler.step(bench.of_w); }), "no error");
    EXPECT_EQ(bench.w.item(), 0.5);
  }
}

struct Separately : autograd::Function<Separately> {
  static autograd::variable_list forward(autograd::AutogradContext*, const Tensor& a,
                                         const Tensor& b) {
    return {a * 1, b * 1};
  }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          autograd::variable_list grads) {
    return grads;
  }
};

TEST(MixedScales, DoNotOccurIfAFunctionKeepsItsGradientsSeparate) {
  TwoScalers bench;
  const auto parts = Separately::apply(bench.w, bench.v);
  (bench.scaled(parts[0]) + bench.second.scale(TwoScalers::loss(parts[1]))).backward();
  bench.scaler.step(bench.of_w);
  bench.second.step(bench.of_v);
  EXPECT_EQ(bench.w.item(), 0.5);
  EXPECT_EQ(bench.v.item(), -1.5);
}

}  // namespace
}  // namespace halfgrad::amp
