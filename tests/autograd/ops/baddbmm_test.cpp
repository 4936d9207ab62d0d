#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>

namespace halfgrad {
namespace {

TEST(BaddBmm, IsBetaTimesSelfPlusAlphaTimesTheProducts) {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    const Tensor a = random_leaf({2, 4, 3}, 1).detach().to(dtype).transpose(1, 2);
    const Tensor b = random_leaf({2, 4, 5}, 2).detach().to(dtype);
    for (const Shape& sizes : {Shape{2, 3, 5}, Shape{3, 5}, Shape{5}, Shape{2, 1, 1}, Shape{}}) {
      const Tensor self = random_leaf(sizes, 3).detach().to(dtype);
      const Tensor sums = baddbmm(self, a, b, 0.5, -3.0);
      EXPECT_EQ(sums.dtype(), dtype);
      EXPECT_EQ(sums.sizes(), (Shape{2, 3, 5}));
      const std::vector<double> left = a.to_vector<double>(), right = b.to_vector<double>(),
                                addend = self.expand(sums.sizes()).to_vector<double>(),
                                actual = sums.to_vector<double>();
      for (std::size_t i = 0; i < actual.size(); ++i) {
        const std::size_t batch = i / 15, row = i / 5 % 3, column = i % 5;
        double expected = 0.5 * addend[i], magnitude = std::abs(expected);
        for (std::size_t k = 0; k < 4; ++k) {
          const double term =
              -3.0 * left[(batch * 3 + row) * 4 + k] * right[(batch * 4 + k) * 5 + column];
          expected += term;
          magnitude += std::abs(term);
        }
        // Accumulates in float32 at least, and rounds once.
        const double accumulated = 8 * roundoff(dtype == kDouble ? kDouble : kFloat) * magnitude;
        const double rounding = is_reduced(dtype) ? roundoff(dtype) * std::abs(expected) : 0;
        EXPECT_NEAR(actual[i], expected, accumulated + rounding);
      }
    }
  }
}

TEST(BaddBmm, HasTheGradientsOfFiniteDifferences) {
  for (const Shape& sizes : {Shape{2, 3, 5}, Shape{5}, Shape{}}) {
    const auto f = [](const auto& in) { return baddbmm(in[0], in[1], in[2], 0.5, -3.0); };
    const std::vector<Tensor> in{random_leaf(sizes, 1), random_leaf({2, 3, 4}, 2),
                                 random_leaf({2, 4, 5}, 3)};
    expect_gradients(f, in);
    expect_second_gradients(f, in);
  }
}

TEST(BaddBmm, WorksInPlace) {
  const Tensor a = random_leaf({2, 3, 4}, 1), b = random_leaf({2, 4, 5}, 2);
  const Tensor self = random_leaf({2, 3, 5}, 3).detach();
  const std::vector<double> expected = baddbmm(self, a, b, 2, 3).to_vector<double>();
  EXPECT_EQ(self.baddbmm_(a, b, 2, 3).to_vector<double>(), expected);
  EXPECT_EQ(self.grad_fn_name(), "baddbmm");
}

TEST(BaddBmm, IgnoresOperandsOfFactorZero) {
  const Tensor nan = full({1, 2, 2}, std::numeric_limits<double>::quiet_NaN());
  const Tensor one = ones({1, 2, 2});
  EXPECT_EQ(baddbmm(nan, one, one, 0).to_vector<double>(), std::vector<double>(4, 2));
  EXPECT_EQ(baddbmm(one, nan, one, 3, 0).to_vector<double>(), std::vector<double>(4, 3));
  const Tensor nothing = ones({1, 2, 0});
  EXPECT_EQ(baddbmm(one, nothing, nothing.transpose(1, 2), 3).to_vector<double>(),
            std::vector<double>(4, 3));
  EXPECT_EQ(baddbmm(ones({2}), ones({0, 2, 3}), ones({0, 3, 2})).sizes(), (Shape{0, 2, 2}));
}

}  // namespace
}  // namespace halfgrad
