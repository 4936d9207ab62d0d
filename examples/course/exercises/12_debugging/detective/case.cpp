// A training loop in mixed precision, written by hand: fp16 weights and gradients, fp32 masters, a
// loss scale, clipping. It learns y = sum of 3 x, with 4 weights. Sample 25 is broken.
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include <halfgrad/core/numbers/number_format.h>

using Vector = std::vector<double>;

double half(double x) { return halfgrad::rounded_to(halfgrad::kFp16, x); }

/// The input of a step. All of them are small, so gradients are small, too.
Vector input(int step) {
  Vector x(4);
  for (int i = 0; i < 4; ++i) x[i] = (1 + (step * 7 + i * 3) % 5) / 512.0;
  return x;
}

struct Training {
  Vector masters = {0, 0, 0, 0};
  double scale = 1 << 20, max_norm = 0.05, rate = 500;
  int good_steps = 0, skipped = 0, clipped = 0;
  double last_loss = 0;
  Vector weights = {0, 0, 0, 0};  // in fp16

  void step(int number) {
    for (int i = 0; i < 4; ++i) {
      weights[i] = half(masters[i]);
      // bug stale_copy: if (number == 0) weights[i] = half(masters[i]);
      // why stale_copy: The fp16 copy is made once, so the forward pass sees no update.
    }
    const Vector x = input(number);
    double y = 0, target = 0;
    for (int i = 0; i < 4; ++i) {
      y += weights[i] * x[i];
      target += 3 * x[i];
    }
    if (number == 25) target = std::numeric_limits<double>::infinity();
    last_loss = (y - target) * (y - target);

    Vector gradient(4);
    for (int i = 0; i < 4; ++i) {
      gradient[i] = half(2 * (y - target) * x[i] * scale);
      // bug unscaled_loss: gradient[i] = half(2 * (y - target) * x[i]) * scale;
      // why unscaled_loss: Rounds to fp16 before scaling: small gradients are lost already.
    }
    bool found_inf = false;
    for (const double g : gradient) {
      found_inf = found_inf || !std::isfinite(g);
      // bug checks_last: found_inf = g > 65504;
      // why checks_last: Only the last gradient counts, and only if positive.
    }
    if (found_inf) {
      scale *= 0.5;
      good_steps = 0;
      // bug tracker_kept:
      // why tracker_kept: A bad step does not reset the count, so the scale grows too early.
      ++skipped;
      return;
    }
    for (double& g : gradient) {
      g /= scale;
      // bug never_unscaled: g /= 1;
      // why never_unscaled: Gradients keep the scale, so every step is clipped.
    }
    double norm = 0;
    for (const double g : gradient) norm += g * g;
    norm = std::sqrt(norm);
    if (norm > max_norm) {
      for (double& g : gradient) g *= max_norm / norm;
      ++clipped;
    }
    for (int i = 0; i < 4; ++i) {
      masters[i] -= rate * gradient[i];
      // bug updates_copy: masters[i] = weights[i] - rate * gradient[i];
      // why updates_copy: Starts from the fp16 copy: what it cannot hold is lost in each step.
    }
    if (++good_steps == 20) {
      scale *= 2;
      // bug no_growth:
      // why no_growth: The scale never grows back after a back-off.
      good_steps = 0;
    }
  }
};

int main() {
  Training training;
  double losses = 0;
  for (int step = 0; step < 84; ++step) {
    training.step(step);
    if (step >= 74) losses += training.last_loss / 10;
  }
  std::printf("last_loss = %.6g\n", losses);
  std::printf("first_weight = %.9g\n", training.masters[0]);
  std::printf("skipped = %d\n", training.skipped);
  std::printf("clipped = %d\n", training.clipped);
  std::printf("scale = %g\n", training.scale);
}
