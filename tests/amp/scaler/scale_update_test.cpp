#include <halfgrad/amp/scale_update.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/loss_scalers/loss_scalers.h>
#include <halfgrad/amp/loss_scalers/next_by_rule.h>
#include <halfgrad/amp/loss_scalers/replay.h>
#include <halfgrad/amp/scale_state.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/tests/amp/scaler/loss_scaler_models.h>
#include <halfgrad/tests/amp/training/random_traces.h>
#include <halfgrad/tests/thorough.h>

/// The state machines of the field compared with models written from each project's source.
namespace halfgrad::amp {
namespace {

using models::kModels;
using models::Model;

TEST(ScaleUpdate, EverySystemFollowsItsModel) {
  ASSERT_EQ(kModels.size(), loss_scalers().size());
  for (const LossScaler& scaler : loss_scalers()) {
    SCOPED_TRACE(scaler.name);
    std::mt19937_64 random(7);
    for (int repeat = 0; repeat < (kThorough ? 8 : 1); ++repeat) {
      Model model = kModels.at(scaler.name)();
      LossScale state = initial_scale(scaler.options);
      const std::vector<bool> trace = random_trace(random, 40000);
      for (std::size_t step = 0; step < trace.size(); ++step) {
        state = next(state, trace[step], scaler.options).state;
        ASSERT_EQ(state.scale, model(trace[step])) << "after step " << step;
      }
    }
  }
}

TEST(ScaleUpdate, FirstGrowth) {
  const std::map<std::string_view, int> expected{{"RoundPipe", 2001},   {"Apex fp16_utils", 1000},
                                                 {"Megatron-LM", 1000}, {"DeepSpeed", 1001},
                                                 {"ColossalAI", 1000},  {"flax", 2001},
                                                 {"MXNet", 2001},       {"Paddle AmpScaler", 1000},
                                                 {"Flashlight", 1},     {"nnabla", 2002},
                                                 {"Chainer", 1}};
  for (const LossScaler& scaler : loss_scalers()) {
    if (scaler.name == "OpenSeq2Seq") continue;  // starts at its largest scale
    LossScale state = initial_scale(scaler.options);
    const double first = state.scale;
    int step = 0;
    while (state.scale == first && step < 4000) {
      state = next(state, false, scaler.options).state;
      ++step;
    }
    const auto found = expected.find(scaler.name);
    EXPECT_EQ(step, found != expected.end() ? found->second : 2000) << scaler.name;
  }
}

/// The array form that a GradScaler runs on its device equals the value form.
TEST(ScaleUpdate, DeviceStateFollowsEverySystem) {
  for (const LossScaler& scaler : loss_scalers()) {
    SCOPED_TRACE(scaler.name);
    std::mt19937_64 random(3);
    LossScale state = initial_scale(scaler.options);
    const halfgrad::detail::ScaleState device(state, get_default_device());
    const std::vector<Array> good{full({}, 0, {.dtype = kFloat}).array()};
    const std::vector<Array> bad{full({}, 1, {.dtype = kFloat}).array()};
    for (const bool is_bad : random_trace(random, 6000)) {
      const ScaleUpdate update = next(state, is_bad, scaler.options);
      state = update.state;
      halfgrad::detail::update_scale(device, is_bad ? bad : good, scaler.options);
      const LossScale got = device.read();
      ASSERT_EQ(got.scale, state.scale);
      ASSERT_EQ(got.next_scale, state.next_scale);
      ASSERT_EQ(got.good_steps, state.good_steps);
      ASSERT_EQ(got.bad_steps, state.bad_steps);
      ASSERT_EQ(device.event.item(), static_cast<double>(update.event));
    }
  }
}

/// Traces with random factors and intervals; RoundPipe's rule gives the same scales one iteration
/// late.
TEST(ScaleUpdate, EqualsPyTorchsStateMachineOnRandomTraces) {
  std::mt19937_64 random(11);
  for (int repeat = 0; repeat < (kThorough ? 1000 : 50); ++repeat) {
    const GradScalerOptions options = random_options(random);
    float scale = static_cast<float>(options.init_scale);
    int tracker = 0;
    GradScalerOptions late_options = options;
    late_options.rule = loss_scaler("RoundPipe").options.rule;
    LossScale state = initial_scale(options), late = state;
    const std::vector<bool> trace = random_trace(random, 10000);
    for (std::size_t step = 0; step < trace.size(); ++step) {
      late = next(late, trace[step], late_options).state;
      ASSERT_EQ(late.scale, scale) << "trace " << repeat << ", step " << step;
      if (trace[step]) {
        scale = static_cast<float>(scale * options.backoff_factor);
        tracker = 0;
      } else if (++tracker == options.growth_interval) {
        const auto higher = static_cast<float>(scale * options.growth_factor);
        if (std::isfinite(higher)) scale = higher;
        tracker = 0;
      }
      state = next(state, trace[step], options).state;
      ASSERT_EQ(state.scale, scale) << "trace " << repeat << ", step " << step;
      ASSERT_EQ(state.good_steps, tracker) << "trace " << repeat << ", step " << step;
    }
  }
}

/// The rule of other projects, without their differences, is PyTorch's.
TEST(ScaleUpdate, RuleOfOtherProjectsDefaultsToPyTorchs) {
  std::mt19937_64 random(13);
  for (int repeat = 0; repeat < 50; ++repeat) {
    GradScalerOptions options = random_options(random);
    options.hysteresis = 1 + repeat % 3;
    options.min_scale = repeat % 2 == 0 ? 0 : options.init_scale / 8;
    options.max_scale = repeat % 5 == 0 ? options.init_scale * 8 : options.max_scale;
    LossScale state = initial_scale(options);
    for (const bool is_bad : random_trace(random, 2000)) {
      const ScaleUpdate expected = next(state, is_bad, options);
      const ScaleUpdate got = halfgrad::detail::next_by_rule(state, is_bad, options);
      ASSERT_EQ(got.state.scale, expected.state.scale);
      ASSERT_EQ(got.state.next_scale, expected.state.next_scale);
      ASSERT_EQ(got.state.good_steps, expected.state.good_steps);
      ASSERT_EQ(got.state.bad_steps, expected.state.bad_steps);
      ASSERT_EQ(got.event, expected.event);
      state = expected.state;
    }
  }
}

TEST(ScaleUpdate, Events) {
  const GradScalerOptions options{
      .growth_interval = 2, .min_scale = 2, .max_scale = 8, .hysteresis = 2};
  const struct {
    LossScale state;
    bool found_inf;
    ScaleEvent event;
  } cases[] = {
      {{.scale = 4}, false, ScaleEvent::none},
      {{.scale = 4, .good_steps = 1}, false, ScaleEvent::growth},
      {{.scale = 8, .good_steps = 1}, false, ScaleEvent::limited},
      {{.scale = 4}, true, ScaleEvent::tolerated},
      {{.scale = 4, .bad_steps = 1}, true, ScaleEvent::backoff},
      {{.scale = 2, .bad_steps = 1}, true, ScaleEvent::limited},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(name(next(c.state, c.found_inf, options).event), name(c.event))
        << c.state.scale << ", found_inf " << c.found_inf;
  }
}

TEST(ScaleUpdate, ReplayCountsWastedAndLowSteps) {
  const GradScalerOptions options{.init_scale = 16, .growth_interval = 2};
  // Scales 16, 8, 4, 4, 8, 4, 4: the steps that overflow halve it, two good ones double it.
  const ReplayResult result = replay(options, {4, 4, 4, 4, 4, 4, std::nan("")});
  EXPECT_EQ(result.wasted, 4);
  EXPECT_EQ(result.below, 0);
  EXPECT_EQ(result.final_scale, 2);
  const ReplayResult low = replay(options, {64, 64, 64, 64, 64});
  EXPECT_EQ(low.below, 4);  // 16, 16, 32, 32 are at most half of 64
  EXPECT_EQ(low.final_scale, 64);
}

TEST(ScaleUpdate, RefusesAnUnknownSystem) {
  EXPECT_EQ(loss_scaler("Keras").options.init_scale, 0x1p15);
  EXPECT_THROW(loss_scaler("keras"), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::amp
