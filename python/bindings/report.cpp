#include <halfgrad/python/bindings/report.h>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/report/run_report.h>

#include <nanobind/stl/filesystem.h>

#include <halfgrad/python/bindings/bindings.h>

/// The part of RunReport that halfgrad/report.py wraps: it keeps the model and the scaler alive.
namespace halfgrad::python {

void bind_report(nb::module_& module) {
  nb::class_<RunReport>(module, "_RunReport")
      .def(nb::init<std::filesystem::path>(), "file"_a)
      .def(
          "begin_run",
          [](RunReport& self, const std::string& name, const std::string& task,
             const std::string& score, const nn::Module* model, const amp::GradScaler* scaler,
             const std::vector<const optim::Optimizer*>& optimizers, std::int64_t every) {
            self.begin_run({.name = name,
                            .task = task,
                            .score = score,
                            .model = model == nullptr ? amp::NamedModel() : amp::NamedModel(*model),
                            .optimizers = optimizers,
                            .scaler = scaler,
                            .every = every});
          },
          "name"_a, "task"_a, "score"_a, "model"_a.none(), "scaler"_a.none(), "optimizers"_a,
          "every"_a)
      .def("end_run", &RunReport::end_run, ReleaseGil())
      .def("describe", &RunReport::describe, "title"_a, "command"_a)
      .def("note", &RunReport::note, "sentence"_a)
      .def("set_interrupted", &RunReport::set_interrupted)
      .def("step", nb::overload_cast<const Tensor&, double>(&RunReport::step), "loss"_a, "score"_a,
           ReleaseGil())
      .def("step", nb::overload_cast<double, double>(&RunReport::step), "loss"_a, "score"_a,
           ReleaseGil())
      .def("result", &RunReport::result, "name"_a, "value"_a)
      .def("finish", &RunReport::finish, ReleaseGil())
      .def("html", &RunReport::html)
      .def("json", &RunReport::json);
}

}  // namespace halfgrad::python
