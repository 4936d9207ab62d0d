#pragma once

#include <vector>

#include <halfgrad/report/run_report.h>

#include "options.h"
#include "training.h"

/// Loads the digits. `options` must outlive the task.
Task digits_task(const Options& options, halfgrad::RunReport* page);

/// Trains on handwritten digits in every requested precision. Records each step in `page`, unless
/// it is nullptr.
std::vector<TrainingReport> run_digits(const Options& options, halfgrad::RunReport* page);

/// The training of a network whose gradients are too small for fp16 without loss scaling.
struct UnderflowReport {
  TrainingReport training;
  /// Mean fraction of zeros in dL/dy over the first and over the last epoch.
  double first_flushed = 0, last_flushed = 0;
};
std::vector<UnderflowReport> run_underflow(const Options& options, halfgrad::RunReport* page);
