#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <halfgrad/amp/grad_scaler_options.h>

namespace halfgrad::amp {

/// A random choice of bad steps, single and in runs. Some gaps are long enough for every scaler to
/// grow.
inline std::vector<bool> random_trace(std::mt19937_64& random, int steps) {
  std::vector<bool> trace;
  std::uint64_t rarity = 1;
  while (std::ssize(trace) < steps) {
    if (random() % 2048 == 0) rarity = 1U << random() % 14;
    trace.push_back(random() % rarity == 0 && (rarity > 1 || random() % 2 == 0));
  }
  return trace;
}

/// A random start, factors and interval for PyTorch's rule.
inline GradScalerOptions random_options(std::mt19937_64& random) {
  const float growths[] = {2, 1.5, 1.001F, 4};
  const float backoffs[] = {0.5, 0.25, 0.9F, 0.3F};
  const double init_scale = std::exp2(static_cast<int>(random() % 60) - 20);
  const float growth = growths[random() % 4], backoff = backoffs[random() % 4];
  return {.init_scale = init_scale,
          .growth_factor = growth,
          .backoff_factor = backoff,
          .growth_interval = 1 + static_cast<int>(random() % 400)};
}

}  // namespace halfgrad::amp
