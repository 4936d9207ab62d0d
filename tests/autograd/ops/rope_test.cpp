#include <halfgrad/autograd/transformer.h>

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

class Rope : public TensorsOnDevice {};
HALFGRAD_ON_DEVICES(Rope);

TEST_P(Rope, TurnsInterleavedPairs) {
  const Tensor x = elements({1, 0, 0, 1, 2, 3, 4, 5}).view({2, 4});
  const Tensor y = rope(x, {.base = 100, .offset = 3, .interleaved = true});
  const double a = 3, b = 0.3, c = 4, d = 0.4;
  const Doubles expected{std::cos(a),
                         std::sin(a),
                         -std::sin(b),
                         std::cos(b),
                         2 * std::cos(c) - 3 * std::sin(c),
                         3 * std::cos(c) + 2 * std::sin(c),
                         4 * std::cos(d) - 5 * std::sin(d),
                         5 * std::cos(d) + 4 * std::sin(d)};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(elements(y)[i], expected[i], 1e-14) << i;
  }
}

// The halves are the pairs in another order.
TEST_P(Rope, HalvesArePairsInAnotherOrder) {
  const Tensor x = random_tensor({2, 3, 5, 8}, -1, 1, {1, 2}).to(device());
  const Tensor halves = x.view({2, 3, 5, 4, 2}).transpose(3, 4).reshape({2, 3, 5, 8});
  const Tensor y = rope(x, {.interleaved = true});
  EXPECT_TRUE(equal(rope(halves), y.view({2, 3, 5, 4, 2}).transpose(3, 4).reshape({2, 3, 5, 8})));
}

// Scores depend on the distance of the positions alone, and 16-bit rows are rounded once.
TEST_P(Rope, ScoresDependOnDistances) {
  const Tensor q = random_tensor({1, 16}, -1, 1, {1, 2}).to(device());
  const Tensor k = random_tensor({1, 16}, -1, 1, {1, 3}).to(device());
  const auto score = [&](std::int64_t i, std::int64_t j) {
    return (rope(q, {.offset = i}) * rope(k, {.offset = j})).sum().item();
  };
  EXPECT_NEAR(score(7, 2), score(1005, 1000), 1e-12);
  EXPECT_GT(std::fabs(score(7, 2) - score(7, 3)), 1e-3);
  const Tensor half = q.to(kHalf);
  EXPECT_TRUE(
      equal(rope(half, {.offset = 50'000}), rope(half.to(kFloat), {.offset = 50'000}).to(kHalf)));
}

TEST(RopeOnCpu, HasAGradientInBothForms) {
  for (const bool interleaved : {false, true}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return rope(in[0], {.offset = 5, .interleaved = interleaved});
    };
    expect_gradients(f, {random_leaf({2, 3, 6}, 1)});
  }
}

TEST(RopeOnCpu, RefusesOtherOperands) {
  EXPECT_THROW(rope(ones({3, 5})), std::invalid_argument);
  EXPECT_THROW(rope(ones({4})), std::invalid_argument);
  EXPECT_THROW(rope(ones({3, 4}).to(kInt64)), std::invalid_argument);
  EXPECT_THROW(rope(ones({3, 4}), {.base = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
