#include <string>
#include <vector>

#include <halfgrad/python/bindings/bindings.h>
#include <halfgrad/python/bindings/check.h>
#include <halfgrad/testing/sampling_check.h>

/// The checks of random kernels, for halfgrad.check_dropout() and halfgrad.check_sampling().
namespace halfgrad::python {
namespace {

using testing::DistributionReport;
using testing::RandomState;

/// Calls a kernel of Python; its exceptions are findings.
template <class... Arguments>
void call(const PythonObject& function, const Arguments&... arguments) {
  const nb::gil_scoped_acquire lock;
  try {
    function.get()(arguments...);
  } catch (nb::python_error& error) {
    rethrow(error);
  }
}

/// The parts of a report that Python keeps: whether the kernel passed, the text and JSON.
template <class Check>
nb::tuple kept(const Check& check) {
  const DistributionReport report = [&] {
    const nb::gil_scoped_release others_run;
    return check();
  }();
  return nb::make_tuple(report.passed(), to_text(report), to_json(report));
}

nb::tuple check_dropout(nb::callable function, const std::string& dtype, const std::string& device,
                        bool has_mask, const std::vector<double>& probabilities,
                        std::uint64_t seed) {
  const PythonObject object(std::move(function));
  const testing::DropoutKernel kernel = [&](const Array& x, double p, RandomState state,
                                            const Array& y, const Array& mask) {
    const Tensor flags = mask.defined() ? Tensor(mask) : Tensor();
    call(object, Tensor(x), p, state.seed, state.offset, Tensor(y), flags);
  };
  const testing::DropoutCheckOptions options{.dtype = testing::dtype_named(dtype),
                                             .device = Device(device),
                                             .has_mask = has_mask,
                                             .probabilities = probabilities,
                                             .seed = seed};
  return kept([&] { return testing::check_dropout(kernel, options); });
}

nb::tuple check_sampling(nb::callable function, const std::string& dtype, const std::string& device,
                         bool logits, std::int64_t top_k, std::uint64_t seed) {
  const PythonObject object(std::move(function));
  const testing::SamplingKernel kernel = [&](const Array& weights, RandomState state,
                                             const Array& classes) {
    call(object, Tensor(weights), state.seed, state.offset, Tensor(classes));
  };
  const testing::SamplingCheckOptions options{.dtype = testing::dtype_named(dtype),
                                              .device = Device(device),
                                              .logits = logits,
                                              .top_k = top_k,
                                              .seed = seed};
  return kept([&] { return testing::check_sampling(kernel, options); });
}

}  // namespace

void bind_check_distribution(nb::module_& module) {
  module.def("check_dropout", &check_dropout, "function"_a, "dtype"_a, "device"_a, "has_mask"_a,
             "probabilities"_a, "seed"_a);
  module.def("check_sampling", &check_sampling, "function"_a, "dtype"_a, "device"_a, "logits"_a,
             "top_k"_a, "seed"_a);
}

}  // namespace halfgrad::python
