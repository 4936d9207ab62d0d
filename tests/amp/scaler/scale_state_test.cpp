#include <halfgrad/amp/scale_state.h>

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/optim/count_step.h>
#include <halfgrad/tests/amp/scaler/tensors.h>

namespace halfgrad::detail {
namespace {

using amp::kInfinite;
using amp::kNaN;

Array zero() { return full({}, 0, {.dtype = kFloat}).array(); }

struct UpdateCase {
  const char* what;
  double scale;
  std::int32_t tracker;
  amp::GradScalerOptions options;
  double found_inf;
  double scale_after;
  std::int32_t tracker_after;
};

const UpdateCase kUpdates[] = {
    {"grows on the interval's last good step", 4, 1, {.growth_interval = 2}, 0, 8, 0},
    {"interval 1 grows every time", 4, 0, {.growth_interval = 1}, 0, 8, 0},
    {"counts until then", 4, 0, {.growth_interval = 2}, 0, 4, 1},
    // Growth when tracker + 1 >= interval: PyTorch compares for equality, and never grows again
    // after the interval was lowered below the tracker. It gives (4, 6) and (4, 4) here.
    {"tracker beyond the interval", 4, 5, {.growth_interval = 3}, 0, 8, 0},
    {"tracker at the interval", 4, 3, {.growth_interval = 3}, 0, 8, 0},
    {"tracker at its end", 4, 2147483647, {.growth_interval = 2147483647}, 0, 8, 0},
    {"found_inf 1", 4, 1, {}, 1, 2, 0},
    {"found_inf 2", 4, 1, {}, 2, 2, 0},
    {"found_inf negative", 4, 1, {}, -1, 2, 0},
    {"found_inf NaN", 4, 1, {}, kNaN, 2, 0},
    {"found_inf tiny", 4, 1, {}, 1e-30, 2, 0},
    {"growth to inf refused", 3e38, 0, {.growth_interval = 1}, 0, 3.0000000054977558e38, 0},
    {"largest power of two stays", 0x1p127, 0, {.growth_interval = 1}, 0, 0x1p127, 0},
    {"largest power of two reached", 0x1p126, 0, {.growth_interval = 1}, 0, 0x1p127, 0},
    {"smallest subnormal reached", 0x1p-148, 0, {}, 1, 0x1p-149, 0},
    {"underflow to zero", 0x1p-149, 0, {}, 1, 0, 0},
    {"zero never recovers", 0, 0, {.growth_interval = 1}, 0, 0, 0},
    {"inf stays, bad", kInfinite, 0, {}, 1, kInfinite, 0},
    {"inf stays, good", kInfinite, 0, {.growth_interval = 1}, 0, kInfinite, 0},
    {"zero stays, bad", 0, 1, {}, 1, 0, 0},
    {"NaN stays", kNaN, 0, {.growth_interval = 1}, 0, kNaN, 0},
    // 0.3 and 1.1 rounded to float32 first would give other last bits.
    {"back-off in double", 3, 0, {.backoff_factor = 0.3}, 1, 0.8999999761581421, 0},
    {"growth in double",
     3,
     0,
     {.growth_factor = 1.1, .growth_interval = 1},
     0,
     3.299999952316284,
     0},
    // Options PyTorch lacks.
    {"min_scale", 4, 0, {.min_scale = 3}, 1, 3, 0},
    {"max_scale", 4, 0, {.growth_interval = 1, .max_scale = 6}, 0, 6, 0},
    {"max_scale reached", 6, 0, {.growth_interval = 1, .max_scale = 6}, 0, 6, 0},
};

TEST(UpdateScale, Transitions) {
  for (const UpdateCase& c : kUpdates) {
    SCOPED_TRACE(c.what);
    const ScaleState state({.scale = c.scale, .good_steps = c.tracker}, get_default_device());
    const std::vector<Array> found_infs{full({}, c.found_inf, {.dtype = kFloat}).array()};
    update_scale(state, found_infs, c.options);
    const double scale = state.scale.item();
    if (std::isnan(c.scale_after)) {
      EXPECT_TRUE(std::isnan(scale));
    } else {
      EXPECT_EQ(scale, c.scale_after);
      EXPECT_EQ(state.inv_scale.item(), static_cast<double>(static_cast<float>(1 / scale)));
    }
    EXPECT_EQ(state.growth_tracker.item(), c.tracker_after);
  }
}

TEST(UpdateScale, SeveralFoundInfsCountAsOneBadStep) {
  const ScaleState state({.scale = 4, .good_steps = 3}, get_default_device());
  const std::vector<Array> found_infs{zero(), full({}, 1, {.dtype = kFloat}).array(),
                                      full({}, 1, {.dtype = kFloat}).array()};
  update_scale(state, found_infs, {});
  EXPECT_EQ(state.scale.item(), 2);
  EXPECT_EQ(found_infs[0].item(), 0);  // unchanged: outcomes still read it
}

// Lowers the interval below the tracker: interval 10, 5 good steps, then interval 3.
TEST(UpdateScale, LoweringTheIntervalDoesNotFreezeGrowth) {
  const ScaleState state({.scale = 4, .good_steps = 0}, get_default_device());
  const std::vector<Array> good{zero()};
  for (int k = 0; k < 5; ++k) update_scale(state, good, {.growth_interval = 10});
  EXPECT_EQ(state.scale.item(), 4);
  for (int k = 0; k < 7; ++k) update_scale(state, good, {.growth_interval = 3});
  EXPECT_EQ(state.scale.item(), 32);  // at once, then after 3 and after 6
}

TEST(UpdateScale, HysteresisCountsConsecutiveBadSteps) {
  const ScaleState state({.scale = 1024, .good_steps = 0}, get_default_device());
  const std::vector<Array> good{zero()};
  const std::vector<Array> bad{full({}, 1, {.dtype = kFloat}).array()};
  const struct {
    bool is_bad;
    double scale_after;
  } steps[] = {{true, 1024}, {false, 1024}, {true, 1024}, {true, 512},
               {true, 256},  {false, 256},  {true, 256},  {true, 128}};
  for (const auto& step : steps) {
    update_scale(state, step.is_bad ? bad : good, {.hysteresis = 2});
    EXPECT_EQ(state.scale.item(), step.scale_after);
    EXPECT_EQ(state.growth_tracker.item(), step.is_bad ? 0 : 1);
  }
}

TEST(UpdateScale, PermanentOverflowEndsAtAScaleOfZero) {
  const ScaleState state({.scale = 65536, .good_steps = 0}, get_default_device());
  const std::vector<Array> bad{full({}, 1, {.dtype = kFloat}).array()};
  int backoffs = 0;
  for (; std::isfinite(state.inv_scale.item()); ++backoffs) update_scale(state, bad, {});
  EXPECT_EQ(backoffs, 144);
  EXPECT_EQ(state.scale.item(), 0x1p-128);
  for (; state.scale.item() != 0; ++backoffs) update_scale(state, bad, {});
  EXPECT_EQ(backoffs, 166);
}

TEST(UpdateScale, AScaleAtItsLimitHasNotGrown) {
  const ScaleState state({.scale = 6, .good_steps = 0}, get_default_device());
  const std::vector<Array> good{zero()};
  for (int k = 0; k < 3; ++k) update_scale(state, good, {.growth_interval = 1, .max_scale = 16});
  EXPECT_EQ(state.scale.item(), 16);
  EXPECT_EQ(state.counters.select(0, ScaleState::growths).item(), 2);
}

TEST(UpdateScale, CountsStepsGrowthsAndBackoffs) {
  const ScaleState state({.scale = 0x1p126, .good_steps = 0}, get_default_device());
  const std::vector<Array> good{zero()};
  const std::vector<Array> bad{full({}, 1, {.dtype = kFloat}).array()};
  for (int k = 0; k < 3; ++k) update_scale(state, good, {.growth_interval = 1});
  update_scale(state, bad, {});
  update_scale(state, bad, {});
  const Array executed = state.counters.select(0, ScaleState::steps);
  const Array skipped = state.counters.select(0, ScaleState::skipped_steps);
  for (const Array& found_inf : {good[0], bad[0], bad[0]}) {
    count_step(found_inf, skipped, executed);
  }
  const auto count = Tensor(state.counters).to_vector<std::int64_t>();
  EXPECT_EQ(count[ScaleState::growths], 1);  // the second would have been infinite
  EXPECT_EQ(count[ScaleState::backoffs], 2);
  EXPECT_EQ(count[ScaleState::steps], 1);
  EXPECT_EQ(count[ScaleState::skipped_steps], 2);
}

TEST(ScaleState, NewScaleOfAnyShapeAndDType) {
  for (const DType dtype : kAllDTypes) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}}) {
      const ScaleState state({.scale = 4, .good_steps = 7}, get_default_device());
      state.reset_scale(full(shape, 1, {.dtype = dtype}).array());
      EXPECT_EQ(state.scale.item(), 1) << name(dtype);
      EXPECT_EQ(state.inv_scale.item(), 1);
      EXPECT_EQ(state.growth_tracker.item(), 7);
    }
  }
}

TEST(ScaleState, AScaleThatWasSetDoesNotChangeTheNextUpdate) {
  const ScaleState state({.scale = 4, .good_steps = 0}, get_default_device());
  state.set_scale(full({}, 64, {.dtype = kFloat}).array());
  EXPECT_EQ(state.scale.item(), 64);
  EXPECT_EQ(state.inv_scale.item(), 1.0 / 64);
  update_scale(state, std::vector<Array>{zero()}, {.growth_interval = 1});
  EXPECT_EQ(state.scale.item(), 8);
}

// A captured graph keeps these arrays.
TEST(ScaleState, ChangesInPlace) {
  const ScaleState state({.scale = 4, .good_steps = 0}, get_default_device());
  const Array scale = state.scale, inv_scale = state.inv_scale, tracker = state.growth_tracker;
  const std::vector<Array> good{zero()};
  update_scale(state, good, {.growth_interval = 2});
  EXPECT_EQ(tracker.item(), 1);
  update_scale(state, good, {.growth_interval = 2});
  EXPECT_EQ(scale.item(), 8);
  EXPECT_EQ(inv_scale.item(), 0.125);
  EXPECT_EQ(tracker.item(), 0);
  state.reset_scale(full({1}, 2, {.dtype = kDouble}).array());
  EXPECT_EQ(scale.item(), 2);
  EXPECT_EQ(inv_scale.item(), 0.5);
}

}  // namespace
}  // namespace halfgrad::detail
