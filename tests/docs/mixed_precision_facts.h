#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// Figures of docs/mixed-precision.md, computed by halfgrad.
namespace halfgrad::tests {

/// The membrane task of data/synthetic.h: one batch, and its size.
inline constexpr std::int64_t kBatch = 128;
inline constexpr std::int64_t kPoints = 784;
inline constexpr std::int64_t kElements = kBatch * kPoints;

/// The page's training step, run by Autocast, GradScaler and Adam on one neuron.
struct StepFacts {
  Tensor h, h16, w, w16, y16, y32, loss, scaled_loss;
  Tensor dscaled, dloss, dy32, dy16, dw16, dw32;  ///< gradients, as backward() computed them
  Tensor gradient;                                ///< w.grad after unscale_()
  Tensor m, v, new_w;
  float target;
};
StepFacts run_step(double scale);

/// Gradients dL/dy of a batch of the membrane task for a network that answers 0.
struct MembraneFacts {
  double largest_deflection;
  double mean_gradient;
  std::vector<double> gradients;  ///< magnitudes, in float64
};
MembraneFacts measure_membrane();
/// The part of dL/dy that is 0 in fp16 when the loss is multiplied by `scale`.
double flushed_to_zero(double scale);

/// One step of the page's ten, by a GradScaler at work.
struct TraceRow {
  double input;
  double scale;     ///< by which this step's loss is multiplied
  double gradient;  ///< w.grad as backward() left it: rounded to float16
  bool skipped;
  double weight;     ///< after the step
  int tracker;       ///< after update()
  double new_scale;  ///< after update()
};
std::vector<TraceRow> run_trace();

}  // namespace halfgrad::tests
