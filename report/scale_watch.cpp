#include <halfgrad/report/scale_watch.h>

#include <sstream>
#include <string>

#include <halfgrad/amp/step_report.h>

namespace halfgrad::report {
ScaleChange change_of(ScaleChange change) {
  using amp::ScaleEvent;
  const bool grows = change.next_scale > change.scale, falls = change.next_scale < change.scale;
  const ScaleEvent held = change.skipped ? ScaleEvent::tolerated : ScaleEvent::none;
  change.event = name(grows ? ScaleEvent::growth : falls ? ScaleEvent::backoff : held);
  std::ostringstream text;
  text << "step " << change.step << ": "
       << (change.skipped ? "skipped, a gradient was inf or NaN" : "no gradient was inf or NaN")
       << "; the scale ";
  if (grows || falls) {
    text << (grows ? "grows" : "backs off") << " from " << change.scale << " to "
         << change.next_scale;
  } else {
    text << "stays " << change.scale;
  }
  change.cause = text.str();
  return change;
}

ScaleWatch::ScaleWatch(const amp::GradScaler* scaler)
    : scaler_(scaler != nullptr && scaler->is_enabled() ? scaler : nullptr) {
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
  for (const amp::StepReport& report : reports) {
    if (report.step < next_report_) continue;
    next_report_ = report.step + 1;
    const bool has_changed = report.scale != report.next_scale;
    if (!has_changed && !report.skipped() && report.event == amp::ScaleEvent::none) continue;
    found.push_back({.step = report.step - first_step_,
                     .scale = report.scale,
                     .next_scale = report.next_scale,
                     .skipped = report.skipped(),
                     .event = std::string(name(report.event)),
                     .cause = explain(report)});
  }
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

std::int64_t ScaleWatch::skipped() const { return last_.skipped_steps - first_.skipped_steps; }

}  // namespace halfgrad::report
