#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/math/philox.h>
#include <halfgrad/testing/sampling_check.h>
#include <halfgrad/tests/testing/seeds.h>
#include <halfgrad/tests/thorough.h>

namespace halfgrad::testing {
namespace {

/// A number from [0, 1) for row i.
double number(RandomState state, std::int64_t i) {
  const auto place = static_cast<std::uint64_t>(i) + state.offset;
  return (random_block({state.seed, 0}, place / 4).word[place % 4] >> 8) * 0x1p-24;
}

/// The first class whose cumulative probability exceeds u; the last possible one otherwise.
std::int64_t drawn(const float* p, std::int64_t k, double u) {
  float sum = 0;
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    sum += p[i];
    if (p[i] > 0) last = i;
    if (u < sum) return i;
  }
  return last;
}

/// Chooses the class of a row from its number, the probabilities [m, k] and the state.
using Rule = std::function<std::int64_t(std::int64_t row, const float* all, std::int64_t k,
                                        RandomState state)>;

SamplingKernel kernel_with(const Rule& rule) {
  return [rule](const Array& weights, RandomState state, const Array& classes) {
    for (std::int64_t row = 0; row < weights.size(0); ++row) {
      classes.data_as<std::int64_t>()[row] =
          rule(row, weights.data_as<float>(), weights.size(1), state);
    }
  };
}

std::int64_t right_rule(std::int64_t row, const float* all, std::int64_t k, RandomState state) {
  return drawn(all + row * k, k, number(state, row));
}

/// The largest of logit + Gumbel noise, among the top_k if that is not 0.
SamplingKernel by_gumbel_noise(std::int64_t top_k) {
  return kernel_with(
      [top_k](std::int64_t row, const float* all, std::int64_t k, RandomState state) {
        const float* const x = all + row * k;
        std::vector<float> sorted(x, x + k);
        std::sort(sorted.rbegin(), sorted.rend());
        const float least =
            top_k > 0 && top_k < k ? sorted[static_cast<std::size_t>(top_k - 1)] : sorted.back();
        std::int64_t best = 0;
        float most = -INFINITY;
        for (std::int64_t i = 0; i < k; ++i) {
          if (x[i] < least) continue;
          const double u = number(state, row * k + i) + 0x1p-25;
          const auto score = x[i] - static_cast<float>(std::log(-std::log(u)));
          if (score <= most) continue;
          most = score;
          best = i;
        }
        return best;
      });
}

TEST(SamplingCheck, AcceptsRightKernels) {
  for (std::uint64_t seed = 0; seed < seeds(1); ++seed) {
    const DistributionReport report = check_sampling(kernel_with(right_rule), {.seed = seed});
    EXPECT_TRUE(report.passed()) << to_text(report);
    EXPECT_LT(report.false_alarm(), 1e-9);
  }
  for (const std::int64_t top_k : {0, 1, 5}) {
    if (!kThorough && top_k == 0) continue;
    const DistributionReport report =
        check_sampling(by_gumbel_noise(top_k), {.logits = true, .top_k = top_k});
    EXPECT_TRUE(report.passed()) << top_k << to_text(report);
  }
}

bool names(const DistributionReport& report, const std::string& fault) {
  return std::any_of(report.findings().begin(), report.findings().end(),
                     [&](const DistributionFinding& finding) { return finding.fault == fault; });
}

struct WrongSampling {
  const char* what;
  const char* fault;
  SamplingKernel kernel;
};

std::vector<WrongSampling> wrong_kernels() {
  const auto at = [](auto u) {
    return kernel_with([u](std::int64_t row, const float* all, std::int64_t k, RandomState state) {
      return drawn(all + row * k, k, u(row, k, state));
    });
  };
  return {
      {"all rows use row 0", "wrong share",
       kernel_with([](std::int64_t row, const float* all, std::int64_t k, RandomState state) {
         return drawn(all, k, number(state, row));
       })},
      {"classes of probability 0 are drawn", "impossible class",
       kernel_with([](std::int64_t row, const float* all, std::int64_t k, RandomState state) {
         const std::int64_t i = right_rule(row, all, k, state);
         return number(state, row + 7) < 0.01 ? (i + 1) % k : i;
       })},
      {"the last class is never drawn", "wrong share",
       kernel_with([](std::int64_t row, const float* all, std::int64_t k, RandomState state) {
         return std::min(right_rule(row, all, k, state), std::max<std::int64_t>(0, k - 2));
       })},
      {"one number for all rows", "wrong share",
       at([](auto, auto, RandomState state) { return number(state, 0); })},
      {"one number for two rows", "dependent",
       at([](auto row, auto, RandomState state) { return number(state, row / 2); })},
      {"the square of the number", "wrong share",
       at([](auto row, auto, RandomState state) { return std::pow(number(state, row), 2); })},
      {"classes above 1024 are left out", "wrong share",
       kernel_with([](std::int64_t row, const float* all, std::int64_t k, RandomState state) {
         return drawn(all + row * k, std::min<std::int64_t>(k, 1024), number(state, row));
       })},
      {"the class behind the drawn one", "out of range",
       kernel_with([](std::int64_t row, const float* all, std::int64_t k, RandomState state) {
         return right_rule(row, all, k, state) + 1;
       })},
      {"the most probable class", "wrong share",
       kernel_with([](std::int64_t row, const float* all, std::int64_t k, RandomState) {
         return std::max_element(all + row * k, all + row * k + k) - (all + row * k);
       })},
      {"the seed is ignored", "dependent", at([](auto row, auto, RandomState state) {
         return number({0, state.offset}, row);
       })},
      {"the offset is ignored", "dependent", at([](auto row, auto, RandomState state) {
         return number({state.seed, 0}, row);
       })},
  };
}

TEST(SamplingCheck, FindsWrongKernels) {
  for (const WrongSampling& wrong : wrong_kernels()) {
    for (std::uint64_t seed = 0; seed < seeds(1); ++seed) {
      const DistributionReport report = check_sampling(wrong.kernel, {.seed = seed});
      EXPECT_TRUE(names(report, wrong.fault)) << wrong.what << ", seed " << seed << "\n"
                                              << to_text(report);
    }
  }
}

TEST(SamplingCheck, TopKIsARestriction) {
  const DistributionReport all = check_sampling(by_gumbel_noise(0), {.logits = true, .top_k = 5});
  EXPECT_TRUE(names(all, "impossible class")) << to_text(all);
  const DistributionReport one_less =
      check_sampling(by_gumbel_noise(4), {.logits = true, .top_k = 5});
  EXPECT_TRUE(names(one_less, "wrong share")) << to_text(one_less);
}

}  // namespace
}  // namespace halfgrad::testing
