#pragma once

#include <vector>

#include "exercise_device.h"

/// The memory of the device: a training with gradient clipping and a loss scale.
struct State {
  std::vector<double> w;                ///< weights
  std::vector<double> scaled_gradient;  ///< as many; multiplied by the scale
  double scale = 1024;
  double rate = 0.1;    ///< learning rate of the next step
  double max_norm = 1;  ///< gradients with a larger norm are clipped to it
  int step = 0;
  bool found_inf = false;  ///< yours to use, as is `factor`
  double factor = 1;
};

using Device = model::Device<State>;

/// A kernel: computes the scaled gradient of the next batch, and counts the step. Given.
void load_gradient(State& state);

/// Queues one step. It must do, after load_gradient and in this order:
///
///     found_inf = an element of scaled_gradient is inf or NaN
///     norm      = sqrt(sum of (scaled_gradient[i] / scale)^2)
///     factor    = min(1, max_norm / norm);  1 for a norm of 0
///     w[i]     -= rate * factor * scaled_gradient[i] / scale     unless found_inf
///     scale    *= 0.5                                            if found_inf
///     rate     *= 0.9
///
/// The grader captures it once and replays the graph: the host may neither wait nor decide.
void queue_step(Device& device);
