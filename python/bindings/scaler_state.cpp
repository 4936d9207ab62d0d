#include <halfgrad/python/bindings/scaler_state.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>

#include <halfgrad/core/fail.h>

namespace halfgrad::python {
namespace {

constexpr std::string_view kCounts[] = {"growth_interval", "_growth_tracker", "_bad_steps"};

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
    const auto take = [&](const char* key, auto& value) {
      if (nb::try_cast(nb::object(item[key]), value)) return;
      refuse(item[key], "ScaleTimeline", quoted(key), "a value of GradScaler.reports()");
    };
    amp::StepReport& report = result.emplace_back();
    take("step", report.step);
    take("optimizer", report.optimizer);
    take("scale", report.scale);
    take("next_scale", report.next_scale);
    take("found_inf", report.found_inf);
    take("stepped", report.stepped);
    take("good_steps", report.good_steps);
    take("bad_steps", report.bad_steps);
    take("nonfinite", report.nonfinite);
    take("first_bad_parameter", report.first_bad_parameter);
    take("grad_norm", report.grad_norm);
    take("clip_factor", report.clip_factor);
    take("loss", report.loss);
    take("nonfinite_parameters", report.nonfinite_parameters);
    const auto event = read<std::string>(item["event"], "ScaleTimeline", quoted("event"));
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
  for (const auto& [name, value] : state) {
    if (std::ranges::find(kCounts, name) != std::end(kCounts)) {
      dict[name.c_str()] = static_cast<std::int64_t>(value);
    } else {
      dict[name.c_str()] = value;
    }
  }
  return dict;
}

amp::GradScalerState scaler_state_of(const nb::dict& dict) {
  amp::GradScalerState state;
  for (const auto [name, value] : dict) {
    const auto key = read<std::string>(name, "load_state_dict", "a key");
    state[key] = read<double>(value, "load_state_dict", quoted(key));
  }
  return state;
}

}  // namespace halfgrad::python
