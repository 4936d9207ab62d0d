#include <halfgrad/autograd/function.h>

#include <any>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>

#include "engine_test.h"

// User-defined functions: their derivatives, what they take, and what they return.
namespace halfgrad {
namespace {

using autograd::AutogradContext;
using autograd::gradcheck;
using autograd::gradgradcheck;
using autograd::variable_list;
using VectorOfDoubles = std::vector<double>;
using Function = GraphOnDevice;
HALFGRAD_ON_DEVICES(Function);

struct Cube : autograd::Function<Cube> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double factor) {
    ctx->save_for_backward({x});
    ctx->saved_data["factor"] = factor;
    return x * x * x * factor;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * x * x * (3 * std::any_cast<double>(ctx->saved_data["factor"]))};
  }
};

TEST_P(Function, DifferentiatesTwice) {
  const Tensor x = leaf({}, 2, kDouble);
  const Tensor y = Cube::apply(x, 5.0);
  EXPECT_EQ(y.item<double>(), 40);
  const Tensor first = autograd::grad({y}, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(first.item<double>(), 60);
  EXPECT_EQ(autograd::grad({first}, {x})[0].item<double>(), 60);
  expect_contains(y.grad_fn_name(), "Cube");
}

struct SumAndDifference : autograd::Function<SumAndDifference> {
  static variable_list forward(AutogradContext*, const Tensor& a, const Tensor& b) {
    return {a + b, a - b};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] + grads[1], grads[0] - grads[1]};
  }
};

TEST_P(Function, TakesOutputsWithoutGradients) {
  const Tensor a = leaf({}, 5);
  const Tensor b = leaf({}, 3);
  const auto both = SumAndDifference::apply(a, b);
  (both[1] * 4).backward();
  EXPECT_EQ(a.grad().item<double>(), 4);
  EXPECT_EQ(b.grad().item<double>(), -4);
}

struct WrongCount : autograd::Function<WrongCount> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list) { return {}; }
};

TEST_P(Function, AWrongNumberOfGradientsIsAnError) {
  const Tensor y = WrongCount::apply(leaf({}, 1));
  expect_contains(message_of([&] { y.backward(); }), "WrongCount");
}

struct Unchanged : autograd::Function<Unchanged> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->mark_non_differentiable({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return grads; }
};

TEST(MarkNonDifferentiable, AppliesToAnInputThatIsReturned) {
  const Tensor x = vector_leaf({1, 2});
  const Tensor y = Unchanged::apply(x);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_FALSE(y.requires_grad());
}

/// {undefined, 2 x, undefined, 3 x}: each gradient keeps the index of its output.
struct WithUndefined : autograd::Function<WithUndefined> {
  static variable_list forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({Tensor(), x});
    return {Tensor(), x * 2, Tensor(), x * 3};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    EXPECT_EQ(grads.size(), 4U);
    EXPECT_FALSE(grads[0].defined() || grads[2].defined());
    EXPECT_FALSE(ctx->get_saved_variables()[0].defined());
    return {grads[1] * 2 + grads[3] * 3};
  }
};

TEST(UndefinedOutputs, KeepTheirIndices) {
  const Tensor x = vector_leaf({0.5, -1});
  const auto last = [](const std::vector<Tensor>& in) { return WithUndefined::apply(in[0])[3]; };
  EXPECT_TRUE(gradcheck(last, {x}));
  const auto both = [](const std::vector<Tensor>& in) {
    const variable_list outputs = WithUndefined::apply(in[0]);
    EXPECT_FALSE(outputs[0].defined() || outputs[2].defined());
    return outputs[1] * outputs[3];
  };
  EXPECT_TRUE(gradcheck(both, {x}));
}

/// sum_i factors_i x + bias
struct SumOfProducts : autograd::Function<SumOfProducts> {
  template <class Factors>
  static Tensor forward(AutogradContext* ctx, const Factors& factors, const Tensor& x,
                        std::optional<Tensor> bias) {
    variable_list saved{x};
    Tensor result = bias.value_or(x * 0);
    for (const Tensor& factor : factors) {
      result = result + factor * x;
      saved.push_back(factor);
    }
    ctx->save_for_backward(saved);
    return result;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    variable_list gradients;
    Tensor of_x;
    for (std::size_t i = 1; i < saved.size(); ++i) {
      gradients.push_back(grads[0] * saved[0]);
      const Tensor part = grads[0] * saved[i];
      of_x = of_x.defined() ? of_x + part : part;
    }
    gradients.push_back(of_x);
    gradients.push_back(ctx->needs_input_grad(saved.size()) ? grads[0] : Tensor());
    return gradients;
  }
};

TEST(TensorsInContainers, GetTheirGradients) {
  const Tensor a = vector_leaf({1, 2}), b = vector_leaf({-3, 0.5}), x = vector_leaf({0.7, 4}),
               bias = vector_leaf({2, 1});
  const auto in_vector = [](const std::vector<Tensor>& in) {
    return SumOfProducts::apply(variable_list{in[0], in[1]}, in[2], std::optional(in[3]));
  };
  const auto in_array = [](const std::vector<Tensor>& in) {
    const std::array factors{in[0], in[1]};
    return SumOfProducts::apply(factors, in[2], std::optional<Tensor>());
  };
  const auto in_span = [](const std::vector<Tensor>& in) {
    return SumOfProducts::apply(std::span(in).first(2), in[2], std::optional(in[3]));
  };
  EXPECT_TRUE(gradcheck(in_vector, {a, b, x, bias}));
  EXPECT_TRUE(gradgradcheck(in_vector, {a, b, x, bias}));
  EXPECT_TRUE(gradcheck(in_array, {a, b, x}));
  EXPECT_TRUE(gradcheck(in_span, {a, b, x, bias}));
  // One tensor that requires grad is enough to record.
  const Tensor y = SumOfProducts::apply(variable_list{tensor_of({1, 2}, {2}), b},
                                        tensor_of({2, 3}, {2}), std::optional<Tensor>());
  sum(y).backward();
  EXPECT_EQ(b.grad().to_vector<double>(), (VectorOfDoubles{2, 3}));
}

struct SumOfPresent : autograd::Function<SumOfPresent> {
  static Tensor forward(AutogradContext* ctx, const std::vector<std::optional<Tensor>>& terms,
                        const std::vector<double>& factors) {
    ctx->saved_data["factors"] = factors;
    Tensor result(Array::full({2}, 0, kDouble));
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (terms[i]) result = result + *terms[i] * factors[i];
    }
    return result;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    variable_list gradients;
    for (const double factor : std::any_cast<VectorOfDoubles>(ctx->saved_data["factors"])) {
      gradients.push_back(grads[0] * factor);
    }
    return gradients;
  }
};

TEST(TensorsInContainers, MayBeMissingAndKeepTheirIndices) {
  const Tensor x = vector_leaf({1, 2});
  const std::vector<std::optional<Tensor>> terms{std::nullopt, x, std::nullopt};
  sum(SumOfPresent::apply(terms, VectorOfDoubles{2, 3, 5})).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (VectorOfDoubles{3, 3}));
  const std::string message = message_of([&] {
    sum(SumOfPresent::apply(terms, VectorOfDoubles{2, 3, 5, 7, 9})).backward();
  });
  expect_contains(
      message,
      "SumOfPresent::backward: expected 3 gradients, one per tensor argument, or 4, one "
      "per argument, got 5");
}

/// x w, plus a bias that a caller may leave out.
struct ProductAndBias : autograd::Function<ProductAndBias> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& w,
                        const Tensor& bias = {}) {
    ctx->save_for_backward({x, w});
    return bias.defined() ? x * w + bias : x * w;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    return {grads[0] * saved[1], grads[0] * saved[0], Tensor()};
  }
};

TEST(DefaultArguments, MayHaveUndefinedGradients) {
  const Tensor x = vector_leaf({1, 2}), w = vector_leaf({3, 4});
  sum(ProductAndBias::apply(x, w)).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (VectorOfDoubles{3, 4}));
  EXPECT_EQ(w.grad().to_vector<double>(), (VectorOfDoubles{1, 2}));
}

/// a * factor + the sum of `terms`; as in libtorch, backward returns one gradient per argument.
struct PerArgument : autograd::Function<PerArgument> {
  static Tensor forward(AutogradContext* ctx, double factor, const Tensor& a,
                        const std::vector<Tensor>& terms, const std::vector<int>& /*unused*/,
                        std::optional<Tensor> bias) {
    ctx->saved_data["factor"] = factor;
    Tensor result = a * factor;
    for (const Tensor& term : terms) result = result + term;
    return bias ? result + *bias : result;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const Tensor& grad = grads[0];
    const Tensor of_a = grad * std::any_cast<double>(ctx->saved_data["factor"]);
    return {Tensor(), of_a, grad, grad, Tensor(), grad};
  }
};

TEST(Gradients, MayBeOnePerArgument) {
  const Tensor a = vector_leaf({1, 2}), b = vector_leaf({-3, 0.5}), c = vector_leaf({0.7, 4}),
               bias = vector_leaf({2, 1});
  const auto f = [](const std::vector<Tensor>& in) {
    return PerArgument::apply(3.0, in[0], variable_list{in[1], in[2]}, std::vector<int>{1, 2},
                              std::optional(in[3]));
  };
  EXPECT_TRUE(gradcheck(f, {a, b, c, bias}));
  EXPECT_TRUE(gradgradcheck(f, {a, b, c, bias}));
  const Tensor y =
      PerArgument::apply(3.0, a, variable_list{b, Tensor(Array::full({2}, 1, kDouble))},
                         std::vector<int>{}, std::optional<Tensor>());
  sum(y).backward();
  EXPECT_EQ(a.grad().to_vector<double>(), (VectorOfDoubles{3, 3}));
  EXPECT_EQ(b.grad().to_vector<double>(), (VectorOfDoubles{1, 1}));
}

/// 2 a b; backward returns as many gradients as `count` says.
struct Counted : autograd::Function<Counted> {
  static Tensor forward(AutogradContext* ctx, const Tensor& a, std::int64_t count,
                        const Tensor& b) {
    ctx->saved_data["count"] = count;
    ctx->save_for_backward({a, b});
    return a * b * 2;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    const variable_list gradients{grads[0] * saved[1] * 2, grads[0] * saved[0] * 2, grads[0],
                                  grads[0]};
    return {gradients.begin(),
            gradients.begin() + std::any_cast<std::int64_t>(ctx->saved_data["count"])};
  }
};

TEST(Gradients, MustHaveTheRightCount) {
  const Tensor a = vector_leaf({1, 2}), b = vector_leaf({-3, 0.5});
  const auto message = [&](std::int64_t count) {
    return message_of([&] { sum(Counted::apply(a, count, b)).backward(); });
  };
  for (const std::int64_t count : {0, 1, 4}) {
    expect_contains(message(count),
                    "Counted::backward: expected 2 gradients, one per tensor "
                    "argument, or 3, one per argument, got " +
                        std::to_string(count));
  }
  EXPECT_FALSE(a.grad().defined() || b.grad().defined());
  expect_contains(message(3),
                  "Counted::backward: expected an undefined gradient for argument 1, which "
                  "is not a tensor, got one of shape [2]");
  EXPECT_EQ(message(2), "no error");
  EXPECT_EQ(a.grad().to_vector<double>(), (VectorOfDoubles{-6, 1}));
  EXPECT_EQ(b.grad().to_vector<double>(), (VectorOfDoubles{2, 4}));
}

}  // namespace
}  // namespace halfgrad
