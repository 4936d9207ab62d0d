#pragma once

#include <vector>

/// One step of a training in fp16, as its log has it.
struct Step {
  int batch = 0;               ///< number of the batch: 0, 1, 2, ...
  double scale = 65536;        ///< the loss scale of the step
  bool loss_is_finite = true;  ///< neither inf nor NaN
  bool skipped = false;        ///< a gradient was inf or NaN
};

enum class Cause {
  healthy,         ///< no step was skipped, and every loss is finite
  scale_too_high,  ///< steps were skipped, but the other causes below do not hold
  bad_batch,       ///< a batch comes at least twice and is skipped every time, and its smallest
                   ///< scale was not too high: another batch was not skipped with the same or a
                   ///< larger scale
  broken_model,    ///< a loss is inf or NaN, whatever else happens
};

/// Says why a run has trouble. If several causes hold, the later one in `Cause` is the answer.
Cause diagnose(const std::vector<Step>& log);
