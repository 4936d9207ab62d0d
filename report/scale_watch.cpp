#include <halfgrad/report/scale_watch.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>

#include <halfgrad/amp/inspector/scale_timeline.h>
#include <halfgrad/amp/step_report.h>

namespace halfgrad::report {
ScaleChange change_of(ScaleChange change) {
  using amp::ScaleEvent;
  const bool grows = change.next_scale > change.scale, falls = change.next_scale < change.scale;
  const ScaleEvent held = change.skipped ? ScaleEvent::tolerated : ScaleEvent::none;
  change.event = name(grows ? ScaleEvent::growth : falls ? ScaleEvent::backoff : held);
  if (!change.cause.empty()) return change;
  std::ostringstream text;
  text << (change.skipped ? "skipped: a gradient was inf or NaN" : "no gradient was inf or NaN")
       << "; ";
  if (grows || falls) {
    text << change.scale << " -> " << change.next_scale;
  } else {
    text << "the scale stays " << change.scale;
  }
  change.cause = text.str();
  return change;
}

ScaleWatch::ScaleWatch(const amp::GradScaler* scaler, amp::ParameterNames names)
    : scaler_(scaler != nullptr && scaler->is_enabled() ? scaler : nullptr),
      names_(std::move(names)) {
  if (scaler_ == nullptr) return;
  scale_ = scaler_->get_scale();
  first_ = last_ = scaler_->counts();
  for (const amp::StepReport& report : scaler_->reports()) first_step_ = report.step + 1;
  next_report_ = first_step_;
}

std::vector<ScaleChange> ScaleWatch::changes(std::int64_t steps) {
  std::vector<ScaleChange> found;
  if (scaler_ == nullptr) return found;
  const std::vector<amp::StepReport> reports = scaler_->reports();
  const double now = scaler_->get_scale();
  const amp::GradScalerCounts counts = scaler_->counts();
  add_reported(reports, found);
  const bool was_skipped = counts.skipped_steps > last_.skipped_steps;
  if (reports.empty() && (now != scale_ || was_skipped)) {
    found.push_back(change_of({.step = steps - 1,
                               .scale = scale_,
                               .next_scale = now,
                               .skipped = was_skipped,
                               .event = {},
                               .cause = {}}));
  }
  scale_ = now;
  last_ = counts;
  return found;
}

void ScaleWatch::add_reported(std::span<const amp::StepReport> reports,
                              std::vector<ScaleChange>& found) {
  const auto is_known = [this](const amp::StepReport& report) {
    return report.step < next_report_ - 1;  // the step before the new ones tells the good steps
  };
  const auto known = std::ranges::find_if_not(reports, is_known) - reports.begin();
  const amp::ScaleTimeline timeline(reports.subspan(static_cast<std::size_t>(known)), names_);
  for (const amp::ScalePoint& point : timeline.points()) {
    if (point.step < next_report_) continue;
    next_report_ = point.step + 1;
    if (!point.is_event()) continue;
    found.push_back({.step = point.step - first_step_,
                     .scale = point.scale,
                     .next_scale = point.next_scale,
                     .skipped = point.skipped,
                     .event = std::string(name(point.event)),
                     .cause = point.text});
  }
}

std::int64_t ScaleWatch::skipped() const { return last_.skipped_steps - first_.skipped_steps; }

}  // namespace halfgrad::report
