#include <halfgrad/report/scale_watch.h>

#include <sstream>
#include <string_view>

#include <halfgrad/amp/step_report.h>

namespace halfgrad::report {
namespace {

/// The name of what happened between two looks at the scaler.
std::string_view event_between(const amp::GradScalerCounts& before,
                               const amp::GradScalerCounts& after, double scale,
                               double next_scale) {
  using amp::ScaleEvent;
  if (after.backoffs > before.backoffs) return name(ScaleEvent::backoff);
  if (after.growths > before.growths) return name(ScaleEvent::growth);
  if (after.skipped_steps > before.skipped_steps) return name(ScaleEvent::tolerated);
  return name(scale != next_scale ? ScaleEvent::set : ScaleEvent::none);
}

std::string cause_of(const ScaleChange& change) {
  std::ostringstream text;
  text << "step " << change.step << ": "
       << (change.skipped ? "skipped, a gradient was inf or NaN" : "no gradient was inf or NaN");
  if (change.scale == change.next_scale) {
    text << "; the scale stays " << change.scale;
  } else {
    text << "; the scale goes from " << change.scale << " to " << change.next_scale;
  }
  return text.str();
}

}  // namespace

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
    ScaleChange change{.step = steps - 1,
                       .scale = scale_,
                       .next_scale = now,
                       .skipped = was_skipped,
                       .event = std::string(event_between(last_, counts, scale_, now)),
                       .cause = {}};
    change.cause = cause_of(change);
    found.push_back(std::move(change));
  }
  scale_ = now;
  last_ = counts;
  return found;
}

std::int64_t ScaleWatch::skipped() const { return last_.skipped_steps - first_.skipped_steps; }

}  // namespace halfgrad::report
