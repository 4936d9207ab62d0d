#include <halfgrad/python/bindings/inspector.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <nanobind/stl/map.h>

#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/autograd/op_observer.h>

/// The observers of the inspector: OpLog and UnderflowLedger.
namespace halfgrad::python {
namespace {

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

}  // namespace

void bind_inspector_observers(nb::module_& inspector) {
  bind_op_log(inspector);
  bind_ledger(inspector);
}

}  // namespace halfgrad::python
