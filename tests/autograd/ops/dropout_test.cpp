#include <halfgrad/autograd/ops.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

class Dropout : public TensorsOnDevice {};
HALFGRAD_ON_DEVICES(Dropout);

TEST_P(Dropout, DropsAShareOfPAndScalesTheRest) {
  constexpr std::int64_t kMany = 100'000;
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    for (const double p : {0.25, 0.5, 0.9}) {
      manual_seed(3);
      const Tensor y = dropout(full({kMany}, 3.0, in(dtype)), p, true);
      EXPECT_EQ(y.dtype(), dtype);
      std::int64_t dropped = 0;
      for (const double value : elements(y)) {
        if (value == 0) {
          ++dropped;
        } else {
          const double expected = 3 / (1 - p);
          ASSERT_NEAR(value, expected, 2 * roundoff(dtype) * expected);
        }
      }
      const double five_sigma = 5 * std::sqrt(p * (1 - p) / kMany);
      EXPECT_NEAR(static_cast<double>(dropped) / kMany, p, five_sigma);
    }
  }
}

TEST_P(Dropout, IsTheIdentityInEvaluationAndForZero) {
  const Tensor x = ones({5}, in(kFloat));
  EXPECT_TRUE(dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(dropout(x, 0, true).is_same(x));
}

TEST_P(Dropout, DropsEverythingForOneEvenInfinity) {
  const Tensor x = full({5}, kInf, in(kFloat)).requires_grad_();
  const Tensor y = dropout(x, 1, true);
  EXPECT_EQ(elements(y), Doubles(5, 0));
  y.sum().backward();
  EXPECT_EQ(elements(x.grad()), Doubles(5, 0));
}

TEST(DropoutOnCpu, PassesGradientsThroughTheSameMask) {
  const RandomKey state = default_generator().get_state();
  const auto f = [&](const std::vector<Tensor>& in) {
    default_generator().set_state({5, 0});
    return dropout(in[0], 0.4, true);
  };
  expect_gradients(f, {random_leaf({3, 7}, 1)});
  expect_second_gradients(f, {random_leaf({3, 7}, 1)});
  expect_gradients([&](const auto& in) { return f({in[0].transpose(0, 1)}); },
                   {random_leaf({3, 7}, 1)});
  default_generator().set_state(state);
}

TEST_P(Dropout, DrawsANewMaskEachTimeAndTheSameFromASeed) {
  const Tensor x = ones({1000}, in(kFloat));
  manual_seed(1);
  const Doubles first = elements(dropout(x, 0.5, true));
  const Doubles second = elements(dropout(x, 0.5, true));
  EXPECT_NE(first, second);
  manual_seed(1);
  EXPECT_EQ(elements(dropout(x, 0.5, true)), first);
}

TEST(DropoutOnCpu, IsTheSameForAnyNumberOfThreads) {
  const Tensor x = randn({300'001});
  const int threads = get_num_threads();
  std::vector<Doubles> results;
  for (const int count : {1, 3}) {
    set_num_threads(count);
    manual_seed(1);
    results.push_back(elements(dropout(x, 0.5, true)));
  }
  set_num_threads(threads);
  EXPECT_EQ(results[0], results[1]);
}

TEST(DropoutOnCpu, RefusesOtherProbabilitiesAndIntegers) {
  const Tensor x = ones({2});
  for (const double p : {-0.1, 1.1, std::nan("")}) {
    EXPECT_THROW(dropout(x, p, true), std::invalid_argument);
    EXPECT_THROW(dropout(x, p, false), std::invalid_argument);
  }
  EXPECT_THROW(dropout(tensor({1, 2}), 0.5, true), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
