#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/core/math/philox.h>
#include <halfgrad/testing/dropout_check.h>
#include <halfgrad/tests/testing/seeds.h>

namespace halfgrad::testing {
namespace {

/// A random word for element i.
std::uint32_t word(RandomState state, std::int64_t i) {
  const auto place = static_cast<std::uint64_t>(i) + state.offset;
  return random_block({state.seed, 0}, place / 4).word[place % 4];
}

/// Whether an element is kept, from its place, the length of a row, p and the state.
using Rule = std::function<bool(std::int64_t, std::int64_t, double, RandomState)>;

bool right_rule(std::int64_t i, std::int64_t, double p, RandomState state) {
  return word(state, i) >= p * 0x1p32;
}

/// A kernel in float32 with that rule. The scale is a function of p.
DropoutKernel kernel_with(
    const Rule& keeps,
    const std::function<float(float)>& scale = [](float p) { return 1 / (1 - p); }) {
  return [=](const Array& x, double p, RandomState state, const Array& y, const Array& mask) {
    const std::int64_t row = x.size(x.ndim() - 1);
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const bool kept = keeps(i, row, p, state);
      y.data_as<float>()[i] = kept ? x.data_as<float>()[i] * scale(static_cast<float>(p)) : 0;
      if (mask.defined()) mask.data_as<bool>()[i] = kept;
    }
  };
}

TEST(DropoutCheck, AcceptsARightKernel) {
  for (std::uint64_t seed = 0; seed < seeds(1); ++seed) {
    const DistributionReport report = check_dropout(kernel_with(right_rule), {.seed = seed});
    EXPECT_TRUE(report.passed()) << to_text(report);
    EXPECT_LT(report.false_alarm(), 1e-9);
    EXPECT_GT(report.samples(), 4'000'000);
  }
  EXPECT_TRUE(
      check_dropout(kernel_with(right_rule), {.has_mask = false, .probabilities = {0.1}}).passed());
}

TEST(DropoutCheck, AcceptsAProductWithTheMaskAnd24RandomBits) {
  const DropoutKernel product = [](const Array& x, double p, RandomState state, const Array& y,
                                   const Array& mask) {
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const bool kept = static_cast<float>(word(state, i) >> 8) * 0x1p-24f >= static_cast<float>(p);
      const float scale = p == 1 ? 0 : 1 / (1 - static_cast<float>(p));
      y.data_as<float>()[i] = x.data_as<float>()[i] * (static_cast<float>(kept) * scale);
      mask.data_as<bool>()[i] = kept;
    }
  };
  const DistributionReport report = check_dropout(product, {.probabilities = {0.002, 1}});
  EXPECT_TRUE(report.passed()) << to_text(report);
}

struct WrongDropout {
  const char* what;
  const char* fault;
  DropoutKernel kernel;
};

std::vector<WrongDropout> wrong_kernels() {
  const auto moved = [](auto place) {
    return kernel_with([place](std::int64_t i, std::int64_t row, double p, RandomState state) {
      return right_rule(place(i, row), row, p, state);
    });
  };
  const auto threshold = [](auto bits) {
    return kernel_with([bits](std::int64_t i, std::int64_t, double p, RandomState state) {
      return word(state, i) >> 24 >= bits(p);
    });
  };
  return {
      {"one mask for all rows", "dependent", moved([](auto i, auto row) { return i % row; })},
      {"one number for four neighbours", "dependent", moved([](auto i, auto) { return i / 4; })},
      {"blocks of 1000 repeat", "dependent", moved([](auto i, auto) { return i % 1000; })},
      {"p and 1 - p exchanged", "wrong share",
       kernel_with([](std::int64_t i, std::int64_t row, double p, RandomState state) {
         return right_rule(i, row, 1 - p, state);
       })},
      {"no rescale", "wrong value", kernel_with(right_rule, [](float) { return 1.0f; })},
      {"scaled by 1 / p", "wrong value", kernel_with(right_rule, [](float p) { return 1 / p; })},
      {"p rounded to 8 bits", "wrong share",
       threshold([](double p) { return std::round(p * 256); })},
      {"p cut to 8 bits", "wrong share", threshold([](double p) { return std::floor(p * 256); })},
      {"the seed is ignored", "dependent",
       kernel_with([](std::int64_t i, std::int64_t row, double p, RandomState state) {
         return right_rule(i, row, p, {0, state.offset});
       })},
      {"the seed shifts the mask", "dependent",
       kernel_with([](std::int64_t i, std::int64_t row, double p, RandomState state) {
         const auto shift = static_cast<std::int64_t>(state.seed);
         return right_rule(i + shift, row, p, {0, state.offset});
       })},
      {"the offset is ignored", "dependent",
       kernel_with([](std::int64_t i, std::int64_t row, double p, RandomState state) {
         return right_rule(i, row, p, {state.seed, 0});
       })},
      {"the last 511 mod 4 columns are kept", "wrong share",
       kernel_with([](std::int64_t i, std::int64_t row, double p, RandomState state) {
         return (i % row >= row / 4 * 4 && p < 1) || right_rule(i, row, p, state);
       })},
      {"the first element is dropped", "wrong share",
       kernel_with([](std::int64_t i, std::int64_t row, double p, RandomState state) {
         return (i > 0 || p == 0) && right_rule(i, row, p, state);
       })},
  };
}

TEST(DropoutCheck, FindsWrongKernels) {
  for (const WrongDropout& wrong : wrong_kernels()) {
    for (std::uint64_t seed = 0; seed < seeds(1); ++seed) {
      const DistributionReport report =
          check_dropout(wrong.kernel, {.probabilities = {0.002, 0.5}, .seed = seed});
      bool named = false;
      for (const auto& finding : report.findings()) named = named || finding.fault == wrong.fault;
      EXPECT_TRUE(named) << wrong.what << ", seed " << seed << "\n" << to_text(report);
    }
  }
}

TEST(DropoutCheck, FindsAMaskThatDisagreesAndOneThatCannotBeRepeated) {
  const DropoutKernel inverted = [](const Array& x, double p, RandomState state, const Array& y,
                                    const Array& mask) {
    kernel_with(right_rule)(x, p, state, y, mask);
    for (std::int64_t i = 0; i < x.numel(); ++i) mask.data_as<bool>()[i] ^= 1;
  };
  EXPECT_EQ(check_dropout(inverted, {.probabilities = {0.5}}).findings().front().fault,
            "wrong value");
  std::uint64_t calls = 0;
  const DropoutKernel counting = [&](const Array& x, double p, RandomState, const Array& y,
                                     const Array& mask) {
    kernel_with(right_rule)(x, p, {++calls, 0}, y, mask);
  };
  EXPECT_EQ(check_dropout(counting, {.probabilities = {0.5}}).findings().front().fault,
            "not deterministic");
}

TEST(DropoutCheck, ExceptionsAreFindings) {
  const DropoutKernel throws = [](auto&&...) { throw std::runtime_error("no memory"); };
  const DistributionReport report = check_dropout(throws);
  ASSERT_EQ(report.findings().size(), 1u);
  EXPECT_EQ(to_text(report).find("no memory") != std::string::npos, true);
  EXPECT_THROW(check_dropout(throws, {.probabilities = {1.5}}), std::invalid_argument);
}

TEST(DistributionReport, TheBoundIsAboveTheExactTail) {
  EXPECT_DOUBLE_EQ(log_binomial_tail(10, 10, 0.5), 10 * std::log(0.5));
  EXPECT_DOUBLE_EQ(log_binomial_tail(5, 10, 0.5), 0);
  // P(K >= 60) = 0.028444 for 100 throws of a coin.
  EXPECT_GT(log_binomial_tail(60, 100, 0.5), std::log(0.028444));
  EXPECT_LT(log_binomial_tail(60, 100, 0.5), std::log(0.2));
}

}  // namespace
}  // namespace halfgrad::testing
