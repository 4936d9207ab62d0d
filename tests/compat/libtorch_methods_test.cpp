#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>

// autograd/tensor/libtorch_methods.h. Values without a formula are those of PyTorch 2.15.
namespace {

namespace torch = halfgrad;
using torch::Tensor;

std::vector<double> elements(const Tensor& x) { return x.to_vector<double>(); }
using Elements = std::vector<double>;

Tensor numbers() { return torch::tensor({-1.5, 0.0, 2.0}); }

TEST(LibtorchMethods, ComparisonsInPlaceKeepTheDtype) {
  EXPECT_EQ(elements(numbers().eq_(0)), (Elements{0, 1, 0}));
  EXPECT_EQ(elements(numbers().ne_(0)), (Elements{1, 0, 1}));
  EXPECT_EQ(elements(numbers().lt_(0)), (Elements{1, 0, 0}));
  EXPECT_EQ(elements(numbers().le_(torch::zeros({3}))), (Elements{1, 1, 0}));
  EXPECT_EQ(elements(numbers().gt_(torch::zeros({1}))), (Elements{0, 0, 1}));
  EXPECT_EQ(elements(numbers().ge_(0)), (Elements{0, 1, 1}));
  EXPECT_EQ(numbers().eq_(0).dtype(), torch::kFloat);
  const Tensor counts = torch::arange(3);
  EXPECT_TRUE(counts.lt_(1.5).is_same(counts));
  EXPECT_EQ(counts.dtype(), torch::kLong);
  EXPECT_EQ(elements(counts), (Elements{1, 1, 0}));
  EXPECT_THROW(torch::ones({3}).eq_(torch::ones({2, 3})), std::invalid_argument);
}

TEST(LibtorchMethods, LogicInPlaceKeepsTheDtype) {
  EXPECT_EQ(elements(numbers().logical_not_()), (Elements{0, 1, 0}));
  const Tensor mask = torch::tensor({1, 1, 0});
  EXPECT_EQ(elements(numbers().logical_and_(mask)), (Elements{1, 0, 0}));
  EXPECT_EQ(elements(numbers().logical_or_(mask)), (Elements{1, 1, 1}));
  EXPECT_EQ(elements(numbers().logical_xor_(mask)), (Elements{0, 1, 1}));
}

TEST(LibtorchMethods, ComparisonsInPlaceHaveGradientZero) {
  const Tensor x = torch::ones({2}, torch::requires_grad());
  Tensor y = x * 2;
  y.gt_(1);
  EXPECT_TRUE(y.requires_grad());
  y.sum().backward();
  EXPECT_EQ(elements(x.grad()), (Elements{0, 0}));
}

TEST(LibtorchMethods, FunctionsInPlaceAreThoseOutOfPlace) {
  const Tensor x = torch::tensor({0.25, -0.5, 0.75});
  EXPECT_TRUE(x.clone().cumsum_(0).equal(x.cumsum(0)));
  EXPECT_TRUE(x.clone().cumprod_(0).equal(x.cumprod(0)));
  EXPECT_TRUE(x.clone().asin_().equal(x.asin()));
  EXPECT_TRUE(x.clone().acos_().equal(x.acos()));
  EXPECT_TRUE(x.clone().atan_().equal(x.atan()));
  EXPECT_TRUE(x.clone().asinh_().equal(x.asinh()));
  EXPECT_TRUE((x + 2).acosh_().equal((x + 2).acosh()));
  EXPECT_TRUE(x.clone().atanh_().equal(x.atanh()));
  EXPECT_TRUE(x.clone().sinh_().equal(x.sinh()));
  EXPECT_TRUE(x.clone().cosh_().equal(x.cosh()));
  EXPECT_TRUE(x.clone().sinc_().equal(x.sinc()));
  EXPECT_TRUE((x * 5).frac_().equal((x * 5).frac()));
  EXPECT_TRUE(x.clone().deg2rad_().equal(x.deg2rad()));
  EXPECT_TRUE(x.clone().rad2deg_().equal(x.rad2deg()));
  const Tensor matrix = torch::tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  EXPECT_TRUE(matrix.clone().swapaxes_(0, 1).equal(matrix.t()));
  EXPECT_TRUE(matrix.clone().swapdims_(0, 1).equal(matrix.t()));
  EXPECT_EQ(elements(torch::ones({2}).addmv_(matrix, torch::ones({3}), 2, 0.5)),
            (Elements{5, 9.5}));
  EXPECT_THROW(torch::arange(3).asin_(), std::invalid_argument) << "integers hold no fractions";
  EXPECT_EQ(elements(torch::arange(4).cumsum_(0)), (Elements{0, 1, 3, 6}));
  const Tensor small = torch::empty({0});
  EXPECT_EQ(small.resize_as_(matrix).sizes(), matrix.sizes());
}

// d/dx of the sum of x, x^2, x^3 where each factor is 2 x: 2 + 8 + 24.
TEST(LibtorchMethods, CumprodInPlaceKeepsWhatBackwardReads) {
  const Tensor x = torch::ones({3}, torch::requires_grad());
  Tensor y = x * 2;
  y.cumprod_(0);
  y.sum().backward();
  EXPECT_EQ(elements(x.grad()), (Elements{14, 12, 8}));
}

TEST(LibtorchMethods, RenormScalesTheSlicesThatAreTooLong) {
  const Tensor x = torch::tensor({{3.0, 4.0}, {0.25, 0.0}}, torch::kDouble);
  const Tensor y = x.renorm(2, 0, 1);
  EXPECT_NEAR(y[0][0].item<double>(), 0.6, 1e-7);
  EXPECT_EQ(elements(y[1]), (Elements{0.25, 0}));
  EXPECT_TRUE(x.clone().renorm_(2, 0, 1).equal(y));
}

TEST(LibtorchMethods, SecondNames) {
  const Tensor x = numbers(), y = torch::tensor({1.0, 2.0, 4.0});
  EXPECT_TRUE(x.absolute().equal(x.abs()) && x.clone().absolute_().equal(x.abs()));
  EXPECT_TRUE(x.negative().equal(-x) && x.clone().negative_().equal(-x));
  EXPECT_TRUE(x.sgn().equal(x.sign()) && x.clone().sgn_().equal(x.sign()));
  EXPECT_TRUE(x.fix().equal(x.trunc()) && x.clone().fix_().equal(x.trunc()));
  EXPECT_TRUE(x.subtract(y, 2).equal(x - 2 * y) && x.clone().subtract_(1).equal(x - 1));
  EXPECT_TRUE(x.multiply(y).equal(x * y) && x.clone().multiply_(3).equal(x * 3));
  EXPECT_TRUE(x.divide(y).equal(x / y) && x.clone().divide_(2).equal(x / 2));
  EXPECT_TRUE(torch::arange(3).true_divide(2).equal(torch::tensor({0.0, 0.5, 1.0})));
  EXPECT_TRUE(x.greater(0).equal(x > 0) && x.greater_equal(0).equal(x >= 0));
  EXPECT_TRUE(x.less(y).equal(x < y) && x.less_equal(y).equal(x <= y));
  EXPECT_TRUE(x.not_equal(0).equal(x != 0));
  EXPECT_EQ(elements(x.index_put({torch::tensor({1})}, torch::tensor(7.0))),
            (Elements{-1.5, 7, 2}));
  EXPECT_EQ(elements(x), (Elements{-1.5, 0, 2}));
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor ends = torch::tensor({infinity, -infinity, 0.0});
  EXPECT_EQ(elements(ends.isposinf()), (Elements{1, 0, 0}));
  EXPECT_EQ(elements(ends.isneginf()), (Elements{0, 1, 0}));
  EXPECT_EQ(x.toString(), "CPUFloatType");
  EXPECT_EQ(torch::arange(2).toString(), "CPULongType");
}

TEST(LibtorchMethods, MaskedFillTakesATensor) {
  const Tensor mask = torch::tensor({true, false, true});
  const Tensor value = torch::tensor(2.5, torch::requires_grad());
  const Tensor x = torch::ones({3}, torch::requires_grad());
  const Tensor y = x.masked_fill(mask, value);
  EXPECT_EQ(elements(y), (Elements{2.5, 1, 2.5}));
  y.sum().backward();
  EXPECT_EQ(elements(x.grad()), (Elements{0, 1, 0}));
  EXPECT_EQ(value.grad().item<double>(), 2) << "one for each element that was filled";

  Tensor z = x * 1;
  z.masked_fill_(mask, value * 2);
  EXPECT_EQ(elements(z), (Elements{5, 1, 5}));
  z.sum().backward();
  EXPECT_EQ(value.grad().item<double>(), 6);
  EXPECT_EQ(elements(torch::arange(3).masked_fill(mask, torch::tensor(7.9))), (Elements{7, 1, 7}));
  EXPECT_EQ(torch::masked_fill(torch::ones({2, 1}), mask, torch::tensor(4)).sizes(),
            (torch::Shape{2, 3}));
}

TEST(LibtorchMethods, MaskedFillRefusesValuesThatDoNotFit) {
  const Tensor mask = torch::tensor({true, false, true}), x = torch::ones({3});
  EXPECT_THROW(x.masked_fill(mask, torch::ones({1})), std::invalid_argument);
  EXPECT_THROW(x.masked_fill(x, torch::tensor(1.0)), std::invalid_argument);
  EXPECT_THROW(x.to(torch::kHalf).masked_fill(mask, torch::tensor(70000.0)), std::invalid_argument);
  EXPECT_THROW(torch::ones({1}).masked_fill_(mask, torch::tensor(1.0)), std::invalid_argument);
}

TEST(LibtorchMethods, FunctionsInPlaceChangeTheirArgument) {
  const Tensor x = torch::tensor({-2.0, 0.5, 4.0});
  const auto after = [&](const auto& change) {
    const Tensor copy = x.clone();
    EXPECT_TRUE(change(copy).equal(copy));
    return copy;
  };
  EXPECT_TRUE(after([](const Tensor& y) { return torch::elu_(y); }).equal(torch::elu(x)));
  EXPECT_TRUE(after([](const Tensor& y) { return torch::selu_(y); }).equal(torch::selu(x)));
  EXPECT_TRUE(after([](const Tensor& y) { return torch::celu_(y, 2); }).equal(torch::celu(x, 2)));
  EXPECT_TRUE(after([](const Tensor& y) { return torch::silu_(y); }).equal(torch::silu(x)));
  EXPECT_EQ(elements(after([](const Tensor& y) { return torch::leaky_relu_(y, 0.5); })),
            (Elements{-1, 0.5, 4}));
  EXPECT_EQ(elements(after([](const Tensor& y) { return torch::hardtanh_(y); })),
            (Elements{-1, 0.5, 1}));
  EXPECT_EQ(elements(after([](const Tensor& y) { return torch::threshold_(y, 1, 9); })),
            (Elements{9, 9, 4}));
  EXPECT_EQ(elements(after([](const Tensor& y) { return torch::dropout_(y, 1, true); })),
            (Elements{0, 0, 0}));
  EXPECT_EQ(elements(after([](const Tensor& y) { return torch::abs_(y); })), (Elements{2, 0.5, 4}));
  EXPECT_EQ(elements(after([](const Tensor& y) { return torch::neg_(y); })),
            (Elements{2, -0.5, -4}));
  EXPECT_EQ(elements(after([](const Tensor& y) { return torch::square_(y); })),
            (Elements{4, 0.25, 16}));
  EXPECT_EQ(elements(after([](const Tensor& y) { return torch::round_(y); })),
            (Elements{-2, 0, 4}));
  EXPECT_EQ(elements(after([](const Tensor& y) { return torch::floor_(y); })),
            (Elements{-2, 0, 4}));
  EXPECT_EQ(elements(after([](const Tensor& y) { return torch::ceil_(y); })), (Elements{-2, 1, 4}));
  EXPECT_EQ(torch::sqrt_(torch::full({1}, 4.0)).item<double>(), 2);
  EXPECT_EQ(torch::log_(torch::ones({1})).item<double>(), 0);

  const Tensor leaf = torch::tensor({-1.0, 3.0}, torch::requires_grad());
  const Tensor y = leaf * 2;
  torch::leaky_relu_(y, 0.25).sum().backward();
  EXPECT_EQ(elements(leaf.grad()), (Elements{0.5, 2}));
}

TEST(LibtorchMethods, InstanceNormIsAFunction) {
  namespace F = torch::nn::functional;
  const Tensor x = torch::randn({2, 3, 4});
  EXPECT_TRUE(F::instance_norm(x).equal(torch::nn::InstanceNorm1d(3)(x)));
  const Tensor scaled = F::instance_norm(
      x, F::InstanceNormFuncOptions().weight(torch::full({3}, 2.0)).bias(torch::ones({3})));
  EXPECT_TRUE(scaled.allclose(F::instance_norm(x) * 2 + 1));
  EXPECT_THROW(F::instance_norm(torch::ones({2, 3})), std::invalid_argument);
  EXPECT_THROW(F::instance_norm(x, F::InstanceNormFuncOptions().use_input_stats(false)),
               std::invalid_argument);
  EXPECT_THROW(F::instance_norm(x, F::InstanceNormFuncOptions().running_mean(torch::zeros({3}))),
               std::invalid_argument);
}

}  // namespace
