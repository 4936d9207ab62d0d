// A GradScaler in long runs, compared with PyTorch's rule as tests/amp/scaler/loss_scaler_models.h
// states it.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/tests/amp/scaler/loss_scaler_models.h>
#include <halfgrad/tests/amp/training/random_traces.h>
#include <halfgrad/tests/amp/training/trained.h>
#include <halfgrad/tests/thorough.h>

namespace halfgrad::amp {
namespace {

constexpr int kTraces = kThorough ? 1000 : 10;

/// Traces of 10,000 steps, every second one with unscale_() before step().
TEST(Traces, GradScalerEqualsPyTorchsRule) {
  std::mt19937_64 random(5);
  for (int repeat = 0; repeat < kTraces; ++repeat) {
    SCOPED_TRACE(repeat);
    const GradScalerOptions options = random_options(random);
    const std::vector<bool> trace = random_trace(random, 10000);
    models::Model model = models::torch_model(
        static_cast<float>(options.init_scale), options.growth_interval,
        static_cast<float>(options.growth_factor), static_cast<float>(options.backoff_factor));
    GradScaler scaler = started(options);
    Trained trained({0});
    const Array gradient = trained.param.grad().array();
    for (std::size_t step = 0; step < trace.size(); ++step) {
      gradient.fill_(trace[step] ? kInfinite : 0);
      if (repeat % 2 == 1) scaler.unscale_(trained.optimizer);
      scaler.step(trained.optimizer);
      scaler.update();
      ASSERT_EQ(scaler.get_scale(), model(trace[step])) << "after step " << step;
    }
    const GradScalerCounts counts = scaler.counts();
    const std::int64_t skipped = std::count(trace.begin(), trace.end(), true);
    EXPECT_EQ(counts.skipped_steps, skipped);
    EXPECT_EQ(counts.steps + skipped, std::ssize(trace));
  }
}

}  // namespace
}  // namespace halfgrad::amp
