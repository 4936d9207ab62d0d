#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string_view>

/// Models of the field's loss scalers, each written from its project's source.
namespace halfgrad::amp::models {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// A scaler as its authors wrote it: maps whether a step was bad to the next step's scale.
using Model = std::function<float(bool bad)>;

inline Model torch_model(float scale, int interval, float growth = 2, float backoff = 0.5) {
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

/// Delays another model: found_inf of iteration k changes the scale of iteration k + 2.
inline Model late(float first, const std::function<float(float, bool, int&)>& u) {
  return [=, coming = first, tracker = 0](bool bad) mutable {
    const float used = coming;
    coming = u(used, bad, tracker);
    return used;
  };
}

inline float torch_step(float scale, bool bad, int& tracker) {
  if (bad) {
    tracker = 0;
    return scale / 2;
  }
  if (++tracker < 2000) return scale;
  tracker = 0;
  return std::isfinite(scale * 2) ? scale * 2 : scale;
}

inline float mxnet_step(float scale, bool bad, int& tracker) {
  return std::min(torch_step(scale, bad, tracker), 0x1p24F);
}

/// Counts iterations and stores the last bad one.
inline Model apex_fp16_utils() {
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

inline Model deepspeed() {
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
inline Model stocked(float scale, float highest) {
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

inline Model apex_hysteresis() {
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

inline Model limited(float scale, int interval, float lowest, float highest) {
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

inline Model flax() {
  return [scale = 65536.F, steps = 0](bool bad) mutable {
    const bool grow = steps == 2000;
    if (bad) scale = std::max(scale / 2, std::numeric_limits<float>::min());
    if (!bad && grow) scale = std::min(scale * 2, std::numeric_limits<float>::max());
    steps = grow || bad ? 0 : steps + 1;
    return scale;
  };
}

inline Model paddle_amp_scaler() {
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

inline Model flashlight() {
  return [scale = 4096.F](bool bad) mutable {
    if (bad) {
      scale = std::max(scale / 2, 1e-4F);  // the original ends the program there
    } else if (scale < 32000) {
      scale = scale == 2000 ? scale * 2 : scale + 2;
    }
    return scale;
  };
}

inline Model nnabla() {
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

inline Model chainer() {
  return [scale = 65536.F](bool bad) mutable {
    scale = bad ? scale / 2 : static_cast<float>(scale * std::pow(2.0, 1.0 / 1000));
    return scale;
  };
}

inline const std::map<std::string_view, std::function<Model()>> kModels{
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

}  // namespace halfgrad::amp::models
