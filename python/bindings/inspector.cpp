#include <sstream>
#include <string>

#include <nanobind/stl/map.h>

#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/amp/inspector/overflow.h>
#include <halfgrad/amp/inspector/scale_timeline.h>
#include <halfgrad/amp/inspector/twin_run.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/autograd/module_call.h>
#include <halfgrad/python/bindings/bindings.h>
#include <halfgrad/python/bindings/scaler_state.h>

/// The inspector: OpLog, UnderflowLedger, find_overflow, TwinRun and ScaleTimeline. Tables for
/// notebooks are in halfgrad/inspector.py.
namespace halfgrad::python {
namespace {

using amp::NamedModel;

template <class T>
std::string printed(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

NamedModel named(const nn::Module* model) { return model ? NamedModel(*model) : NamedModel(); }

/// A guard that Scope can hold.
struct Observing {
  explicit Observing(OpObserver* observer) : guard(*observer) {}
  OpObserverGuard guard;
};

void bind_op_log(nb::module_& inspector) {
  using amp::OperandRecord;
  using amp::OpLog;
  using amp::OpRecord;
  using amp::OpSummary;
  nb::class_<OperandRecord>(inspector, "OperandRecord", "How an operand came to its dtype.")
      .def_ro("given", &OperandRecord::given, "The dtype that the caller passed.")
      .def_ro("read", &OperandRecord::read, "The dtype that the op read.")
      .def_prop_ro(
          "cast",
          [](const OperandRecord& self) {
            constexpr const char* kNames[] = {"none", "made", "cached"};
            return kNames[static_cast<int>(self.cast)];
          },
          "\"none\", \"made\" for this call, or \"cached\" earlier in the region.")
      .def_ro("numel", &OperandRecord::numel)
      .def_ro("parameter", &OperandRecord::parameter, "Its name in the model, or \"\".")
      .def_prop_ro("bytes_cast", &OperandRecord::bytes_cast);
  nb::class_<OpRecord>(inspector, "OpRecord", "One call of an op, and what autocast decided.")
      .def_ro("op", &OpRecord::op)
      .def_prop_ro("precision",
                   [](const OpRecord& self) { return std::string(name(self.precision)); })
      .def_ro("module", &OpRecord::module, "The dotted path of the module that called the op.")
      .def_ro("operands", &OpRecord::operands)
      .def_ro("result", &OpRecord::result)
      .def_ro("depth", &OpRecord::depth, "The number of autocast regions in force.")
      .def_ro("is_composite", &OpRecord::is_composite)
      .def_ro("step", &OpRecord::step)
      .def_prop_ro("run_dtype", &OpRecord::run_dtype)
      .def_prop_ro("is_promoted", &OpRecord::is_promoted)
      .def("__repr__", [](const OpRecord& self) { return explain(self); });
  nb::class_<OpSummary>(inspector, "OpSummary", "The calls of one op that ran in one dtype.")
      .def_ro("op", &OpSummary::op)
      .def_prop_ro("precision",
                   [](const OpSummary& self) { return std::string(name(self.precision)); })
      .def_ro("run_dtype", &OpSummary::run_dtype)
      .def_ro("calls", &OpSummary::calls)
      .def_ro("casts_made", &OpSummary::casts_made)
      .def_ro("casts_cached", &OpSummary::casts_cached)
      .def_ro("bytes_cast", &OpSummary::bytes_cast)
      .def_ro("promoted", &OpSummary::promoted);
  nb::class_<OpLog>(inspector, "OpLog", "Records the forward ops of this thread.")
      .def(
          "__init__", [](OpLog* self, const nn::Module* model) { new (self) OpLog(named(model)); },
          nb::arg("model").none() = nb::none())
      .def(
          "begin", [](OpLog& self) { return Scope::of<Observing>(&self); }, nb::keep_alive<0, 1>(),
          "Begins to observe; the result's end() ends it.")
      .def_prop_ro("records", &OpLog::records, nb::rv_policy::copy, "The calls in their order.")
      .def(
          "summary",
          [](const OpLog& self, std::optional<std::int64_t> step) {
            return step ? self.summary(*step) : self.summary();
          },
          "step"_a = nb::none(), "One row for each op and dtype, over all steps or in one.")
      .def("promoted", &OpLog::promoted, "step"_a,
           "The calls of a step that ran in float32 because of one float32 operand.")
      .def("next_step", &OpLog::next_step, "Later calls belong to the next step.")
      .def_prop_ro("step", &OpLog::step)
      .def("clear", &OpLog::clear, "Forgets all calls.")
      .def("__repr__", &printed<OpLog>);
}

void bind_ledger(nb::module_& inspector) {
  using amp::ExponentHistogram;
  using amp::GradientRange;
  using amp::Recommendation;
  using amp::UnderflowLedger;
  nb::class_<ExponentHistogram>(inspector, "ExponentHistogram",
                                "Counts of values by their binary exponent.")
      .def("count", &ExponentHistogram::count, "exponent"_a)
      .def("between", &ExponentHistogram::between, "first"_a, "end"_a)
      .def_prop_ro(
          "counts",
          [](const ExponentHistogram& self) {
            std::map<int, std::int64_t> counts;
            for (int e = ExponentHistogram::kFirst; e <= ExponentHistogram::kLast; ++e) {
              if (self.count(e) > 0) counts[e] = self.count(e);
            }
            return counts;
          },
          "The counts that are not 0, by exponent.")
      .def_prop_ro("zeros", &ExponentHistogram::zeros)
      .def_prop_ro("infinities", &ExponentHistogram::infinities)
      .def_prop_ro("nans", &ExponentHistogram::nans)
      .def_prop_ro("total", &ExponentHistogram::total)
      .def_prop_ro("largest", &ExponentHistogram::largest)
      .def_prop_ro("smallest", &ExponentHistogram::smallest);
  nb::class_<GradientRange>(inspector, "GradientRange",
                            "The gradients of one parameter or activation.")
      .def_ro("name", &GradientRange::name)
      .def_ro("is_parameter", &GradientRange::is_parameter)
      .def_ro("dtype", &GradientRange::dtype)
      .def_ro("scaled", &GradientRange::scaled, "As they are: multiplied by the loss scale.")
      .def_ro("unscaled", &GradientRange::unscaled, "Divided by the scale.")
      .def_prop_ro("saved", &GradientRange::saved)
      .def_prop_ro("lost_without_scale", &GradientRange::lost_without_scale)
      .def_prop_ro("lost_with_scale", &GradientRange::lost_with_scale)
      .def_prop_ro("subnormal_without_scale", &GradientRange::subnormal_without_scale)
      .def_prop_ro("subnormal_with_scale", &GradientRange::subnormal_with_scale)
      .def_prop_ro("share_of_zeros", &GradientRange::share_of_zeros)
      .def_prop_ro("headroom_bits", &GradientRange::headroom_bits);
  nb::class_<Recommendation>(inspector, "Recommendation", "A scale for the gradients seen.")
      .def_ro("scale", &Recommendation::scale)
      .def_ro("saved", &Recommendation::saved)
      .def_ro("lost", &Recommendation::lost)
      .def_ro("want_bfloat16", &Recommendation::want_bfloat16)
      .def_ro("want_float32", &Recommendation::want_float32);
  nb::class_<UnderflowLedger>(inspector, "UnderflowLedger",
                              "Histograms of a model's gradients by exponent.")
      .def(
          "__init__",
          [](UnderflowLedger* self, const nn::Module* model, std::int64_t every) {
            new (self) UnderflowLedger(named(model), {.every = every});
          },
          nb::arg("model").none() = nb::none(), nb::kw_only(), "every"_a = 1)
      .def(
          "begin",
          [](UnderflowLedger& self, double scale) {
            struct Measuring {
              explicit Measuring(const std::pair<UnderflowLedger*, double>& what)
                  : guard(what.first->observe(what.second)) {}
              OpObserverGuard guard;
            };
            return Scope::of<Measuring>(std::pair(&self, scale));
          },
          "scale"_a, nb::keep_alive<0, 1>(), "Begins to observe; the result's end() ends it.")
      .def_prop_ro("measured", &UnderflowLedger::measured)
      .def("ranges", &UnderflowLedger::ranges)
      .def("recommend", &UnderflowLedger::recommend)
      .def("__repr__", &printed<UnderflowLedger>);
}

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
      [](const nn::Module& model, const std::function<Tensor()>& loss, double scale,
         const std::optional<std::pair<std::uint64_t, std::uint64_t>>& random,
         const std::function<std::string()>& source) {
        std::optional<RandomKey> key;
        if (random) key = RandomKey{random->first, random->second};
        return amp::find_overflow(NamedModel(model), loss,
                                  {.scale = scale, .random = key, .source = source});
      },
      "model"_a, "loss"_a, "scale"_a, "random"_a.none(), "source"_a, ReleaseGil());
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
  using Step = std::function<OptionalTensor(std::int64_t)>;
  nb::class_<TwinRun>(inspector, "TwinRun",
                      "A training in low precision beside the same training in float32.")
      .def(
          "__init__",
          [](TwinRun* self, const nb::callable& build, std::int64_t steps, std::uint64_t seed,
             double bound) {
            const auto side = [&](bool low_precision) {
              const auto pair = nb::cast<nb::tuple>(build(low_precision));
              const Step step = nb::cast<Step>(pair[1]);
              return amp::TwinSide{NamedModel(nb::cast<const nn::Module&>(pair[0])),
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
  bind_op_log(inspector);
  bind_ledger(inspector);
  bind_overflow(inspector);
  bind_twin_run(inspector);
  bind_scale_timeline(inspector);
}

}  // namespace halfgrad::python
