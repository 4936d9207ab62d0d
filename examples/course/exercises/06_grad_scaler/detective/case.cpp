// A training with a dynamic loss scale: four weights move towards four targets. Gradients overflow
// and underflow as in fp16.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>

constexpr std::size_t kWeights = 4;
using Vector = std::array<double, kWeights>;

constexpr Vector kTargets = {1.0, 0.1, 1e-4, 1e-6};
constexpr double kRate = 0.5;
constexpr double kMaxNorm = 0.25;
constexpr int kGrowthInterval = 5;
constexpr int kBrokenBatch = 18;  // every 18th batch has a broken sample

// x as fp16 holds it, except that the fraction keeps all its bits.
double to_half(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude <= 0x1p-25) return 0;
  if (magnitude >= 65520) return std::copysign(std::numeric_limits<double>::infinity(), x);
  return x;
}

double loss_of(const Vector& weights) {
  double loss = 0;
  for (std::size_t i = 0; i < kWeights; ++i) {
    loss += 0.5 * (weights[i] - kTargets[i]) * (weights[i] - kTargets[i]);
  }
  return loss;
}

// Shrinks the gradients to the norm kMaxNorm if theirs is larger.
void clip(Vector& gradients) {
  double squares = 0;
  for (const double gradient : gradients) squares += gradient * gradient;
  const double norm = std::sqrt(squares);
  if (norm <= kMaxNorm) return;
  for (double& gradient : gradients) gradient *= kMaxNorm / norm;
}

int main() {
  Vector weights = {};
  Vector gradients = {};
  double scale = 0x1p20;
  int good_steps = 0;
  int skipped = 0;
  for (int step = 1; step <= 60; ++step) {
    gradients = {};
    // bug gradients_kept: if (step == 1) gradients = {};
    // why gradients_kept: Gradients are never set to 0: each step adds to the last one's.
    for (std::size_t i = 0; i < kWeights; ++i) {
      gradients[i] += to_half(scale * (weights[i] - kTargets[i]));
      // bug scaled_too_late: gradients[i] += scale * to_half(weights[i] - kTargets[i]);
      // why scaled_too_late: Gradients are rounded to fp16 before they are scaled.
    }
    if (step % kBrokenBatch == 0) gradients[0] = std::nan("");
    bool found_inf = false;
    for (const double gradient : gradients) {
      found_inf = found_inf || !std::isfinite(gradient);
      // bug last_decides: found_inf = !std::isfinite(gradient);
      // why last_decides: Only the last gradient decides whether the step is skipped.
    }
    const double factor = 1 / scale;
    if (found_inf) {
      scale *= 0.5;
      good_steps = 0;
      // bug tracker_kept_after_bad: static_cast<void>(good_steps);
      // why tracker_kept_after_bad: A bad step leaves the counter: the scale grows too early.
      ++skipped;
    } else {
      for (double& gradient : gradients) gradient *= factor;
      // bug clipped_too_early: clip(gradients);
      // bug clipped_too_early: for (double& gradient : gradients) gradient *= factor;
      // why clipped_too_early: The norm of scaled gradients is clipped, which makes the steps tiny.
      clip(gradients);
      for (std::size_t i = 0; i < kWeights; ++i) weights[i] -= kRate * gradients[i];
      ++good_steps;
      if (good_steps >= kGrowthInterval) {
        good_steps = 0;
        // bug tracker_kept_after_growth: static_cast<void>(good_steps);
        // why tracker_kept_after_growth: After the first growth the scale doubles in every step.
        scale *= 2;
      }
    }
    if (step % 20 != 0) continue;
    std::printf("loss_%d = %.6g\n", step, loss_of(weights));
    std::printf("log2_scale_%d = %g\n", step, std::log2(scale));
  }
  std::printf("skipped = %d\n", skipped);
  for (std::size_t i = 0; i < kWeights; ++i) {
    std::printf("error_%zu = %.3g\n", i, std::fabs(weights[i] - kTargets[i]) / kTargets[i]);
  }
}
