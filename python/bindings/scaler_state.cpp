#include <halfgrad/python/bindings/scaler_state.h>

namespace halfgrad::python {
namespace {

nb::dict dict_of(const amp::StepReport& report) {
  constexpr const char* kEvents[] = {"none", "growth", "backoff", "tolerated", "limited", "set"};
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
