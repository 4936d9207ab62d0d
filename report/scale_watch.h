#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/inspector/parameter_names.h>
#include <halfgrad/amp/step_report.h>
#include <halfgrad/report/run_record.h>

namespace halfgrad::report {

/// Sets the event of a change, and a cause if it has none, from its scales.
ScaleChange change_of(ScaleChange change);

/// Follows the scale of a GradScaler through a run. With a history the reports of the scaler tell
/// every change and its cause. Without one, the counts before and after a step do.
class ScaleWatch {
 public:
  ScaleWatch() = default;
  /// `scaler` must outlive this object; nullptr stands for a run without loss scaling.
  explicit ScaleWatch(const amp::GradScaler* scaler, amp::ParameterNames names = {});

  /// Returns the scale changes and skipped steps since the last call. Step `steps` - 1 has ended.
  /// Waits for the scaler's device.
  std::vector<ScaleChange> changes(std::int64_t steps);
  bool is_watching() const { return scaler_ != nullptr; }
  double scale() const { return scale_; }
  std::int64_t skipped() const;

 private:
  void add_reported(std::span<const amp::StepReport> reports, std::vector<ScaleChange>& found);

  const amp::GradScaler* scaler_ = nullptr;
  amp::ParameterNames names_;
  std::int64_t next_report_ = 0;  // number of update() calls that are known
  std::int64_t first_step_ = 0;   // update() calls before the run
  double scale_ = 1;
  amp::GradScalerCounts first_, last_;
};

}  // namespace halfgrad::report
