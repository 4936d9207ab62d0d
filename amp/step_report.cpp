#include <halfgrad/amp/step_report.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <sstream>
#include <type_traits>
#include <utility>

#include <halfgrad/amp/inspector/parameter_names.h>

namespace halfgrad::amp {
namespace {

template <class F>
void for_each_field(const StepReport& report, const F& f) {
  f("step", report.step);
  f("optimizer", report.optimizer);
  f("scale", report.scale);
  f("next_scale", report.next_scale);
  f("found_inf", report.found_inf);
  f("stepped", report.stepped);
  f("event", report.event);
  f("good_steps", report.good_steps);
  f("bad_steps", report.bad_steps);
  f("nonfinite", report.nonfinite);
  f("first_bad_parameter", report.first_bad_parameter);
  f("grad_norm", report.grad_norm);
  f("clip_factor", report.clip_factor);
  f("loss", report.loss);
  f("nonfinite_parameters", report.nonfinite_parameters);
}

template <class T>
void write_value(std::ostream& out, const T& value) {
  if constexpr (std::is_same_v<T, ScaleEvent>) {
    out << name(value);
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    if (value) out << *value;
  } else {
    out << value;
  }
}

template <class T>
void write_json_value(std::ostream& out, const T& value) {
  if constexpr (std::is_same_v<T, ScaleEvent>) {
    out << '"' << name(value) << '"';
  } else if constexpr (std::is_same_v<T, bool>) {
    out << (value ? "true" : "false");
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    write_json_value(out, value.value_or(std::numeric_limits<double>::quiet_NaN()));
  } else if (std::isfinite(static_cast<double>(value))) {
    out << value;
  } else {
    out << "null";
  }
}

std::string fate(const StepReport& report, const ParameterNames& names) {
  if (report.optimizer < 0) return "no gradients were checked";
  std::ostringstream text;
  text << (report.applied() ? "applied" : report.skipped() ? "skipped" : "checked, not stepped");
  if (report.optimizer > 0) text << " for optimizer " << report.optimizer;
  if (report.loss) text << ", loss " << *report.loss;
  if (report.nonfinite > 0) {
    text << ", " << report.nonfinite << (report.nonfinite == 1 ? " element" : " elements");
    if (report.nonfinite_parameters > 1)
      text << " of " << report.nonfinite_parameters << " parameters";
    text << " inf or NaN, the first in " << names.first_bad(report);
  } else if (report.found_inf) {
    text << ", unscaling would overflow, or another rank found an inf or NaN";
  } else {
    text << ", gradient norm " << report.grad_norm;
    if (report.clip_factor != 1) text << " times " << report.clip_factor << " by clipping";
  }
  return text.str();
}

std::string effect(const StepReport& report) {
  std::ostringstream text;
  const auto change = [&](const char* verb) {
    text << "the scale " << verb << " from " << report.scale << " to " << report.next_scale;
  };
  switch (report.event) {
    case ScaleEvent::growth:
      change("grows");
      break;
    case ScaleEvent::backoff:
      change("backs off");
      break;
    case ScaleEvent::set:
      change("is set");
      break;
    case ScaleEvent::tolerated:
      text << "the scale is held at " << report.next_scale << " after " << report.bad_steps
           << (report.bad_steps == 1 ? " bad step" : " bad steps") << " in a row";
      break;
    case ScaleEvent::limited:
      text << "the scale is held at " << report.next_scale << " by its limit";
      break;
    case ScaleEvent::none:
      text << "the scale stays " << report.next_scale
           << ", good steps in a row: " << report.good_steps;
      break;
  }
  return text.str();
}

}  // namespace

std::string explain(const StepReport& report) { return explain(report, ParameterNames()); }

std::string explain(const StepReport& report, const ParameterNames& names) {
  return "step " + std::to_string(report.step) + ": " + fate(report, names) + "; " + effect(report);
}

void write_csv(std::ostream& out, std::span<const StepReport> reports) {
  const auto precision = out.precision(std::numeric_limits<double>::max_digits10);
  const char* separator = "";
  for_each_field(
      {}, [&](const char* field, const auto&) { out << std::exchange(separator, ",") << field; });
  for (const StepReport& report : reports) {
    separator = "\n";
    for_each_field(report, [&](const char*, const auto& value) {
      write_value(out << std::exchange(separator, ","), value);
    });
  }
  out << '\n';
  out.precision(precision);
}

void write_json(std::ostream& out, std::span<const StepReport> reports) {
  const auto precision = out.precision(std::numeric_limits<double>::max_digits10);
  const char* start = "[\n";
  for (const StepReport& report : reports) {
    const char* separator = "{";
    out << std::exchange(start, ",\n");
    for_each_field(report, [&](const char* field, const auto& value) {
      write_json_value(out << std::exchange(separator, ", ") << '"' << field << "\": ", value);
    });
    out << '}';
  }
  out << (reports.empty() ? "[]\n" : "\n]\n");
  out.precision(precision);
}

}  // namespace halfgrad::amp
