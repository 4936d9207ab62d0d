#include <halfgrad/compat/torch.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/message_of.h>

/// libtorch's second names, its norms, and the names in messages.
namespace {

namespace torch = halfgrad;
using Doubles = std::vector<double>;

const torch::Tensor& matrix() {
  static const torch::Tensor x = torch::tensor({{3.0, -4.0}, {0.0, 12.0}}, torch::kDouble);
  return x;
}

TEST(SecondNames, AreTheSameFunctions) {
  const torch::Tensor x = matrix();
  EXPECT_TRUE(torch::absolute(x).equal(x.abs()));
  EXPECT_TRUE(torch::subtract(x, x, 2).equal(-x));
  EXPECT_TRUE(torch::rsub(x, 1).equal(1 - x));
  EXPECT_TRUE(torch::multiply(x, 2).equal(x + x));
  EXPECT_TRUE(torch::true_divide(x, 2).equal(x * 0.5));
  EXPECT_TRUE(torch::clip(x, 0, 5).equal(x.clamp(0, 5)));
  EXPECT_TRUE(torch::clip(x, {}, 5).equal(x.clamp_max(5)));
  EXPECT_TRUE(torch::greater(x, 0).equal(x > 0));
  EXPECT_TRUE(torch::less_equal(x, x).all().item<bool>());
  EXPECT_TRUE(torch::concat({x, x}, 1).equal(torch::cat({x, x}, 1)));
  EXPECT_TRUE(torch::msort(x).equal(std::get<0>(x.sort(0))));
  EXPECT_TRUE(torch::special::expit(x).equal(x.sigmoid()));
  EXPECT_EQ(torch::index_put(x, {0}, torch::zeros({2}, torch::kDouble))[0].to_vector<double>(),
            (Doubles{0, 0}));
  EXPECT_EQ(x[0][0].item<double>(), 3);
  const torch::Tensor y = torch::tensor({-1.0, 2.0});
  EXPECT_TRUE(torch::relu_(y).is_same(y));
  EXPECT_EQ(y.to_vector<double>(), (Doubles{0, 2}));
}

TEST(SecondNames, OfOneLine) {
  const torch::Tensor x = matrix().detach().requires_grad_();
  EXPECT_TRUE(torch::t(x).equal(x.transpose(0, 1)));
  EXPECT_FALSE(torch::detach(x).requires_grad());
  const double inf = INFINITY;
  const torch::Tensor y = torch::tensor({inf, -inf, 1.0, double{NAN}});
  EXPECT_EQ(torch::isposinf(y).to_vector<bool>(), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(torch::isneginf(y).to_vector<bool>(), (std::vector<bool>{false, true, false, false}));
  EXPECT_FALSE(torch::isposinf(torch::tensor({1, 2})).any().item<bool>());
}

TEST(SecondNames, Norms) {
  const torch::Tensor x = matrix();
  EXPECT_EQ(torch::linalg_norm(x).item<double>(), 13);
  EXPECT_EQ(torch::linalg::vector_norm(x, 1, {1}, false, std::nullopt).to_vector<double>(),
            (Doubles{7, 12}));
  EXPECT_EQ(torch::linalg::norm(x, 2, {0}, true).sizes(), (torch::Shape{1, 2}));
  EXPECT_EQ(torch::linalg_vector_norm(x.to(torch::kHalf), 2, {}, false, torch::kFloat).dtype(),
            torch::kFloat);
  EXPECT_EQ(torch::frobenius_norm(x, {0, 1}).item<double>(), 13);
  EXPECT_EQ(torch::norm(torch::ones({4}), 2, torch::kDouble).dtype(), torch::kDouble);
  EXPECT_THROW(torch::linalg_norm(torch::ones({2, 2, 2}), 1), std::invalid_argument);
  EXPECT_EQ(torch::renorm(x, 2, 0, 6).to_vector<double>()[0], 3);
  EXPECT_NEAR(torch::renorm(x, 2, 0, 6)[1].norm().item<double>(), 6, 1e-6);
  EXPECT_LE(torch::renorm(x, 2, 0, 6)[1].norm().item<double>(), 6);
}

TEST(SecondNames, MatrixNorms) {
  const double inf = INFINITY;
  const torch::Tensor x = torch::tensor({{1.0, -2.0, 3.0}, {-4.0, 5.0, 0.0}}, torch::kDouble);
  EXPECT_EQ(torch::linalg_matrix_norm(x, 1).item<double>(), 7);
  EXPECT_EQ(torch::linalg_matrix_norm(x, -1).item<double>(), 3);
  EXPECT_EQ(torch::linalg_matrix_norm(x, inf).item<double>(), 9);
  EXPECT_EQ(torch::linalg_norm(x, -inf).item<double>(), 6);
  EXPECT_EQ(torch::linalg_norm(x, 1, torch::Dims{1, 0}).item<double>(), 9) << "of the transpose";
  EXPECT_EQ(torch::linalg::norm(x, "fro").item<double>(), std::sqrt(55.0));
  EXPECT_EQ(torch::linalg::matrix_norm(x).item<double>(), std::sqrt(55.0));
  const torch::Tensor three = torch::stack({x, 2 * x}, 2);
  EXPECT_EQ(torch::linalg::matrix_norm(three, 1, {0, 1}).to_vector<double>(), (Doubles{7, 14}));
  EXPECT_EQ(torch::linalg::matrix_norm(three, inf, {0, 1}, true).sizes(), (torch::Shape{1, 1, 2}));
  EXPECT_EQ(torch::linalg_norm(x[0], 0).item<double>(), 3) << "the number 0 is no text";
  EXPECT_THROW(torch::linalg_matrix_norm(x, 2), std::invalid_argument);
  EXPECT_THROW(torch::linalg_matrix_norm(x, "nuc"), std::invalid_argument);
  EXPECT_THROW(torch::linalg_matrix_norm(x, 1, {0, -2}), std::invalid_argument);
  EXPECT_THROW(torch::linalg_matrix_norm(x[0], 1), std::invalid_argument);
}

TEST(SecondNames, Products) {
  const torch::Tensor x = matrix(), v = torch::tensor({1.0, 2.0}, torch::kDouble);
  EXPECT_EQ(torch::vdot(v, v).item<double>(), 5);
  EXPECT_EQ(torch::message_of([&] { torch::vdot(x, v); }).substr(0, 6), "vdot: ");
  EXPECT_TRUE(torch::linalg::multi_dot({v, x, x, v}).equal(v.matmul(x).matmul(x).matmul(v)));
  const torch::Tensor a = torch::stack({x, 2 * x, x}).narrow(2, 0, 1);  // [3, 2, 1]
  const torch::Tensor b = torch::stack({v, v, 3 * v}).unsqueeze(1);     // [3, 1, 2]
  const torch::Tensor sum = a.bmm(b).sum(0);
  EXPECT_TRUE(torch::addbmm(v, a, b, 2, 0.5).equal(2 * v + 0.5 * sum));
  EXPECT_EQ(torch::message_of([&] { v.addbmm(a, a); }),
            "addbmm: expected batches [b, n, m] and [b, m, p], got [3, 2, 1] and [3, 2, 1]");
}

TEST(SecondNames, PointersAndDtypes) {
  const torch::Tensor x = matrix().clone();
  x.mutable_data_ptr<double>()[0] = 7;
  EXPECT_EQ(x.const_data_ptr<double>()[0], 7);
  EXPECT_THROW(static_cast<void>(x.const_data_ptr<float>()), std::invalid_argument);
  EXPECT_STREQ(torch::toString(torch::kHalf), "Half");
  EXPECT_TRUE(torch::isFloatingType(torch::kBFloat16));
  EXPECT_FALSE(torch::isIntegralType(torch::kBool, false));
  EXPECT_EQ(torch::elementSize(torch::kLong), 8);
  EXPECT_EQ(torch::result_type(torch::ones({1}, torch::kHalf), 2.5), torch::kHalf);
  EXPECT_EQ(torch::result_type(torch::ones({1}, torch::kLong), 2.5), torch::kFloat);
}

TEST(SecondNames, ReductionsAndSavedText) {
  const torch::Tensor x = matrix(), y = torch::zeros_like(x);
  EXPECT_EQ(torch::mse_loss(x, y, torch::Reduction::Sum).item<double>(), 169);
  EXPECT_EQ(torch::mse_loss(x, y, torch::Reduction::None).sizes(), x.sizes());
  torch::autograd::AutogradContext context;
  context.saved_data["mode"] = std::string("tanh");
  EXPECT_EQ(context.saved_data["mode"].toStringRef(), "tanh");
}

TEST(SecondNames, MasksInPlace) {
  const torch::Tensor mask = torch::tensor({true, true, false});
  const torch::Tensor other = torch::tensor({true, false, false});
  torch::Tensor m = mask.clone();
  m &= other;
  EXPECT_TRUE(m.equal(other));
  m |= mask;
  EXPECT_TRUE(m.equal(mask));
  m ^= mask;
  EXPECT_FALSE(m.any().item<bool>());
}

TEST(SecondNames, DrawsOfContinuousDistributions) {
  torch::manual_seed(3);
  const torch::Tensor x = torch::empty({20000}, torch::kHalf).exponential_(4);
  EXPECT_TRUE(((x >= 0) & x.isfinite()).all().item<bool>());
  // The mean is 1/4 with a standard deviation of 1/4: 6 of that of the mean of 20000.
  EXPECT_NEAR(x.mean(torch::kDouble).item<double>(), 0.25, 6 * 0.25 / std::sqrt(20000));
  const torch::Tensor y = torch::empty({20000}).log_normal_(1, 0.5);
  EXPECT_NEAR(y.log().mean().item<double>(), 1, 6 * 0.5 / std::sqrt(20000));
  EXPECT_NEAR(y.log().std().item<double>(), 0.5, 6 * 0.5 / std::sqrt(2 * 20000));
  EXPECT_EQ(torch::message_of([] { torch::ones({2}).exponential_(0); }),
            "exponential_: expected lambd > 0, got 0");
  EXPECT_THROW(torch::ones({2}, torch::kLong).log_normal_(), std::invalid_argument);
  const torch::Tensor n = torch::randint_like(torch::ones({100}, torch::kInt), 2, 4);
  EXPECT_EQ(n.dtype(), torch::kInt);
  EXPECT_TRUE(((n >= 2) & (n < 4)).all().item<bool>());
}

TEST(SecondNames, MessagesNameTheFunctionThatWasCalled) {
  const torch::Tensor x = torch::ones({2, 3}), y = torch::ones({4});
  const auto name = [](const auto& call) {
    const std::string text = torch::message_of(call);
    return text.substr(0, text.find(':'));
  };
  const torch::Tensor leaf = torch::ones({2}, torch::requires_grad());
  EXPECT_EQ(name([&] { leaf.zero_(); }), "zero_");
  EXPECT_EQ(name([&] { x.add_(y); }), "add_");
  EXPECT_EQ(name([&] { x.clone().mul_(y); }), "mul_");
  EXPECT_EQ(name([&] { x.masked_fill_(x, 1); }), "masked_fill_");
  EXPECT_EQ(name([&] { torch::hstack({x, y}); }), "hstack");
  EXPECT_EQ(name([&] { torch::vstack({x, torch::ones({4, 4})}); }), "vstack");
  EXPECT_EQ(name([&] { torch::isclose(x, y); }), "isclose");
  EXPECT_EQ(name([&] { torch::allclose(x, y); }), "allclose");
  EXPECT_EQ(name([&] { torch::floor_divide(x, y); }), "floor_divide");
  EXPECT_EQ(name([&] { torch::nansum(x, 5); }), "nansum");
}

TEST(SecondNames, ChecksThrowTheirKindOfError) {
  EXPECT_THROW(TORCH_CHECK_VALUE(1 == 2, "n = ", 1), std::invalid_argument);
  EXPECT_THROW(TORCH_CHECK_INDEX(false, "i"), std::out_of_range);
  EXPECT_EQ(torch::message_of<std::runtime_error>([] { AT_ERROR("bad ", 3); }), "bad 3");
  EXPECT_NO_THROW(TORCH_CHECK_TYPE(true, ""));
}

}  // namespace
