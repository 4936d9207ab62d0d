// Exercise 11: a step that a graph can hold.
#include "exercise.h"

#include <algorithm>
#include <cmath>

// solution begin
// blank: // Runs, and is right, but the host reads the device and decides: change that.
// blank: void queue_step(Device& device) {
// blank:   device.launch(load_gradient);
// blank:   const State now = device.read();
// blank:   bool found_inf = false;
// blank:   double squares = 0;
// blank:   for (const double g : now.scaled_gradient) {
// blank:     found_inf = found_inf || !std::isfinite(g);
// blank:     squares += (g / now.scale) * (g / now.scale);
// blank:   }
// blank:   const double norm = std::sqrt(squares);
// blank:   const double factor = norm > 0 ? std::min(1.0, now.max_norm / norm) : 1;
// blank:   if (!found_inf) {
// blank:     device.launch([rate = now.rate, factor](State& s) {
// blank:       for (std::size_t i = 0; i < s.w.size(); ++i) {
// blank:         s.w[i] -= rate * factor * s.scaled_gradient[i] / s.scale;
// blank:       }
// blank:     });
// blank:   }
// blank:   device.launch([found_inf](State& s) {
// blank:     if (found_inf) s.scale *= 0.5;
// blank:     s.rate *= 0.9;
// blank:   });
// blank: }
namespace {

// Kernels: functions of the device's memory alone.
void choose_factor(State& s) {
  double squares = 0;
  s.found_inf = false;
  for (const double g : s.scaled_gradient) {
    s.found_inf = s.found_inf || !std::isfinite(g);
    squares += (g / s.scale) * (g / s.scale);
  }
  const double norm = std::sqrt(squares);
  s.factor = norm > 0 ? std::min(1.0, s.max_norm / norm) : 1;
}

void update(State& s) {
  if (s.found_inf) return;
  for (std::size_t i = 0; i < s.w.size(); ++i) {
    s.w[i] -= s.rate * s.factor * s.scaled_gradient[i] / s.scale;
  }
}

void end_step(State& s) {
  if (s.found_inf) s.scale *= 0.5;
  s.rate *= 0.9;
}

}  // namespace

void queue_step(Device& device) {
  device.launch(load_gradient);
  device.launch(choose_factor);
  device.launch(update);
  device.launch(end_step);
}
// solution end
