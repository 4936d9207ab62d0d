#include <exception>
#include <iostream>
#include <memory>
#include <utility>

#include <halfgrad/async/async_grad_scaler.h>
#include <halfgrad/async/async_optimizer.h>
#include <halfgrad/python/bindings/dropped_first.h>
#include <halfgrad/python/bindings/param_groups.h>
#include <halfgrad/python/bindings/scaler_state.h>

/// The optimizer that updates on a thread of its own, and its GradScaler.
namespace halfgrad::python {
namespace {

using amp::AsyncGradScaler;
using optim::AsyncOptimizer;
using optim::AsyncOptimizerState;
using optim::Optimizer;

/// Ends the steps that were launched, which may call Python's functions.
void end_steps(AsyncOptimizer& optimizer) {
  try {
    optimizer.synchronize();
  } catch (const std::exception& error) {
    std::cerr << "halfgrad: AsyncOptimizer: " << error.what() << '\n';
  }
}
/// The optimizer's steps include those of its scaler.
void end_steps(AsyncGradScaler&) {}

/// Owns an object whose destructor waits for the update thread, which may need Python's lock.
template <class Object>
class Waiting {
 public:
  template <class... Arguments>
  explicit Waiting(Arguments&&... arguments)
      : held_(std::make_shared<Held>(std::forward<Arguments>(arguments)...)) {
    DroppedAtExit::add(held_);
  }
  Waiting(const Waiting&) = delete;
  Waiting(Waiting&&) = delete;
  ~Waiting() {
    const nb::gil_scoped_release release;
    held_.reset();
  }
  Object& get() const { return held_->object; }

 private:
  struct Held final : DroppedFirst {
    template <class... Arguments>
    explicit Held(Arguments&&... arguments) : object(std::forward<Arguments>(arguments)...) {}
    void drop() override {
      const nb::gil_scoped_release release;
      end_steps(object);
    }
    Object object;
  };
  std::shared_ptr<Held> held_;
};

using Async = Waiting<AsyncOptimizer>;
using AsyncScaler = Waiting<AsyncGradScaler>;

std::vector<OptionalTensor> tensors_of(const std::vector<Array>& arrays) {
  std::vector<OptionalTensor> tensors;
  for (const Array& array : arrays) {
    tensors.push_back(array.defined() ? OptionalTensor(Tensor(array)) : std::nullopt);
  }
  return tensors;
}

std::vector<Array> arrays_of(nb::handle tensors) {
  std::vector<Array> arrays;
  for (const nb::handle tensor : nb::borrow(tensors)) {
    arrays.push_back(
        tensor.is_none()
            ? Array()
            : read<Tensor>(tensor, "load_state_dict", "a parameter or gradient").array());
  }
  return arrays;
}

nb::dict dict_of(const AsyncOptimizerState& state) {
  nb::dict dict;
  dict["optimizer"] = python::dict_of(state.optimizer);
  dict["parameters"] = nb::cast(tensors_of(state.parameters));
  dict["gradients"] = nb::cast(tensors_of(state.gradients));
  dict["gradient_scale"] = state.gradient_scale;
  return dict;
}

AsyncOptimizerState async_state_of(const nb::dict& dict) {
  return {state_of(read<nb::dict>(dict["optimizer"], "load_state_dict", quoted("optimizer"))),
          arrays_of(nb::object(dict["parameters"])), arrays_of(nb::object(dict["gradients"])),
          read<double>(dict["gradient_scale"], "load_state_dict", quoted("gradient_scale"))};
}

void step(const Async& self,
          const std::optional<nb::typed<nb::callable, void(Optimizer&)>>& step_fn, bool is_async) {
  AsyncOptimizer::StepFunction function;
  if (step_fn) {
    function = [call = function_calling<void, Optimizer*>(*step_fn)](Optimizer& optimizer) {
      call(&optimizer);
    };
  }
  const nb::gil_scoped_release release;
  self.get().step(function, is_async);
}

void bind_async_optimizer(nb::module_& optim) {
  nb::class_<Async>(
      optim, "AsyncOptimizer",
      "Runs an optimizer on the CPU and on a thread of its own, while the next forward and\n"
      "backward pass are computed: their parameters are one update old. Use the optimizer\n"
      "itself only in step functions.")
      .def(
          "__init__", [](Async* self, Optimizer& optimizer) { new (self) Async(optimizer); },
          "optimizer"_a, nb::keep_alive<1, 2>())
      .def("step", &step, nb::arg("step_fn").none() = nb::none(), "is_async"_a = true,
           "Waits for the previous update, writes its result to the model, takes the model's\n"
           "gradients and launches step_fn(optimizer), by default optimizer.step().")
      .def(
          "accumulate", [](const Async& self) { self.get().accumulate(); }, ReleaseGil(),
          "Adds the model's gradients to those of the next step.")
      .def(
          "synchronize", [](const Async& self) { self.get().synchronize(); }, ReleaseGil(),
          "Waits for launched steps and writes the result to the model: before evaluation.")
      .def(
          "copy_from_parameters", [](const Async& self) { self.get().copy_from_parameters(); },
          ReleaseGil(), "Takes the model's parameters, after loading them into the model.")
      .def(
          "write_back_report",
          [](const Async& self) {
            const optim::WriteBackReport& report = self.get().write_back_report();
            nb::dict dict;
            dict["overflows"] = report.overflows;
            dict["first_parameter"] = report.first_parameter;
            dict["total_overflows"] = report.total_overflows;
            return dict;
          },
          "Elements that became infinite when they were rounded to 16-bit parameters.")
      .def(
          "state_dict",
          [](const Async& self) {
            AsyncOptimizerState state;
            {
              const nb::gil_scoped_release release;
              state = self.get().state_dict();
            }
            return dict_of(state);
          },
          "The optimizer's state, its float32 parameters and accumulated gradients.")
      .def(
          "load_state_dict",
          [](const Async& self, const nb::dict& dict) {
            const AsyncOptimizerState state = async_state_of(dict);
            const nb::gil_scoped_release release;
            self.get().load_state_dict(state);
          },
          "state_dict"_a)
      .def_prop_ro("name", [](const Async& self) { return self.get().name(); });
}

void bind_async_steps(nb::class_<AsyncScaler>& scaler) {
  scaler
      .def(
          "scale",
          [](const AsyncScaler& self, const Tensor& outputs) { return self.get().scale(outputs); },
          "outputs"_a, ReleaseGil(), "outputs * scale, differentiable.")
      .def(
          "unscale_",
          [](const AsyncScaler& self, Optimizer& optimizer) { self.get().unscale_(optimizer); },
          "optimizer"_a, ReleaseGil())
      .def(
          "step",
          [](const AsyncScaler& self, Optimizer& optimizer) { return self.get().step(optimizer); },
          "optimizer"_a, ReleaseGil(), "In a step function: GradScaler.step().")
      .def(
          "update",
          [](const AsyncScaler& self, std::optional<double> new_scale, bool is_async) {
            if (new_scale) {
              self.get().update(*new_scale, is_async);
            } else {
              self.get().update(is_async);
            }
          },
          "new_scale"_a = nb::none(), "is_async"_a = true, ReleaseGil(),
          "Ends the iteration: the next loss gets the scale that the previous update made.")
      .def(
          "abandon", [](const AsyncScaler& self) { self.get().abandon(); }, ReleaseGil());
}

/// Calls a method that waits for the update thread.
template <class Result>
Result waited(const AsyncScaler& scaler, Result (AsyncGradScaler::*method)() const) {
  const nb::gil_scoped_release release;
  return (scaler.get().*method)();
}

void bind_async_scaler(nb::module_& amp) {
  nb::class_<AsyncScaler> scaler(amp, "AsyncGradScaler", "The GradScaler for an AsyncOptimizer.");
  scaler.def(
      "__init__",
      [](AsyncScaler* self, const Async& optimizer, double init_scale, double growth_factor,
         double backoff_factor, std::int32_t growth_interval, bool enabled, std::int64_t history) {
        const amp::GradScalerOptions options{.init_scale = init_scale,
                                             .growth_factor = growth_factor,
                                             .backoff_factor = backoff_factor,
                                             .growth_interval = growth_interval,
                                             .enabled = enabled,
                                             .history = history};
        new (self) AsyncScaler(optimizer.get(), options);
      },
      "optimizer"_a, "init_scale"_a = 65536.0, "growth_factor"_a = 2.0, "backoff_factor"_a = 0.5,
      "growth_interval"_a = 2000, "enabled"_a = true, nb::kw_only(), "history"_a = 0,
      nb::keep_alive<1, 2>());
  bind_async_steps(scaler);
  scaler.def("get_scale", [](const AsyncScaler& self) { return self.get().get_scale(); })
      .def("is_enabled", [](const AsyncScaler& self) { return self.get().is_enabled(); })
      .def("counts",
           [](const AsyncScaler& self) {
             return python::dict_of(waited(self, &AsyncGradScaler::counts));
           })
      .def("reports",
           [](const AsyncScaler& self) { return list_of(waited(self, &AsyncGradScaler::reports)); })
      .def("state_dict",
           [](const AsyncScaler& self) {
             return python::dict_of(waited(self, &AsyncGradScaler::state_dict));
           })
      .def(
          "load_state_dict",
          [](const AsyncScaler& self, const nb::dict& dict) {
            const amp::GradScalerState state = scaler_state_of(dict);
            const nb::gil_scoped_release release;
            self.get().load_state_dict(state);
          },
          "state_dict"_a);
}

}  // namespace

void bind_async(nb::module_& module) {
  nb::module_ optim = nb::borrow<nb::module_>(module.attr("optim"));
  nb::module_ amp = nb::borrow<nb::module_>(module.attr("amp"));
  bind_async_optimizer(optim);
  bind_async_scaler(amp);
}

}  // namespace halfgrad::python
