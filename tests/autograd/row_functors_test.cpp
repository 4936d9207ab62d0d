// The functors of the row engine on a team of threads, which is what they meet on a GPU, against
// the SIMD team. Under ThreadSanitizer a missing synchronisation is an error.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops/cross_entropy_rows.h>
#include <halfgrad/autograd/ops/layer_norm_rows.h>
#include <halfgrad/autograd/ops/softmax_rows.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/tests/core/thread_team.h>

namespace halfgrad::detail {
namespace {

using Numbers = std::vector<float>;

constexpr std::int64_t kSizes[] = {1, 3, 7, 64, 1000};

Numbers drawn(std::int64_t n, std::uint64_t seed) {
  return random_tensor({n}, -2, 2, {seed, 0}).to_vector<float>();
}

Row<const float> in(const Numbers& row) { return {row.data(), std::ssize(row)}; }

// f(rows..., outputs...) by either kind of team: the same numbers, but for the order of sums.
template <class F, std::size_t... O, class... In>
void expect_same(const F& f, const std::vector<std::int64_t>& outputs, std::index_sequence<O...>,
                 const In&... rows) {
  std::vector<Numbers> expected, actual;
  for (const std::int64_t size : outputs) {
    expected.emplace_back(static_cast<std::size_t>(size));
    actual.emplace_back(static_cast<std::size_t>(size));
  }
  const SimdTeam<float> simd;
  f(simd, in(rows)..., Row<float>(expected[O].data(), outputs[O])...);
  run_by_threads<float>(4, f, in(rows)..., Row<float>(actual[O].data(), outputs[O])...);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    for (std::size_t i = 0; i < expected[o].size(); ++i) {
      const float scale = std::max(1.0F, std::abs(expected[o][i]));
      EXPECT_NEAR(actual[o][i], expected[o][i], 32 * roundoff(kFloat) * scale)
          << "output " << o << ", element " << i << " of " << outputs[o];
    }
  }
}

template <class F, class... In>
void expect_same_row(const F& f, const In&... rows) {
  const std::int64_t n = std::ssize(std::get<0>(std::tie(rows...)));
  expect_same(f, {n}, std::make_index_sequence<1>(), rows...);
}

TEST(RowFunctors, Softmax) {
  for (const std::int64_t n : kSizes) {
    const Numbers x = drawn(n, 1), dy = drawn(n, 2);
    Numbers log_p, p;  // about as a softmax over n has them
    for (const float number : x) {
      log_p.push_back(number - std::log(static_cast<float>(n)));
      p.push_back(std::exp(log_p.back()));
    }
    expect_same_row(SoftmaxRow{}, x);
    expect_same_row(SoftmaxGradientRow{}, dy, p);
    expect_same_row(LogSoftmaxRow{}, x);
    expect_same_row(LogSoftmaxGradientRow{}, dy, log_p);
  }
}

template <bool kCentred>
void expect_same_norm(std::int64_t n) {
  const Numbers x = drawn(n, 1), weight = drawn(n, 2), bias = drawn(n, 3), dy = drawn(n, 4);
  const Numbers statistics{0.25F, 0.75F};
  expect_same(NormalizeRow<kCentred>{1e-3}, {n, 2}, std::make_index_sequence<2>(), x, weight, bias);
  expect_same(NormalizeGradientRow<kCentred>{}, {n, n}, std::make_index_sequence<2>(), dy, x,
              weight, statistics);
}

TEST(RowFunctors, LayerNorm) {
  for (const std::int64_t n : kSizes) {
    expect_same_norm<true>(n);
    expect_same_norm<false>(n);
  }
}

TEST(RowFunctors, CrossEntropy) {
  for (const std::int64_t n : kSizes) {
    const Numbers x = drawn(n, 1), lse{std::log(static_cast<float>(n)) + 1};
    for (const float target : {-1.0F, 0.0F, static_cast<float>(n - 1)}) {
      const Numbers encoded{target, target < 0 ? 0.0F : 0.5F};
      expect_same(ClassLossRow{}, {1, 1}, std::make_index_sequence<2>(), x, encoded);
      expect_same(ClassGradientRow{}, {n}, std::make_index_sequence<1>(), Numbers{0.5F}, x, encoded,
                  lse);
    }
    Numbers q = drawn(n, 5);
    for (float& p : q) p = std::abs(p) / static_cast<float>(n);
    expect_same(SoftLossRow{}, {1, 1}, std::make_index_sequence<2>(), x, q);
    expect_same(SoftGradientRow{}, {n}, std::make_index_sequence<1>(), Numbers{0.5F}, x, q, lse);
  }
}

}  // namespace
}  // namespace halfgrad::detail
