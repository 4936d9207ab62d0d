#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/amp/inspector/op_timer.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/report/series.h>

/// The contents of a report as plain data: what the JSON and CSV files and the page contain.
namespace halfgrad::report {

/// A step at which the scale changed, or the update was skipped.
struct ScaleChange {
  std::int64_t step = 0;
  double scale = 1;       ///< the step's loss was multiplied by it
  double next_scale = 1;  ///< the next step's loss
  bool skipped = false;
  std::string event;  ///< "growth", "backoff", ...: a ScaleEvent's name
  std::string cause;  ///< one sentence
};

/// The gradients of one step, by their exponents.
struct Exponents {
  std::int64_t step = 0;
  double scale = 1;
  std::vector<amp::GradientRange> places;  ///< each parameter, then all activations as one
  amp::Recommendation recommendation;
};

/// The ops of one step: in which dtype they ran, and what autocast converted for them.
struct Ops {
  std::int64_t step = -1;  ///< -1: no step was observed
  std::vector<amp::OpSummary> rows;
  std::vector<std::string> promoted;  ///< a sentence for each call that a float32 operand widened
};

/// Time and memory of the ops of the steps that were timed.
struct Costs {
  std::int64_t steps = 0;
  double seconds = 0;  ///< sum over these steps, from end to end
  std::vector<amp::OpTime> rows;
};

/// Launches of one kernel, library call or copy.
struct Launches {
  std::string name;
  std::int64_t times = 0;
  double bytes = 0;  ///< read and written in global memory, by all of them
};

/// The record of one run, from which its part of the page is drawn.
struct RunRecord {
  std::string name, task, score;
  std::string device;
  bool has_scaler = false;
  std::int64_t every = 0;
  StepSeries steps;
  std::vector<ScaleChange> changes;
  std::int64_t changes_left_out = 0;
  std::int64_t skipped = 0;
  Sampled<Exponents> exponents{1, 1};
  Ops ops;
  Costs costs;
  std::vector<Launches> launches;
  double median_seconds = 0;    ///< a step that was not observed; NaN without one
  std::int64_t peak_bytes = 0;  ///< largest memory of live arrays on the device, at any time
  std::vector<std::pair<std::string, double>> results;
};

/// The records of all runs of a page, and what the page says above them.
struct PageRecord {
  std::string title, command;
  std::vector<std::string> notes;
  int threads = 1;
  bool interrupted = false;
  std::vector<RunRecord> runs;
};

}  // namespace halfgrad::report
