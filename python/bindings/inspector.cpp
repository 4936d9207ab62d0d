#include <halfgrad/python/bindings/inspector.h>

#include <string>

#include <halfgrad/amp/inspector/overflow.h>
#include <halfgrad/amp/inspector/scale_timeline.h>
#include <halfgrad/amp/inspector/twin_run.h>
#include <halfgrad/autograd/module_call.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/bindings.h>
#include <halfgrad/python/bindings/scaler_state.h>

/// The inspector: find_overflow, TwinRun and ScaleTimeline; its observers are in
/// inspector_observers.cpp. Tables for notebooks are in halfgrad/inspector.py.
namespace halfgrad::python {
namespace {

using amp::NamedModel;

const char* name_of(amp::OverflowCause cause) {
  constexpr const char* kNames[] = {"none", "scale_too_high", "forward", "backward"};
  return kNames[static_cast<int>(cause)];
}

void bind_overflow(nb::module_& inspector) {
  using amp::OperandRange;
  using amp::Overflow;
  nb::class_<OperandRange>(inspector, "OperandRange", "A tensor beside the first inf or NaN.")
      .def_ro("name", &OperandRange::name)
      .def_ro("dtype", &OperandRange::dtype)
      .def_ro("largest", &OperandRange::largest)
      .def_ro("nonfinite", &OperandRange::nonfinite);
  nb::class_<Overflow>(inspector, "Overflow", "The first inf or NaN of a step, and its cause.")
      .def_prop_ro(
          "cause", [](const Overflow& self) { return name_of(self.cause); },
          "\"none\", \"scale_too_high\", \"forward\" or \"backward\".")
      .def_ro("scale", &Overflow::scale)
      .def_ro("safe_scale", &Overflow::safe_scale)
      .def_ro("op", &Overflow::op)
      .def_ro("module", &Overflow::module)
      .def_ro("what", &Overflow::what)
      .def_ro("source", &Overflow::source, "The line that called the op.")
      .def_ro("magnitude_unscaled", &Overflow::magnitude_unscaled)
      .def_ro("ranges", &Overflow::ranges)
      .def("__bool__", [](const Overflow& self) { return static_cast<bool>(self); })
      .def("__repr__", [](const Overflow& self) { return explain(self); });
  inspector.def(
      "find_overflow",
      [](const nn::Module& model, const nb::typed<nb::callable, Tensor()>& loss, double scale,
         const std::optional<std::pair<std::uint64_t, std::uint64_t>>& random,
         const std::function<std::string()>& source) {
        std::optional<RandomKey> key;
        if (random) key = RandomKey{random->first, random->second};
        const auto compute = function_calling<Tensor>(loss);
        const nb::gil_scoped_release release;
        return amp::find_overflow(NamedModel(model), compute,
                                  {.scale = scale, .random = key, .source = source});
      },
      "model"_a, "loss"_a, "scale"_a, "random"_a.none(), "source"_a);
}

void bind_twin_run(nb::module_& inspector) {
  using amp::TwinErrors;
  using amp::TwinRun;
  using amp::TwinStep;
  nb::class_<TwinErrors>(inspector, "TwinErrors", "Relative errors of one layer in one step.")
      .def_ro("activation", &TwinErrors::activation)
      .def_ro("gradient", &TwinErrors::gradient)
      .def_ro("weight", &TwinErrors::weight);
  nb::class_<TwinStep>(inspector, "TwinStep", "One step of a TwinRun.")
      .def_ro("loss", &TwinStep::loss, "The loss in float32, or None.")
      .def_ro("low_loss", &TwinStep::low_loss, "The loss in low precision, or None.")
      .def_ro("layers", &TwinStep::layers, "In the order of TwinRun.layers.");
  nb::class_<amp::TwinDeviation>(inspector, "TwinDeviation", "The first error beyond a bound.")
      .def_ro("step", &amp::TwinDeviation::step)
      .def_ro("layer", &amp::TwinDeviation::layer)
      .def_prop_ro("quantity",
                   [](const amp::TwinDeviation& self) { return std::string(name(self.quantity)); })
      .def_ro("error", &amp::TwinDeviation::error)
      .def("__repr__", [](const amp::TwinDeviation& self) { return explain(self); });
  nb::class_<TwinRun>(inspector, "TwinRun",
                      "A training in low precision beside the same training in float32.")
      .def(
          "__init__",
          [](TwinRun* self, const nb::callable& build, std::int64_t steps, std::uint64_t seed,
             double bound) {
            const auto side = [&](bool low_precision) {
              const auto pair =
                  read<nb::tuple>(build(low_precision), "TwinRun", "the result of build");
              if (pair.size() != 2) {
                detail::fail("TwinRun",
                             "expected build to return a model and a step, got {} values",
                             pair.size());
              }
              const nb::object model = pair[0];
              if (!nb::isinstance<nn::Module>(model))
                refuse(model, "TwinRun", "the model", "a Module");
              const auto step = function_calling<OptionalTensor, std::int64_t>(
                  read<nb::callable>(pair[1], "TwinRun", "the step"));
              return amp::TwinSide{NamedModel(nb::cast<const nn::Module&>(model)),
                                   [step](std::int64_t i) { return or_undefined(step(i)); }};
            };
            new (self) TwinRun(side, {.steps = steps, .seed = seed, .bound = bound});
          },
          "build"_a, nb::kw_only(), "steps"_a = 10, "seed"_a = 0, "bound"_a = 0.1)
      .def_prop_ro("layers", [](const TwinRun& self) { return self.layers(); })
      .def_prop_ro("steps", [](const TwinRun& self) { return self.steps(); })
      .def_prop_ro("bound", &TwinRun::bound)
      .def(
          "first_beyond",
          [](const TwinRun& self, std::optional<double> bound) {
            return self.first_beyond(bound.value_or(self.bound()));
          },
          "bound"_a = nb::none(), "The first step and layer with a larger error, or None.")
      .def("__repr__", &printed<TwinRun>);
}

void bind_scale_timeline(nb::module_& inspector) {
  using amp::ScalePoint;
  using amp::ScaleTimeline;
  nb::class_<ScalePoint>(inspector, "ScalePoint", "One iteration of a ScaleTimeline.")
      .def_ro("step", &ScalePoint::step)
      .def_ro("scale", &ScalePoint::scale)
      .def_ro("next_scale", &ScalePoint::next_scale)
      .def_ro("loss", &ScalePoint::loss)
      .def_ro("skipped", &ScalePoint::skipped)
      .def_prop_ro("event", [](const ScalePoint& self) { return std::string(name(self.event)); })
      .def_prop_ro("cause", [](const ScalePoint& self) { return std::string(name(self.cause)); })
      .def_ro("text", &ScalePoint::text)
      .def_prop_ro("is_event", &ScalePoint::is_event);
  nb::class_<ScaleTimeline>(inspector, "ScaleTimeline",
                            "The loss scale with a cause for every skip, growth and back-off.")
      .def(
          "__init__",
          [](ScaleTimeline* self, const nb::list& reports, const nn::Module* model,
             const std::vector<const optim::Optimizer*>& optimizers) {
            const NamedModel names = named(model);
            new (self) ScaleTimeline(reports_of(reports),
                                     optimizers.empty() ? amp::ParameterNames(names)
                                                        : amp::ParameterNames(names, optimizers));
          },
          "reports"_a, nb::arg("model").none() = nb::none(),
          "optimizers"_a = std::vector<const optim::Optimizer*>())
      .def_prop_ro("points", [](const ScaleTimeline& self) { return self.points(); })
      .def("events", &ScaleTimeline::events, "The points with is_event.")
      .def("summary", &ScaleTimeline::summary)
      .def("__repr__", &printed<ScaleTimeline>);
}

}  // namespace

void bind_inspector(nb::module_& module) {
  nb::module_ inspector = module.def_submodule("inspector", "A look inside mixed precision.");
  inspector.def(
      "is_observed", [] { return halfgrad::detail::op_observer != nullptr; },
      "Whether an inspector observes this thread.");
  inspector.def(
      "call_module",
      [](const nn::Module& module, const nb::callable& forward, const nb::args& args,
         const nb::kwargs& kwargs) -> nb::object {
        const halfgrad::detail::ModuleCall call(module.identity());
        return forward(*args, **kwargs);
      },
      "module"_a, "forward"_a, "args"_a, "kwargs"_a,
      "Calls forward(*args, **kwargs) as a call of the module, for inspectors.");
  bind_inspector_observers(inspector);
  bind_overflow(inspector);
  bind_twin_run(inspector);
  bind_scale_timeline(inspector);
}

}  // namespace halfgrad::python
