// Functors of the row engine, run by a team of threads as on a GPU, against the SIMD team.
// ThreadSanitizer reports a missing synchronisation.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops/shared/cross_entropy_rows.h>
#include <halfgrad/autograd/ops/shared/layer_norm_rows.h>
#include <halfgrad/autograd/ops/shared/softmax_rows.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/tests/core/engines/thread_team.h>

namespace halfgrad::detail {
namespace {

using Floats = std::vector<float>;

constexpr std::int64_t kSizes[] = {1, 3, 7, 64, 1000};

Floats drawn(std::int64_t n, std::uint64_t seed) {
  return random_tensor({n}, -2, 2, {seed, 0}).to_vector<float>();
}

Row<const float> in(const Floats& row) { return {row.data(), std::ssize(row)}; }

// Runs f(rows..., outputs...) by both kinds of team; only the order of sums differs.
template <class F, std::size_t... O, class... In>
void expect_same(const F& f, const std::vector<std::int64_t>& outputs, std::index_sequence<O...>,
                 const In&... rows) {
  std::vector<Floats> expected, actual;
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
    const Floats x = drawn(n, 1), dy = drawn(n, 2);
    Floats log_p, p;  // like a softmax over n elements
    for (const float logit : x) {
      log_p.push_back(logit - std::log(static_cast<float>(n)));
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
  const Floats x = drawn(n, 1), weight = drawn(n, 2), bias = drawn(n, 3), dy = drawn(n, 4);
  const Floats statistics{0.25F, 0.75F};
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
    const Floats x = drawn(n, 1), lse{std::log(static_cast<float>(n)) + 1};
    for (const float target : {-1.0F, 0.0F, static_cast<float>(n - 1)}) {
      const Floats encoded{target, target < 0 ? 0.0F : 0.5F};
      expect_same(ClassLossRow{}, {1, 1}, std::make_index_sequence<2>(), x, encoded);
      expect_same(ClassGradientRow{}, {n}, std::make_index_sequence<1>(), Floats{0.5F}, x, encoded,
                  lse);
    }
    Floats q = drawn(n, 5);
    for (float& p : q) p = std::abs(p) / static_cast<float>(n);
    expect_same(SoftLossRow{}, {1, 1}, std::make_index_sequence<2>(), x, q);
    expect_same(SoftGradientRow{}, {n}, std::make_index_sequence<1>(), Floats{0.5F}, x, q, lse);
  }
}

}  // namespace
}  // namespace halfgrad::detail
