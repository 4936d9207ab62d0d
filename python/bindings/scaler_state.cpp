#include <halfgrad/python/bindings/scaler_state.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include <halfgrad/core/fail.h>

namespace halfgrad::python {
namespace {

constexpr const char* kEvents[] = {"none", "growth", "backoff", "tolerated", "limited", "set"};

nb::dict dict_of(const amp::StepReport& report) {
  nb::dict dict;
  dict["step"] = report.step;
  dict["optimizer"] = report.optimizer;
  dict["scale"] = report.scale;
  dict["next_scale"] = report.next_scale;
  dict["found_inf"] = report.found_inf;
  dict["stepped"] = report.stepped;
  dict["skipped"] = report.skipped();
  dict["event"] = kEvents[static_cast<int>(report.event)];
  dict["good_steps"] = report.good_steps;
  dict["bad_steps"] = report.bad_steps;
  dict["nonfinite"] = report.nonfinite;
  dict["first_bad_parameter"] = report.first_bad_parameter;
  dict["grad_norm"] = report.grad_norm;
  dict["clip_factor"] = report.clip_factor;
  dict["loss"] = report.loss;
  dict["nonfinite_parameters"] = report.nonfinite_parameters;
  dict["text"] = explain(report);
  return dict;
}

}  // namespace

nb::list list_of(const std::vector<amp::StepReport>& reports) {
  nb::list list;
  for (const amp::StepReport& report : reports) list.append(dict_of(report));
  return list;
}

std::vector<amp::StepReport> reports_of(const nb::list& reports) {
  std::vector<amp::StepReport> result;
  for (const nb::handle item : reports) {
    const auto read = [&](const char* key, auto& value) {
      value = nb::cast<std::decay_t<decltype(value)>>(item[key]);
    };
    amp::StepReport& report = result.emplace_back();
    read("step", report.step);
    read("optimizer", report.optimizer);
    read("scale", report.scale);
    read("next_scale", report.next_scale);
    read("found_inf", report.found_inf);
    read("stepped", report.stepped);
    read("good_steps", report.good_steps);
    read("bad_steps", report.bad_steps);
    read("nonfinite", report.nonfinite);
    read("first_bad_parameter", report.first_bad_parameter);
    read("grad_norm", report.grad_norm);
    read("clip_factor", report.clip_factor);
    read("loss", report.loss);
    read("nonfinite_parameters", report.nonfinite_parameters);
    const auto event = nb::cast<std::string>(item["event"]);
    const auto* const found = std::find(std::begin(kEvents), std::end(kEvents), event);
    if (found == std::end(kEvents)) {
      halfgrad::detail::fail("ScaleTimeline", "expected an event of GradScaler.reports(), got {}",
                             event);
    }
    report.event = static_cast<amp::ScaleEvent>(found - kEvents);
  }
  return result;
}

nb::dict dict_of(const amp::GradScalerCounts& counts) {
  nb::dict dict;
  dict["steps"] = counts.steps;
  dict["skipped_steps"] = counts.skipped_steps;
  dict["growths"] = counts.growths;
  dict["backoffs"] = counts.backoffs;
  return dict;
}

nb::dict dict_of(const amp::GradScalerState& state) {
  nb::dict dict;
  for (const auto& [name, value] : state) dict[name.c_str()] = value;
  return dict;
}

amp::GradScalerState scaler_state_of(const nb::dict& dict) {
  amp::GradScalerState state;
  for (const auto [name, value] : dict) {
    state[nb::cast<std::string>(name)] = nb::cast<double>(value);
  }
  return state;
}

}  // namespace halfgrad::python
