#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/master_weights.h>
#include <halfgrad/amp/policy.h>
#include <halfgrad/python/bindings/scaler_state.h>

/// Autocast, GradScaler and MasterWeights.
namespace halfgrad::python {
namespace {

using amp::GradScaler;
using amp::GradScalerOptions;
using amp::StepOutcome;
using optim::Optimizer;

DeviceType type_of(const std::string& device_type) { return Device(device_type).type(); }

void bind_autocast(nb::module_& amp) {
  amp.def(
      "set_autocast",
      [](const std::string& device_type, std::optional<DType> dtype, bool enabled,
         std::optional<bool> cache_enabled) {
        return Scope::of<amp::Autocast>(type_of(device_type),
                                        amp::AutocastOptions{dtype, enabled, cache_enabled});
      },
      "device_type"_a, "dtype"_a = nb::none(), "enabled"_a = true, "cache_enabled"_a = nb::none(),
      "Begins an autocast region; the result's end() ends it.");
  amp.def(
      "is_autocast_enabled",
      [](const std::string& type) { return amp::is_autocast_enabled(type_of(type)); },
      "device_type"_a = "cpu");
  amp.def(
      "get_autocast_dtype",
      [](const std::string& type) { return amp::get_autocast_dtype(type_of(type)); },
      "device_type"_a = "cpu");
  amp.def("clear_autocast_cache", &amp::clear_autocast_cache);
  amp.def(
      "is_eligible",
      [](const Tensor& tensor, const std::string& type) {
        return amp::is_eligible(tensor, type_of(type));
      },
      "tensor"_a, "device_type"_a, "Whether autocast may cast this tensor.");
}

using ScalerClass = nb::class_<GradScaler>;

void bind_steps(ScalerClass& scaler) {
  scaler
      .def(
          "scale", [](GradScaler& self, const Tensor& outputs) { return self.scale(outputs); },
          "outputs"_a, ReleaseGil(), "outputs * scale, differentiable.")
      .def(
          "scale",
          [](GradScaler& self, const std::vector<Tensor>& outputs) { return self.scale(outputs); },
          "outputs"_a, ReleaseGil())
      .def("unscale_", &GradScaler::unscale_, "optimizer"_a, ReleaseGil(),
           "Divides the optimizer's gradients by the scale, in place, before they are clipped.")
      .def(
          "step",
          [](GradScaler& self, Optimizer& optimizer,
             const std::optional<nb::typed<nb::callable, Tensor()>>& closure) {
            const auto loss =
                closure ? function_calling<Tensor>(*closure) : std::function<Tensor()>();
            const nb::gil_scoped_release release;
            return self.step(optimizer, loss);
          },
          "optimizer"_a, nb::arg("closure").none() = nb::none(),
          "Makes the optimizer's update with unscaled gradients, or none if a gradient was inf or\n"
          "NaN: the result's skipped() tells.")
      .def(
          "step_and_update",
          [](GradScaler& self, Optimizer& optimizer, std::optional<double> max_norm) {
            return self.step_and_update(optimizer, {.max_norm = max_norm});
          },
          "optimizer"_a, nb::arg("max_norm").none() = nb::none(), ReleaseGil(),
          "unscale_, clip_grad_norm_ to max_norm, step and update, in two passes over the "
          "gradients\n"
          "where that is possible. The result's total_norm is the norm before clipping.")
      .def(
          "update", [](GradScaler& self) { self.update(); },
          "Ends the iteration: grows the scale, or backs it off if an inf or a NaN was found.")
      .def(
          "update", [](GradScaler& self, double scale) { self.update(scale); }, "new_scale"_a)
      .def(
          "update", [](GradScaler& self, const Tensor& scale) { self.update(scale); },
          "new_scale"_a)
      .def("abandon", &GradScaler::abandon,
           "Ends an iteration that an exception broke off: forgets what it found.");
}

void bind_scaler_state(ScalerClass& scaler) {
  scaler.def("get_scale", &GradScaler::get_scale, "The scale; 1 if disabled.")
      .def("get_growth_tracker", &GradScaler::get_growth_tracker)
      .def("get_growth_factor", &GradScaler::get_growth_factor)
      .def("set_growth_factor", &GradScaler::set_growth_factor, "new_factor"_a)
      .def("get_backoff_factor", &GradScaler::get_backoff_factor)
      .def("set_backoff_factor", &GradScaler::set_backoff_factor, "new_factor"_a)
      .def("get_growth_interval", &GradScaler::get_growth_interval)
      .def("set_growth_interval", &GradScaler::set_growth_interval, "new_interval"_a)
      .def("is_enabled", &GradScaler::is_enabled)
      .def(
          "counts", [](const GradScaler& self) { return dict_of(self.counts()); },
          "Numbers of steps, skipped steps, growths and backoffs.")
      .def(
          "reports", [](const GradScaler& self) { return list_of(self.reports()); },
          "The last `history` steps, oldest first, as dicts; \"text\" explains each.")
      .def(
          "state_dict", [](const GradScaler& self) { return dict_of(self.state_dict()); },
          "PyTorch's keys; empty if disabled. Call it after update().")
      .def(
          "load_state_dict",
          [](GradScaler& self, const nb::dict& dict) {
            self.load_state_dict(scaler_state_of(dict));
          },
          "state_dict"_a);
}

void bind_grad_scaler(nb::module_& amp) {
  nb::class_<StepOutcome>(amp, "StepOutcome", "The result of GradScaler.step().")
      .def("skipped", &StepOutcome::skipped, ReleaseGil(),
           "True if an inf or a NaN kept the parameters as they were.")
      .def_prop_ro("loss", &StepOutcome::loss, "The closure's result, or None.")
      .def_prop_ro(
          "total_norm", [](const StepOutcome& self) { return or_none(self.total_norm()); },
          "The gradients' norm before step_and_update() clipped them, or None.");
  ScalerClass scaler(
      amp, "GradScaler",
      "Keeps fp16 gradients in range: multiplies the loss by a scale as large as fits,\n"
      "divides it out before the update, and skips the update if something overflowed.");
  scaler.def(
      "__init__",
      [](GradScaler* self, const std::optional<std::string>& /*device*/, double init_scale,
         double growth_factor, double backoff_factor, std::int32_t growth_interval, bool enabled,
         std::int64_t history, double min_scale, std::int32_t hysteresis) {
        new (self) GradScaler({.init_scale = init_scale,
                               .growth_factor = growth_factor,
                               .backoff_factor = backoff_factor,
                               .growth_interval = growth_interval,
                               .enabled = enabled,
                               .min_scale = min_scale,
                               .hysteresis = hysteresis,
                               .history = history});
      },
      "device"_a = nb::none(), "init_scale"_a = 65536.0, "growth_factor"_a = 2.0,
      "backoff_factor"_a = 0.5, "growth_interval"_a = 2000, "enabled"_a = true, nb::kw_only(),
      "history"_a = 0, "min_scale"_a = 0.0, "hysteresis"_a = 1);
  bind_steps(scaler);
  bind_scaler_state(scaler);
}

}  // namespace

void bind_amp(nb::module_& module) {
  nb::module_ amp = module.def_submodule("amp", "Mixed precision.");
  bind_autocast(amp);
  bind_grad_scaler(amp);
  nb::class_<amp::MasterWeights>(amp, "MasterWeights", "Float32 masters of 16-bit weights.")
      .def(nb::init<Optimizer&>(), "optimizer"_a, nb::keep_alive<1, 2>())
      .def(
          "master",
          [](const amp::MasterWeights& self, const Tensor& param) {
            return Tensor(self.master(param));
          },
          "param"_a, "The master of a 16-bit parameter: float32, the optimizer's own memory.")
      .def("copy_from_parameters", &amp::MasterWeights::copy_from_parameters)
      .def("overflows", &amp::MasterWeights::overflows,
           "Number of times that a finite master became an infinite weight.");
}

}  // namespace halfgrad::python
