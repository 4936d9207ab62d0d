// Exercise 8: SGD with master weights. Half(x) rounds a float to fp16, float(h) widens it.
#include "exercise.h"

#include <cstddef>

using halfgrad::Half;

void sgd_step(std::vector<float>& master, std::vector<Half>& weight,
              const std::vector<Half>& scaled, float inv_scale, float lr) {
  for (std::size_t i = 0; i < weight.size(); ++i) {
    // solution begin
    // blank: const Half gradient(static_cast<float>(scaled[i]) * inv_scale);
    // blank: weight[i] = Half(static_cast<float>(weight[i]) - lr * static_cast<float>(gradient));
    // blank: master[i] = static_cast<float>(weight[i]);  // what is lost here?
    const float gradient = static_cast<float>(scaled[i]) * inv_scale;
    master[i] -= lr * gradient;
    weight[i] = Half(master[i]);
    // solution end
  }
}
