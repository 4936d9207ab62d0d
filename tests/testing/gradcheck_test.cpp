#include <halfgrad/testing/gradcheck.h>

#include <limits>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::autograd {
namespace {

using Tensors = std::vector<Tensor>;

Tensor drawn(const Shape& sizes, std::uint64_t stream) {
  return random_tensor(sizes, -2, 2, {7, stream}).requires_grad_();
}

Tensors product(const Tensors& in) { return {in[0] * in[1]}; }
/// The gradient of the first operand is half of the right one.
Tensors half_missed(const Tensors& in) { return {in[0] * in[0].detach() * in[1]}; }
TEST(Gradcheck, FastModeAgreesWithTheFullOne) {
  const Tensors inputs{drawn({5, 7}, 0), drawn({5, 7}, 1)};
  for (const bool fast : {false, true}) {
    const GradcheckOptions options{.fast_mode = fast, .raise_exception = false};
    EXPECT_TRUE(gradcheck(product, inputs, options));
    EXPECT_TRUE(gradgradcheck(product, inputs, options));
    EXPECT_FALSE(gradcheck(half_missed, inputs, options));
    EXPECT_FALSE(gradgradcheck(half_missed, inputs, options));
  }
}

TEST(Gradcheck, FastModeEvaluatesTwicePerInput) {
  int calls = 0;
  const GradcheckFunction counted = [&](const Tensors& in) {
    ++calls;
    return product(in);
  };
  EXPECT_TRUE(gradcheck(counted, {drawn({20, 20}, 0), drawn({20, 20}, 1)}, {.fast_mode = true}));
  EXPECT_EQ(calls, 1 + 2 * 2);
}

/// log with a slope of -42.
struct WrongLog : Function<WrongLog> {
  static Tensor forward(AutogradContext*, Tensor x) { return log(x); }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 0 - 42}; }
};

// The finite difference reaches log(0): an infinite slope must not allow an infinite error.
TEST(Gradcheck, AnInfiniteDifferenceAllowsNoInfiniteError) {
  const double eps = GradcheckOptions{}.eps;
  const Tensors at_eps{full({1}, eps, {.dtype = kFloat64}).requires_grad_()};
  const GradcheckFunction wrong = [](const Tensors& in) { return Tensors{WrongLog::apply(in[0])}; };
  for (const bool fast : {false, true}) {
    EXPECT_FALSE(gradcheck(wrong, at_eps, {.fast_mode = fast, .raise_exception = false}));
  }
}

TEST(ReducedGradcheck, SixteenBitGradientsAreWithinTheirBudget) {
  const Tensors inputs{drawn({4, 40}, 0), drawn({40, 3}, 1)};
  const GradcheckFunction network = [](const Tensors& in) {
    return Tensors{softmax(mm(in[0], in[1]), 1)};
  };
  for (const DType dtype : {kFloat16, kBFloat16, kFloat32}) {
    EXPECT_TRUE(reduced_gradcheck(network, inputs, {.dtype = dtype, .roundoffs = 16}));
  }
}

TEST(ReducedGradcheck, FindsGradientsThatOverflowInFloat16) {
  const Tensors inputs{drawn({4, 4}, 0), drawn({4, 4}, 1)};
  // The gradient is multiplied by 2^30 first, which float16 does not hold.
  const GradcheckFunction vanishing = [](const Tensors& in) {
    return Tensors{(product(in)[0] * 0x1p-15) * 0x1p-15 * 0x1p30};
  };
  const ReducedGradcheckOptions half{.dtype = kFloat16, .raise_exception = false};
  const ReducedGradcheckOptions bfloat{.dtype = kBFloat16, .raise_exception = false};
  EXPECT_TRUE(reduced_gradcheck(product, inputs, half));
  EXPECT_FALSE(reduced_gradcheck(vanishing, inputs, half));
  EXPECT_TRUE(reduced_gradcheck(vanishing, inputs, bfloat));
  EXPECT_THROW(reduced_gradcheck(product, {inputs[0].detach(), inputs[1].detach()}),
               std::invalid_argument);
}

/// The identity, with a gradient that is infinite in its first element. If kOnlyInDouble, the
/// gradient in other dtypes is wrong everywhere instead.
template <bool kOnlyInDouble>
struct InfiniteFirst : Function<InfiniteFirst<kOnlyInDouble>> {
  static Tensor forward(AutogradContext*, Tensor x) { return x.clone(); }
  static variable_list backward(AutogradContext*, variable_list g) {
    if (kOnlyInDouble && g[0].dtype() != kFloat64) return {g[0] * 0 + 123};
    Tensor gradient = g[0].clone();
    gradient[0].fill_(std::numeric_limits<double>::infinity());
    return {gradient};
  }
};

TEST(ReducedGradcheck, AnInfiniteGradientAllowsNoInfiniteError) {
  const GradcheckFunction alike = [](const Tensors& in) {
    return Tensors{InfiniteFirst<false>::apply(in[0])};
  };
  const GradcheckFunction wrong = [](const Tensors& in) {
    return Tensors{InfiniteFirst<true>::apply(in[0])};
  };
  const ReducedGradcheckOptions options{.raise_exception = false};
  EXPECT_TRUE(reduced_gradcheck(alike, {drawn({4}, 0)}, options));
  EXPECT_FALSE(reduced_gradcheck(wrong, {drawn({4}, 0)}, options));
}

// An unused input has a gradient of zeros in every dtype.
TEST(ReducedGradcheck, ComparesGradientsThatOnlyOneDTypeHas) {
  const Tensors inputs{drawn({4}, 0), drawn({4}, 1)};
  const ReducedGradcheckOptions options{.raise_exception = false};
  const auto second_used_where = [](bool in_double, double factor) -> GradcheckFunction {
    return [=](const Tensors& in) {
      const bool used = (in[0].dtype() == kFloat64) == in_double;
      return Tensors{used ? in[0] + in[1] * factor : in[0] * 1};
    };
  };
  for (const bool in_double : {false, true}) {
    EXPECT_FALSE(reduced_gradcheck(second_used_where(in_double, 5), inputs, options));
    EXPECT_TRUE(reduced_gradcheck(second_used_where(in_double, 0), inputs, options));
  }
}

}  // namespace
}  // namespace halfgrad::autograd
