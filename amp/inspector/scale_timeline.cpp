#include <halfgrad/amp/inspector/scale_timeline.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <ostream>
#include <sstream>

#include <halfgrad/core/fail.h>

namespace halfgrad::amp {
namespace {

using halfgrad::detail::message_part;

std::string counted(std::int64_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string bad_elements(const StepReport& report, const ParameterNames& names) {
  const std::string first = names.first_bad(report);
  const std::string are = report.nonfinite == 1 ? " is inf or NaN" : " are inf or NaN";
  const std::string elements = counted(report.nonfinite, "element");
  if (report.nonfinite_parameters == 1) return elements + " of " + first + are;
  const std::string where = report.nonfinite_parameters > 1
                                ? " of " + counted(report.nonfinite_parameters, "parameter")
                                : "";
  return elements + where + are + ", the first in " + first;
}

ScaleCause cause_of(const StepReport& report) {
  if (report.event == ScaleEvent::set && !report.found_inf) return ScaleCause::user;
  if (!report.found_inf) return ScaleCause::none;
  if (report.loss && !std::isfinite(*report.loss)) return ScaleCause::loss_not_finite;
  return report.nonfinite > 0 ? ScaleCause::gradient_not_finite : ScaleCause::unscaling_overflows;
}

// The sentence for one optimizer whose gradients were bad.
std::string reason(const StepReport& report, const ParameterNames& names) {
  std::string text = report.stepped ? "skipped" : "checked, not stepped";
  if (report.optimizer > 0) text += " for optimizer " + std::to_string(report.optimizer);
  text += ": ";
  switch (cause_of(report)) {
    case ScaleCause::loss_not_finite:
      text += "the loss itself is " + message_part(*report.loss) + ", ";
      [[fallthrough]];
    case ScaleCause::gradient_not_finite:
      return text + bad_elements(report, names);
    default:
      return text + "unscaling would overflow, or another rank found an inf or NaN";
  }
}

// The effect on the scale. `good_steps` is the growth tracker before the iteration, if known.
std::string effect_on_scale(const ScalePoint& point, std::int32_t bad_steps,
                            const std::optional<std::int32_t>& good_steps) {
  const std::string change =
      point.scale == point.next_scale
          ? message_part(point.scale) + " for one more iteration"
          : message_part(point.scale) + " -> " + message_part(point.next_scale);
  const std::string after =
      good_steps && *good_steps >= 0 ? " after " + counted(*good_steps + 1, "good step") : "";
  const bool bad = point.cause > ScaleCause::good_steps && point.cause != ScaleCause::user;
  switch (point.event) {
    case ScaleEvent::growth:
      return "grew" + after + ": " + change;
    case ScaleEvent::backoff:
      return change;
    case ScaleEvent::set:
      return "set by update(new_scale): " + message_part(point.scale) + " -> " +
             message_part(point.next_scale);
    case ScaleEvent::tolerated:
      return "held at " + message_part(point.next_scale) + ": hysteresis forgives bad step " +
             std::to_string(bad_steps) + " in a row";
    case ScaleEvent::limited:
      return "held at " + message_part(point.next_scale) +
             (bad ? " by min_scale" : " by its upper limit" + after);
    case ScaleEvent::none:
      break;
  }
  if (point.scale == point.next_scale) return "";
  return "decided one iteration before: " + change;
}

// The point of the reports of one iteration; `before` is the last report of the one before.
ScalePoint point_of(std::span<const StepReport> reports, const StepReport* before,
                    const ParameterNames& names) {
  const StepReport& first = reports.front();
  ScalePoint point{.step = first.step,
                   .scale = first.scale,
                   .next_scale = first.next_scale,
                   .loss = first.loss,
                   .event = first.event};
  for (const StepReport& report : reports) {
    point.skipped |= report.skipped();
    const ScaleCause cause = cause_of(report);
    if (cause > point.cause) point.cause = cause;
    if (report.found_inf) point.text += (point.text.empty() ? "" : ", ") + reason(report, names);
  }
  std::optional<std::int32_t> good_steps;
  if (before != nullptr && before->step + 1 == first.step) good_steps = before->good_steps;
  if (first.step == 0) good_steps = 0;
  const bool grows = first.event == ScaleEvent::growth || first.event == ScaleEvent::limited;
  if (grows && point.cause == ScaleCause::none) point.cause = ScaleCause::good_steps;
  const std::string effect = effect_on_scale(point, first.bad_steps, good_steps);
  if (!point.text.empty() && !effect.empty()) point.text += "; ";
  point.text += effect;
  return point;
}

}  // namespace

std::string_view name(ScaleCause cause) {
  constexpr std::string_view kNames[] = {
      "none", "good_steps", "loss_not_finite", "gradient_not_finite", "unscaling_overflows",
      "user"};
  return kNames[static_cast<std::size_t>(cause)];
}

ScaleTimeline::ScaleTimeline(std::span<const StepReport> reports, const ParameterNames& names) {
  const StepReport* before = nullptr;
  for (std::size_t i = 0; i < reports.size();) {
    std::size_t end = i + 1;
    while (end < reports.size() && reports[end].step == reports[i].step) ++end;
    points_.push_back(point_of(reports.subspan(i, end - i), before, names));
    before = &reports[end - 1];
    i = end;
  }
}

std::vector<ScalePoint> ScaleTimeline::events() const {
  std::vector<ScalePoint> events;
  std::copy_if(points_.begin(), points_.end(), std::back_inserter(events),
               [](const ScalePoint& point) { return point.is_event(); });
  return events;
}

std::string ScaleTimeline::summary() const {
  if (points_.empty()) {
    return "no steps: the scaler keeps them with GradScalerOptions::history above 0";
  }
  const auto count = [this](auto&& accepts) {
    return std::count_if(points_.begin(), points_.end(), accepts);
  };
  const auto with = [&](ScaleEvent event) {
    return count([event](const ScalePoint& point) { return point.event == event; });
  };
  std::ostringstream text;
  text << "steps " << points_.front().step << " to " << points_.back().step << ": "
       << count([](const ScalePoint& point) { return point.skipped; })
       << " skipped; the scale grew " << counted(with(ScaleEvent::growth), "time")
       << " and backed off " << counted(with(ScaleEvent::backoff), "time") << ", from "
       << message_part(points_.front().scale) << " to " << message_part(points_.back().next_scale);
  return text.str();
}

std::ostream& operator<<(std::ostream& out, const ScaleTimeline& timeline) {
  out << timeline.summary() << '\n';
  for (const ScalePoint& point : timeline.events()) {
    out << "step " << point.step << ": " << point.text << '\n';
  }
  return out;
}

}  // namespace halfgrad::amp
