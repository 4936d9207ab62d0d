#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <halfgrad/autograd/module_call.h>
#include <halfgrad/core/scoped_value.h>
#include <halfgrad/python/bindings/bindings.h>
#include <halfgrad/report/trace/tensorboard_writer.h>
#include <halfgrad/report/trace/trace_writer.h>

/// Timelines for Perfetto, and event files for TensorBoard. halfgrad/tracing.py wraps both.
namespace halfgrad::python {
namespace {

using report::TensorBoardWriter;
using report::TraceWriter;

/// Notifies a trace of this thread's ops; may be destroyed on another thread.
struct Observing {
  explicit Observing(const std::shared_ptr<TraceWriter>& trace)
      : guard("Trace", detail::op_observer, trace.get(), trace) {}
  detail::GuardedValue<OpObserver*> guard;
};

/// Draws an optimizer's steps.
struct Watching {
  Watching(const std::shared_ptr<TraceWriter>& trace, optim::Optimizer* optimizer)
      : owner(trace), watch(trace->watch(*optimizer)) {}
  std::shared_ptr<TraceWriter> owner;
  std::shared_ptr<void> watch;
};

/// The calls of Python's modules on this thread, outermost first: C++ sees its own alone.
thread_local std::vector<std::unique_ptr<detail::ModuleCall>> module_calls;

void bind_module_calls(nb::module_& tracing) {
  tracing.def(
      "enter_module",
      [](const nn::Module& module) {
        module_calls.push_back(std::make_unique<detail::ModuleCall>(module.identity()));
      },
      "module"_a, "Begins a call of the module, for observers.");
  tracing.def("module_depth", [] { return module_calls.size(); });
  tracing.def(
      "leave_modules",
      [](std::size_t depth) {
        while (module_calls.size() > depth) module_calls.pop_back();
      },
      "depth"_a, "Ends the innermost calls, until `depth` are left.");
}

amp::NamedModel named(const nn::Module* model) {
  return model == nullptr ? amp::NamedModel() : amp::NamedModel(*model);
}

void bind_trace(nb::module_& tracing) {
  nb::class_<TraceWriter>(tracing, "TraceWriter", "A timeline of a run; see halfgrad.tracing.")
      .def(
          "__init__",
          [](TraceWriter* self, const std::filesystem::path& file, const nn::Module* model,
             std::int64_t max_calls) {
            new (self) TraceWriter(file, named(model), {.max_calls = max_calls});
          },
          "file"_a, "model"_a.none() = nb::none(), "max_calls"_a = report::TraceOptions().max_calls)
      .def("observe", &Scope::of<Observing, std::shared_ptr<TraceWriter>>,
           "Notifies the trace of this thread's ops until the result's end().")
      .def(
          "watch",
          [](const std::shared_ptr<TraceWriter>& self, optim::Optimizer& optimizer) {
            return Scope::of<Watching>(self, &optimizer);
          },
          "optimizer"_a)
      .def(
          "begin_group",
          [](TraceWriter& self, const std::string& name, const nn::Module* model) {
            self.begin_group(name, named(model));
          },
          "name"_a, "model"_a.none() = nb::none())
      .def("counter", &TraceWriter::counter, "name"_a, "value"_a)
      .def(
          "instant",
          [](TraceWriter& self, const std::string& track, const std::string& name) {
            self.instant(track, name);
          },
          "track"_a, "name"_a)
      .def("scaler_update", &TraceWriter::scaler_update, "scale"_a, "next_scale"_a, "skipped"_a)
      .def("end_step", &TraceWriter::end_step, ReleaseGil())
      .def("write", &TraceWriter::write, ReleaseGil());
}

void bind_tensorboard(nb::module_& tracing) {
  nb::class_<TensorBoardWriter>(tracing, "EventFile", "A file of events; see halfgrad.tracing.")
      .def(nb::init<const std::filesystem::path&>(), "folder"_a)
      .def_prop_ro("file", &TensorBoardWriter::file)
      .def("add_scalar", &TensorBoardWriter::add_scalar, "tag"_a, "value"_a, "global_step"_a)
      .def(
          "add_histogram",
          [](TensorBoardWriter& self, const std::string& tag, const Tensor& values,
             std::int64_t step) { self.add_histogram(tag, values.array(), step); },
          "tag"_a, "values"_a, "global_step"_a, ReleaseGil())
      .def(
          "add_exponents",
          [](TensorBoardWriter& self, const std::string& tag, const Tensor& values,
             std::int64_t step) {
            amp::ExponentHistogram exponents;
            exponents.add(values.array());
            self.add_exponents(tag, exponents, step);
          },
          "tag"_a, "values"_a, "global_step"_a, ReleaseGil())
      .def("add_text", &TensorBoardWriter::add_text, "tag"_a, "text"_a, "global_step"_a)
      .def("flush", &TensorBoardWriter::flush, ReleaseGil())
      .def("close", &TensorBoardWriter::close, ReleaseGil());
}

}  // namespace

void bind_tracing(nb::module_& module) {
  nb::module_ tracing = module.def_submodule("tracing", "Timelines and event files.");
  bind_module_calls(tracing);
  bind_trace(tracing);
  bind_tensorboard(tracing);
}

}  // namespace halfgrad::python
