#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/report/run_record.h>

namespace halfgrad::report {

/// Sets the event and the cause of a change from its scales.
ScaleChange change_of(ScaleChange change);

/// Follows the scale of a GradScaler through a run. With a history the reports of the scaler tell
/// every change and its cause. Without one, the counts before and after a step do.
class ScaleWatch {
 public:
  ScaleWatch() = default;
  /// `scaler` must outlive this object; nullptr stands for a run without loss scaling.
  explicit ScaleWatch(const amp::GradScaler* scaler);

  /// Returns the scale changes and skipped steps since the last call. Step `steps` - 1 has ended.
  /// Waits for the scaler's device.
  std::vector<ScaleChange> changes(std::int64_t steps);
  bool is_watching() const { return scaler_ != nullptr; }
  double scale() const { return scale_; }
  std::int64_t skipped() const;

 private:
  const amp::GradScaler* scaler_ = nullptr;
  std::int64_t next_report_ = 0;  // number of update() calls that are known
  std::int64_t first_step_ = 0;   // update() calls before the run
  double scale_ = 1;
  amp::GradScalerCounts first_, last_;
};

}  // namespace halfgrad::report
