// Exercise 12: read a log.
#include "exercise.h"

#include <algorithm>

Cause diagnose(const std::vector<Step>& log) {
  // solution begin
  // blank: for (const Step& step : log) {
  // blank:   if (step.skipped) return Cause::scale_too_high;  // or a bad batch, or a broken model?
  // blank: }
  // blank: return Cause::healthy;
  bool any_skipped = false, any_bad_batch = false;
  for (const Step& step : log) {
    if (!step.loss_is_finite) return Cause::broken_model;
    any_skipped = any_skipped || step.skipped;
  }
  for (const Step& suspect : log) {
    int times = 0, skipped = 0;
    double smallest = suspect.scale;
    for (const Step& step : log) {
      if (step.batch != suspect.batch) continue;
      ++times;
      skipped += step.skipped ? 1 : 0;
      smallest = std::min(smallest, step.scale);
    }
    const bool others_pass = std::any_of(log.begin(), log.end(), [&](const Step& step) {
      return step.batch != suspect.batch && !step.skipped && step.scale >= smallest;
    });
    any_bad_batch = any_bad_batch || (times >= 2 && skipped == times && others_pass);
  }
  return any_bad_batch ? Cause::bad_batch : any_skipped ? Cause::scale_too_high : Cause::healthy;
  // solution end
}
