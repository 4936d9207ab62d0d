#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/async/async_training.h>
#include <halfgrad/tests/thorough.h>

/// The scale of every iteration: PyTorch's if synchronous, one update behind if asynchronous.
namespace halfgrad::amp {
namespace {

struct Row {
  const char* name;
  double init_scale, limit;
  std::int32_t growth_interval;
  bool is_async;
  const char* scales;  // exponents; * for a skipped step
};

// A scaled gradient of 1 overflows float16 from 2^16 on, so 2^15 is the largest useful scale. With
// a gradient of 4 it is 2^13.
const Row kRows[] = {
    {"useful up to 2^15, sync", 0x1p16, 0x1p16, 2000, false, "16* 15 15 15"},
    {"useful up to 2^15, async", 0x1p16, 0x1p16, 2000, true, "16* 16* 15 14 14"},
    {"useful up to 2^13, sync", 0x1p16, 0x1p14, 2000, false, "16* 15* 14* 13 13"},
    {"useful up to 2^13, async", 0x1p16, 0x1p14, 2000, true, "16* 16* 15* 14* 13 12 12"},
    {"growth, sync", 1, kInfinite, 3, false, "0 0 0 1 1 1 2 2 2 3"},
    {"growth, async", 1, kInfinite, 3, true, "0 0 0 0 1 1 1 2 2 2 3"},
};

TEST(AsyncTraces, Tables) {
  for (const Row& row : kRows) {
    AsyncTraining training({.init_scale = row.init_scale, .growth_interval = row.growth_interval});
    std::string scales;
    while (scales.size() < std::string(row.scales).size()) {
      scales += scales.empty() ? "" : " ";
      scales += std::to_string(std::ilogb(training.scaler.get_scale()));
      training.backward(1, row.limit);
      if (training.step(row.is_async)) scales += '*';
    }
    EXPECT_EQ(scales, row.scales) << row.name;
  }
}

TEST(AsyncTraces, ReportsHoldTheScaleThatTheLossHad) {
  for (const bool is_async : {false, true}) {
    const GradScalerOptions options{.init_scale = 4, .growth_interval = 1, .history = 8};
    AsyncTraining training(options);
    Values scales;
    for (int k = 0; k < 6; ++k) {
      scales.push_back(training.scaler.get_scale());
      training.backward(k == 2 ? kInfinite : 3);
      training.step(is_async);
    }
    const std::vector<StepReport> reports = training.scaler.reports();
    ASSERT_EQ(reports.size(), scales.size());
    LossScale state = initial_scale(options);
    for (std::size_t k = 0; k < reports.size(); ++k) {
      EXPECT_EQ(reports[k].scale, scales[k]);
      EXPECT_EQ(reports[k].grad_norm, k == 2 ? kInfinite : 3);
      state = next(state, reports[k].skipped(), options).state;
      EXPECT_EQ(reports[k].next_scale, state.scale);
    }
  }
}

// In a long run the numbers of skips, synchronous and asynchronous, differ by one at most.
TEST(AsyncTraces, SkipsOfALongTraining) {
  for (const bool is_async : {false, true}) {
    AsyncTraining training({.init_scale = 0x1p15, .growth_interval = 20});
    int skips = 0;
    for (int k = 0; k < 1000; ++k) {
      training.backward(1, 0x1p16);
      skips += training.step(is_async) ? 1 : 0;
    }
    EXPECT_EQ(skips, is_async ? 46 : 47);
    EXPECT_EQ(training.scaler.counts().skipped_steps, skips);
    EXPECT_EQ(training.scaler.counts().steps, 1000 - skips);
  }
}

// PyTorch's update rule, written out.
struct Rule {
  float scale;
  int growth_interval;
  int tracker = 0;

  void update(bool found_inf) {
    if (found_inf) {
      scale = static_cast<float>(scale * 0.5);
      tracker = 0;
    } else if (++tracker == growth_interval) {
      if (std::isfinite(static_cast<float>(scale * 2.0))) scale = static_cast<float>(scale * 2.0);
      tracker = 0;
    }
  }
};

TEST(AsyncTraces, RandomFoundInfs) {
  constexpr int kSteps = kThorough ? 10'000 : 1'000;
  const struct {
    double bad;  // probability of a bad step
    int growth_interval;
  } lists[] = {{0.3, 2}, {0.02, 40}};
  for (const auto& list : lists) {
    for (const bool is_async : {false, true}) {
      std::mt19937 random(1);
      std::bernoulli_distribution is_bad(list.bad);
      AsyncTraining training({.init_scale = 1024, .growth_interval = list.growth_interval});
      Rule rule{1024, list.growth_interval};
      std::vector<double> next{1024};  // one update behind
      double value = 1;
      for (int k = 0; k < kSteps; ++k) {
        next.push_back(rule.scale);
        ASSERT_EQ(training.scaler.get_scale(), is_async ? next[k] : next[k + 1]) << k;
        const bool bad = is_bad(random);
        training.backward(bad ? kInfinite : 0x1p-10);
        training.optimizer.step([&](optim::Optimizer& o) { training.scaler.step(o); }, is_async);
        training.scaler.update(is_async);
        rule.update(bad);
        value -= bad ? 0 : 0x1p-10;
      }
      training.optimizer.synchronize();
      EXPECT_EQ(training.value(), value);
    }
  }
}

}  // namespace
}  // namespace halfgrad::amp
