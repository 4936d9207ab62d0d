#pragma once

#include <vector>

#include "options.h"
#include "training.h"

/// Handwritten digits: says which, and trains in every precision asked for.
std::vector<TrainingReport> run_digits(const Options& options);

/// A network whose gradients are too small for fp16 without loss scaling, and why.
struct UnderflowReport {
  TrainingReport training;
  double first_flushed = 0, last_flushed = 0;  ///< share of dL/dy that is zero: two epochs' means
};
std::vector<UnderflowReport> run_underflow(const Options& options);
