#include <halfgrad/amp/scale_policy.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/loss_scalers.h>
#include <halfgrad/amp/scale_state.h>

/// The state machines of the field against models of each, written from its source and not from
/// ours.
namespace halfgrad::amp {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// A scaler as its authors wrote it: told whether a step was bad, says the next step's scale.
using Model = std::function<float(bool bad)>;

Model torch_model(float scale, int interval, float growth = 2, float backoff = 0.5) {
  return [=, tracker = 0](bool bad) mutable {
    if (bad) {
      scale *= backoff;
      tracker = 0;
    } else if (++tracker == interval) {
      if (std::isfinite(scale * growth)) scale *= growth;
      tracker = 0;
    }
    return scale;
  };
}

/// u, whose answers to iteration k are used in k + 2.
Model late(float first, const std::function<float(float, bool, int&)>& u) {
  return [=, coming = first, tracker = 0](bool bad) mutable {
    const float used = coming;
    coming = u(used, bad, tracker);
    return used;
  };
}

float torch_step(float scale, bool bad, int& tracker) {
  if (bad) {
    tracker = 0;
    return scale / 2;
  }
  if (++tracker < 2000) return scale;
  tracker = 0;
  return std::isfinite(scale * 2) ? scale * 2 : scale;
}

float mxnet_step(float scale, bool bad, int& tracker) {
  return std::min(torch_step(scale, bad, tracker), 0x1p24F);
}

/// Counts iterations and remembers the last bad one.
Model apex_fp16_utils() {
  return [scale = 0x1p32F, iteration = 0, last_bad = -1](bool bad) mutable {
    if (bad) {
      scale = std::max(scale / 2, 1.F);
      last_bad = iteration;
    } else if ((iteration - last_bad) % 1000 == 0) {
      scale *= 2;
    }
    ++iteration;
    return scale;
  };
}

Model deepspeed() {
  return [scale = 0x1p16F, iteration = 0, last_bad = -1, left = 2](bool bad) mutable {
    const int stable = iteration - last_bad - 1;
    if (bad) {
      if (left == 1) {
        scale = std::max(scale / 2, 1.F);
      } else {
        --left;
      }
      last_bad = iteration;
    } else if (stable > 0 && stable % 1000 == 0) {
      left = 2;
      scale *= 2;
    }
    ++iteration;
    return scale;
  };
}

/// Bad steps use up a stock that only growth refills (Megatron-LM, ColossalAI).
Model stocked(float scale, float highest) {
  return [=, tracker = 0, stock = 2](bool bad) mutable {
    if (bad) {
      tracker = 0;
      if (--stock <= 0) scale = std::max(scale / 2, 1.F);
    } else if (++tracker == 1000) {
      tracker = 0;
      stock = 2;
      scale = std::min(scale * 2, highest);
    }
    return scale;
  };
}

Model apex_hysteresis() {
  return [scale = 0x1p16F, tracker = 0, stock = 2](bool bad) mutable {
    if (bad && --stock > 0) {
      tracker = 0;
      return scale;
    }
    if (bad) {
      scale /= 2;
      tracker = 0;
    } else {
      if (++tracker == 2000) {
        scale *= 2;
        tracker = 0;
      }
      stock = 2;
    }
    return scale;
  };
}

Model limited(float scale, int interval, float lowest, float highest) {
  return [=, counter = 0](bool bad) mutable {
    if (bad) {
      scale = std::max(scale / 2, lowest);
      counter = 0;
    } else {
      if (counter == interval - 1) scale = std::min(scale * 2, highest);
      counter = (counter + 1) % interval;
    }
    return scale;
  };
}

Model flax() {
  return [scale = 65536.F, steps = 0](bool bad) mutable {
    const bool grow = steps == 2000;
    if (bad) scale = std::max(scale / 2, std::numeric_limits<float>::min());
    if (!bad && grow) scale = std::min(scale * 2, std::numeric_limits<float>::max());
    steps = grow || bad ? 0 : steps + 1;
    return scale;
  };
}

Model paddle_amp_scaler() {
  return [scale = 0x1p15F, good = 0, bad_count = 0](bool bad) mutable {
    if (bad) {
      good = 0;
      if (++bad_count == 2) {
        scale /= 2;
        bad_count = 0;
      }
    } else {
      bad_count = 0;
      if (++good == 1000) {
        scale *= 2;
        good = 0;
      }
    }
    return scale;
  };
}

Model flashlight() {
  return [scale = 4096.F](bool bad) mutable {
    if (bad) {
      scale = std::max(scale / 2, 1e-4F);  // there is where its program ends
    } else if (scale < 32000) {
      scale = scale == 2000 ? scale * 2 : scale + 2;
    }
    return scale;
  };
}

Model nnabla() {
  return [scale = 8.F, counter = 0](bool bad) mutable {
    if (bad) {
      scale /= 2;
      counter = 0;
      return scale;
    }
    if (counter > 2000) {
      scale *= 2;
      counter = 0;
    }
    ++counter;
    return scale;
  };
}

Model chainer() {
  return [scale = 65536.F](bool bad) mutable {
    scale = bad ? scale / 2 : static_cast<float>(scale * std::pow(2.0, 1.0 / 1000));
    return scale;
  };
}

const std::map<std::string_view, std::function<Model()>> kModels{
    {"PyTorch", [] { return torch_model(0x1p16F, 2000); }},
    {"FSDP", [] { return limited(0x1p16F, 2000, 0, kInfinite); }},
    {"RoundPipe", [] { return late(0x1p16F, torch_step); }},
    {"Apex", [] { return limited(0x1p16F, 2000, 0, 0x1p24F); }},
    {"Apex fp16_utils", apex_fp16_utils},
    {"Apex hysteresis", apex_hysteresis},
    {"Megatron-LM", [] { return stocked(0x1p32F, kInfinite); }},
    {"DeepSpeed", deepspeed},
    {"ColossalAI", [] { return stocked(0x1p16F, 0x1p32F); }},
    {"Keras", [] { return limited(0x1p15F, 2000, 0, kInfinite); }},
    {"jmp", [] { return limited(0x1p15F, 2000, 1, 0x1p127F); }},
    {"flax", flax},
    {"Paddle", [] { return limited(0x1p16F, 2000, 0, kInfinite); }},
    {"Paddle AmpScaler", paddle_amp_scaler},
    {"MindSpore", [] { return limited(0x1p15F, 2000, 1, 0x1p127F); }},
    {"MindSpore manager", [] { return limited(0x1p24F, 2000, 1, kInfinite); }},
    {"MXNet", [] { return late(0x1p16F, mxnet_step); }},
    {"Flashlight", flashlight},
    {"nnabla", nnabla},
    {"OpenSeq2Seq", [] { return limited(0x1p24F, 2000, 1, 0x1p24F); }},
    {"Chainer", chainer},
};

/// Bad steps alone and in rows, far enough apart, at times, for every scaler to grow.
std::vector<bool> random_trace(std::mt19937_64& random, int steps) {
  std::vector<bool> trace;
  std::uint64_t rarity = 1;
  while (std::ssize(trace) < steps) {
    if (random() % 2048 == 0) rarity = 1U << random() % 14;
    trace.push_back(random() % rarity == 0 && (rarity > 1 || random() % 2 == 0));
  }
  return trace;
}

TEST(ScalePolicy, EverySystemFollowsItsModel) {
  ASSERT_EQ(kModels.size(), loss_scalers().size());
  for (const LossScaler& scaler : loss_scalers()) {
    SCOPED_TRACE(scaler.name);
    std::mt19937_64 random(7);
    for (int repeat = 0; repeat < 8; ++repeat) {
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

TEST(ScalePolicy, FirstGrowth) {
  const std::map<std::string_view, int> expected{{"RoundPipe", 2001},   {"Apex fp16_utils", 1000},
                                                 {"Megatron-LM", 1000}, {"DeepSpeed", 1001},
                                                 {"ColossalAI", 1000},  {"flax", 2001},
                                                 {"MXNet", 2001},       {"Paddle AmpScaler", 1000},
                                                 {"Flashlight", 1},     {"nnabla", 2002},
                                                 {"Chainer", 1}};
  for (const LossScaler& scaler : loss_scalers()) {
    if (scaler.name == "OpenSeq2Seq") continue;  // starts at its largest
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
TEST(ScalePolicy, DeviceStateFollowsEverySystem) {
  for (const LossScaler& scaler : loss_scalers()) {
    SCOPED_TRACE(scaler.name);
    std::mt19937_64 random(3);
    LossScale state = initial_scale(scaler.options);
    const halfgrad::detail::ScaleState device(state, {});
    const std::vector<Array> good{Array::full({}, 0, kFloat)};
    const std::vector<Array> bad{Array::full({}, 1, kFloat)};
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

/// 1,000 traces of 10,000 steps, with other factors and intervals in each.
TEST(ScalePolicy, EqualsPyTorchsStateMachineOnRandomTraces) {
  std::mt19937_64 random(11);
  const float growths[] = {2, 1.5, 1.001F, 4};
  const float backoffs[] = {0.5, 0.25, 0.9F, 0.3F};
  for (int repeat = 0; repeat < 1000; ++repeat) {
    const GradScalerOptions options{.init_scale = std::exp2(static_cast<int>(random() % 60) - 20),
                                    .growth_factor = growths[random() % 4],
                                    .backoff_factor = backoffs[random() % 4],
                                    .growth_interval = 1 + static_cast<int>(random() % 400)};
    float scale = static_cast<float>(options.init_scale);
    int tracker = 0;
    LossScale state = initial_scale(options);
    const std::vector<bool> trace = random_trace(random, 10000);
    for (std::size_t step = 0; step < trace.size(); ++step) {
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

TEST(ScalePolicy, Events) {
  const GradScalerOptions options{
      .growth_interval = 2, .min_scale = 2, .max_scale = 8, .hysteresis = 2};
  const struct {
    LossScale state;
    bool found_inf;
    ScaleEvent event;
  } cases[] = {
      {{.scale = 4}, false, ScaleEvent::none},
      {{.scale = 4, .good_steps = 1}, false, ScaleEvent::growth},
      {{.scale = 8, .good_steps = 1}, false, ScaleEvent::hold},
      {{.scale = 4}, true, ScaleEvent::hold},
      {{.scale = 4, .bad_steps = 1}, true, ScaleEvent::backoff},
      {{.scale = 2, .bad_steps = 1}, true, ScaleEvent::hold},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(name(next(c.state, c.found_inf, options).event), name(c.event))
        << c.state.scale << ", found_inf " << c.found_inf;
  }
}

TEST(ScalePolicy, UnknownSystem) {
  EXPECT_EQ(loss_scaler("Keras").options.init_scale, 0x1p15);
  EXPECT_THROW(loss_scaler("keras"), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::amp
