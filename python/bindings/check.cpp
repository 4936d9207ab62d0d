#include <cstring>
#include <memory>
#include <string>

#include <signal.h>
#include <unistd.h>

#include <nanobind/ndarray.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/bindings.h>
#include <halfgrad/python/bindings/check.h>
#include <halfgrad/testing/kernel_process.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/testing/kernel_server.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/testing/stored_case.h>

/// The kernel checker, for halfgrad.check() in python/halfgrad/check.
namespace halfgrad::python {
namespace {

using testing::CheckInterrupted;
using testing::Kernel;
using testing::KernelCheckOptions;
using testing::KernelReport;

/// A kernel that calls function(inputs, outputs) with Tensors that share the arrays' memory.
Kernel kernel_of(const PythonObject& function) {
  return [function](const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
    const nb::gil_scoped_acquire lock;
    const auto tensors = [](const std::vector<Array>& arrays) {
      nb::list all;
      for (const Array& array : arrays) all.append(Tensor(array));
      return all;
    };
    try {
      function.get()(tensors(inputs), tensors(outputs));
    } catch (nb::python_error& error) {
      rethrow(error);
    }
  };
}

/// Makes a process of which Python knows.
int fork_python() {
  const nb::gil_scoped_acquire lock;
  PyOS_BeforeFork();
  const int child = ::fork();
  if (child == 0) {
    PyOS_AfterFork_Child();
  } else {
    PyOS_AfterFork_Parent();
  }
  return child;
}

Kernel isolated(const Kernel& kernel, double timeout) {
  const testing::StartKernel start = [kernel](int socket, int memory) {
    ::signal(SIGINT, SIG_IGN);  // Ctrl-C is for the check
    testing::serve_kernel(
        socket, memory, [&] { return kernel; }, Device{});
  };
  return testing::kernel_in_process(start, timeout, fork_python);
}

/// Calls Python's handlers of signals, so that Ctrl-C ends a check.
void let_python_interrupt(std::int64_t, std::int64_t) {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return;
  nb::python_error error;
  rethrow(error);
}

/// The parts of a report that Python keeps: whether the kernel passed, the text, JSON and JUnit.
nb::tuple kept(const KernelReport& report) {
  return nb::make_tuple(report.passed(), testing::to_text(report), testing::to_json(report),
                        testing::to_junit({report}));
}

nb::tuple check(nb::callable function, nb::handle name_or_formula, const nb::dict& given,
                std::optional<double> timeout) {
  const testing::KernelOp op = op_of(name_or_formula);
  KernelCheckOptions options = check_options(given);
  options.progress = let_python_interrupt;
  const Kernel kernel = kernel_of(PythonObject(std::move(function)));
  const auto report = [&] {
    const nb::gil_scoped_release others_run;
    return testing::check_op(timeout ? isolated(kernel, *timeout) : kernel, op, options);
  };
  return kept(report());
}

/// An array of NumPy that shares a tensor's memory; the bits of bfloat16, as uint16.
nb::object numpy_bits(const Tensor& tensor) {
  const bool bits = tensor.dtype() == kBFloat16;
  if (!bits) return nb::cast(tensor).attr("numpy")();
  auto held = std::make_unique<Tensor>(tensor);
  const nb::capsule owner(held.release(),
                          [](void* kept) noexcept { delete static_cast<Tensor*>(kept); });
  const Shape& sizes = tensor.sizes();
  const std::vector<std::size_t> shape(sizes.begin(), sizes.end());
  return nb::cast(nb::ndarray<nb::numpy>(tensor.array().data(), shape.size(), shape.data(), owner,
                                         tensor.strides().data(), nb::dtype<std::uint16_t>()),
                  nb::rv_policy::reference);
}

/// A tensor of bfloat16 with these bits, copied.
Tensor from_bits(const nb::ndarray<const std::uint16_t, nb::c_contig, nb::device::cpu>& bits) {
  Shape sizes;
  for (std::size_t i = 0; i < bits.ndim(); ++i) {
    sizes.push_back(static_cast<std::int64_t>(bits.shape(i)));
  }
  const Tensor tensor = empty(sizes, kBFloat16);
  if (bits.size() > 0) std::memcpy(tensor.array().data(), bits.data(), 2 * bits.size());
  return tensor;
}

/// One case for a kernel that runs elsewhere.
struct ListedCase {
  std::shared_ptr<const testing::KernelOp> op;
  KernelCheckOptions options;
  testing::KernelCase place;

  std::vector<Values> operands() const { return testing::case_operands(*op, place); }
  std::vector<Tensor> inputs() const {
    return testing::operand_tensors(*op, operands(), place.contract.dtype);
  }
  /// The expected result and the budget of each output, in float64.
  std::vector<std::pair<Tensor, Tensor>> budgets() const {
    std::vector<std::pair<Tensor, Tensor>> all;
    for (const testing::ExpectedOutput& each :
         testing::expected_outputs(*op, place.dims, operands(), place.contract)) {
      all.emplace_back(each.expected, each.allowed);
    }
    return all;
  }
  std::vector<std::string> output_dtypes() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < testing::output_shapes(*op, place.dims).size(); ++i) {
      names.emplace_back(name(testing::output_dtype(*op, i, place.contract.output)));
    }
    return names;
  }
  nb::tuple judge(const std::vector<Tensor>& outputs) const {
    const std::vector<Shape> shapes = testing::output_shapes(*op, place.dims);
    if (outputs.size() != shapes.size()) {
      detail::fail("judge", "expected {} outputs, got {}", shapes.size(), outputs.size());
    }
    std::vector<Values> values;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const DType dtype = testing::output_dtype(*op, i, place.contract.output);
      if (outputs[i].sizes() != shapes[i] || outputs[i].dtype() != dtype) {
        detail::fail("judge", "expected an output{} of {}, {}, got {}, {}",
                     testing::of_output(*op, i), shapes[i], dtype, outputs[i].sizes(),
                     outputs[i].dtype());
      }
      values.push_back({shapes[i], outputs[i].to_vector<double>()});
    }
    KernelReport report = testing::empty_report(*op, options);
    report.add(testing::judge_outputs(*op, operands(), values, place.contract), place);
    report.judge_bias();
    return kept(report);
  }
};

std::vector<ListedCase> cases(nb::handle name_or_formula, const nb::dict& given) {
  const KernelCheckOptions options = check_options(given);
  const auto op = std::make_shared<const testing::KernelOp>(
      testing::with_parameters(op_of(name_or_formula), options.parameters));
  std::vector<ListedCase> all;
  for (const testing::KernelCase& place : testing::listed_cases(*op, options)) {
    all.push_back({op, options, place});
  }
  return all;
}

/// Writes the smallest failing case of a report in JSON, read by Python.
void save_smallest(const std::string& path, const nb::dict& report, nb::handle name_or_formula) {
  KernelReport saved;
  const auto text = [](const nb::dict& from, const char* key) {
    return nb::cast<std::string>(from[key]);
  };
  const nb::dict smallest = nb::cast<nb::dict>(report["smallest_case"]);
  const nb::dict dims = nb::cast<nb::dict>(smallest["dims"]);
  const auto size = [&](const char* key) { return nb::cast<std::int64_t>(dims[key]); };
  const std::int64_t columns = dims.contains("columns") ? size("columns") : 0;
  saved.op = text(report, "op");
  saved.parameters = op_parameters(nb::cast<nb::dict>(report["parameters"]));
  saved.dtype = testing::dtype_named(text(report, "dtype"));
  saved.output = testing::dtype_named(text(report, "output"));
  saved.accumulate = testing::dtype_named(text(report, "accumulate"));
  testing::ShrunkCase shrunk{testing::fault_named(text(smallest, "fault")),
                             text(smallest, "message"),
                             {size("m"), size("n"), size("k"), columns},
                             {}};
  for (nb::handle operand : nb::borrow<nb::list>(smallest["operands"])) {
    Values values{nb::cast<Shape>(operand["shape"]), {}};
    for (nb::handle x : nb::borrow<nb::list>(operand["data"])) {
      values.data.push_back(nb::cast<double>(nb::float_(x)));  // "inf" and "nan" are strings
    }
    shrunk.operands.push_back(std::move(values));
  }
  saved.shrunk = std::move(shrunk);
  testing::save_case(path, saved, op_of(name_or_formula));
}

void bind_case(nb::module_& module) {
  nb::class_<ListedCase>(module, "KernelCase", "One set of inputs of a check.")
      .def_prop_ro("inputs", &ListedCase::inputs)
      .def_prop_ro("budgets", &ListedCase::budgets)
      .def_prop_ro("dims",
                   [](const ListedCase& self) {
                     const testing::Dims& d = self.place.dims;
                     return d.columns > 0 ? nb::make_tuple(d.m, d.n, d.k, d.columns)
                                          : nb::make_tuple(d.m, d.n, d.k);
                   })
      .def_prop_ro("kind", [](const ListedCase& self) { return name(self.place.inputs); })
      .def_prop_ro("seed", [](const ListedCase& self) { return self.place.seed; })
      .def_prop_ro("name", [](const ListedCase& self) { return testing::file_name(self.place); })
      .def_prop_ro("output_dtypes", &ListedCase::output_dtypes)
      .def("judge", &ListedCase::judge);
}

}  // namespace

void rethrow(nb::python_error& error) {
  if (error.matches(PyExc_KeyboardInterrupt)) throw CheckInterrupted();
  const std::string text = nb::cast<std::string>(nb::str(error.value()));
  const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
  throw std::runtime_error(type == "KernelRaised" ? text : type + ": " + text);
}

void bind_check(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_checking", "The parts of halfgrad.check().");
  bind_case(module);
  bind_check_distribution(module);
  module.def("check", &check, "function"_a, "op"_a, "options"_a, "timeout"_a = nb::none());
  module.def("cases", &cases, "op"_a, "options"_a);
  module.def("from_bits", &from_bits, "bits"_a);
  module.def("numpy_bits", &numpy_bits, "tensor"_a);
  module.def("save_smallest", &save_smallest, "path"_a, "report"_a, "op"_a);
  module.def(
      "copy", [](Tensor to, const Tensor& from) { to.copy_(from); }, "to"_a, "source"_a);
}

}  // namespace halfgrad::python
