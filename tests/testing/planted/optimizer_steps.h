#pragma once

#include <cmath>

#include <halfgrad/tests/testing/planted/calls.h>

/// Steps of optimizers, right ones and ones with a usual mistake.
namespace halfgrad::testing::planted {

inline void sgd_step(const Calls& c, int mistake) {
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float g = c.x(1, i) * (mistake == 1 ? 1 : c.x(3, 0));
    const float buffer = 0.9F * c.x(2, i) + (mistake == 2 ? 0.1F : 1) * g;
    c.y(1, i, buffer);
    c.y(0, i, c.x(0, i) - 0.01F * buffer);
  }
}

/// PyTorch's formula, with 1 - beta in float32.
inline void adam_of_pytorch(const Calls& c, int) {
  const float correction1 = static_cast<float>(1 - std::pow(0.9, 10));
  const float correction2 = static_cast<float>(std::sqrt(1 - std::pow(0.999, 10)));
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float g = c.x(1, i) * c.x(4, 0);
    const float m = 0.9F * c.x(2, i) + (1 - 0.9F) * g;
    const float v = 0.999F * c.x(3, i) + (1 - 0.999F) * g * g;
    const float divisor = std::sqrt(v) / correction2 + 1e-8F;
    c.y(0, i, c.x(0, i) - 0.001F / correction1 * (m / divisor));
    c.y(1, i, m);
    c.y(2, i, v);
  }
}

inline void adam(const Calls& c, int mistake, float decay) {
  const float correction1 = static_cast<float>(1 - std::pow(0.9, 10));
  const float correction2 = static_cast<float>(1 - std::pow(0.999, 10));
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float g = c.x(1, i) * c.x(4, 0);
    const float m = c.x(2, i) + 0.1F * (g - c.x(2, i)), v = 0.999F * c.x(3, i) + 0.001F * g * g;
    const float hat = mistake == 1 ? v : v / correction2;
    const float divisor = mistake == 2   ? std::sqrt(hat + 1e-8F)
                          : mistake == 6 ? (std::sqrt(v) + 1e-8F) / std::sqrt(correction2)
                                         : std::sqrt(hat) + (mistake == 7 ? 0 : 1e-8F);
    float p = c.x(0, i);
    if (mistake != 3) p *= 1 - 0.001F * decay;
    p -= 0.001F * (m / correction1) / divisor;
    if (mistake == 3) p -= 0.001F * c.x(0, i) * decay * decay;
    if (mistake == 5) p = (c.x(0, i) - 0.001F * (m / correction1) / divisor) * (1 - 0.001F * decay);
    c.y(0, i, p);
    c.y(1, i, m);
    c.y(2, i, mistake == 4 ? 0.999F * c.x(3, i) + 0.001F * g : v);
  }
}
inline void adam_step(const Calls& c, int mistake) { adam(c, mistake, 0); }
inline void adamw_step(const Calls& c, int mistake) { adam(c, mistake, 0.01F); }

}  // namespace halfgrad::testing::planted
