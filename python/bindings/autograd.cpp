#include <functional>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/checkpoint.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/core/random.h>
#include <halfgrad/python/bindings/bindings.h>

/// Gradients, their modes, checkpointing and the random generator.
namespace halfgrad::python {
namespace {

using OptionalTensors = std::vector<OptionalTensor>;

std::vector<Tensor> or_undefined(const std::optional<OptionalTensors>& tensors) {
  std::vector<Tensor> result;
  for (const OptionalTensor& tensor : tensors.value_or(OptionalTensors())) {
    result.push_back(tensor.value_or(Tensor()));
  }
  return result;
}

void bind_gradients(nb::module_& module) {
  module.def(
      "backward",
      [](const std::vector<Tensor>& tensors, const std::optional<OptionalTensors>& gradients,
         bool retain_graph, bool create_graph, const std::optional<std::vector<Tensor>>& inputs) {
        const std::optional<bool> retain = retain_graph;
        if (!inputs) {
          autograd::backward(tensors, or_undefined(gradients), retain, create_graph);
        } else {
          autograd::backward(tensors, or_undefined(gradients), retain, create_graph, *inputs);
        }
      },
      "tensors"_a, "grad_tensors"_a = nb::none(), "retain_graph"_a = false,
      "create_graph"_a = false, "inputs"_a = nb::none(), ReleaseGil(),
      "Adds the gradients of sum_i <tensors[i], grad_tensors[i]> to the grad of every leaf.");
  module.def(
      "grad",
      [](const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
         const std::optional<OptionalTensors>& gradients, bool retain_graph, bool create_graph,
         bool allow_unused) {
        OptionalTensors result;
        for (const Tensor& tensor : autograd::grad(outputs, inputs, or_undefined(gradients),
                                                   {.retain_graph = retain_graph,
                                                   .create_graph = create_graph,
                                                   .allow_unused = allow_unused})) {
          result.push_back(or_none(tensor));
        }
        return result;
      },
      "outputs"_a, "inputs"_a, "grad_outputs"_a = nb::none(), "retain_graph"_a = false,
      "create_graph"_a = false, "allow_unused"_a = false, ReleaseGil(),
      "Returns the gradients with respect to `inputs` instead of accumulating them. Raises\n"
      "RuntimeError for an input that is not used; with allow_unused its gradient is None.");
  module.def(
      "checkpoint",
      [](const nb::callable& function, const std::vector<Tensor>& inputs) {
        const auto call = function_calling<std::vector<Tensor>, std::vector<Tensor>>(function);
        const nb::gil_scoped_release release;
        return utils::detail::checkpoint(call, inputs);
      },
      "function"_a, "inputs"_a,
      "Returns function(inputs), a list, and saves nothing for backward, which runs the\n"
      "function once more.");
}

void bind_modes(nb::module_& module) {
  module.def("is_grad_enabled", &GradMode::is_enabled);
  module.def("is_inference_mode_enabled", &InferenceMode::is_enabled);
  module.def("set_grad_mode", &Scope::of<AutoGradMode, bool>, "enabled"_a,
             "Switches recording of the graph on or off until the result's end().");
  module.def(
      "set_grad_enabled", [](bool enabled) { detail::modes.grad = enabled; }, "enabled"_a,
      "Switches recording on or off; the end of a surrounding region restores its own setting.");
  module.def("set_inference_mode", &Scope::of<InferenceMode, bool>, "enabled"_a);
  module.def("set_anomaly_detection", &Scope::of<autograd::DetectAnomalyGuard>);
}

}  // namespace

void bind_autograd(nb::module_& module, TensorClass&) {
  nb::module_ autograd = module.def_submodule("autograd", "Gradients of tensors.");
  bind_gradients(autograd);
  bind_modes(autograd);
}

void bind_random(nb::module_& module) {
  nb::class_<Generator>(
      module, "Generator",
      "The source of random tensors: a seed, and a stream that grows by one with\n"
      "every tensor.")
      .def(nb::init<std::uint64_t>(), "seed"_a = 0)
      .def(
          "__init__", [](Generator* self, Device /*device*/) { new (self) Generator(); },
          "device"_a, "A generator draws the same values for every device.")
      .def(
          "manual_seed",
          [](Generator& self, std::uint64_t seed) -> Generator& {
            self.manual_seed(seed);
            return self;
          },
          "seed"_a, nb::rv_policy::none, "Restarts from a seed, and returns this generator.")
      .def("initial_seed", &Generator::initial_seed)
      .def(
          "get_state",
          [](const Generator& self) {
            const RandomKey key = self.get_state();
            return std::pair(key.seed, key.stream);
          },
          "Returns (seed, stream).")
      .def(
          "set_state",
          [](Generator& self, std::pair<std::uint64_t, std::uint64_t> state) {
            self.set_state({state.first, state.second});
          },
          "state"_a);
  module.def(
      "manual_seed",
      [](std::uint64_t seed) -> Generator& {
        manual_seed(seed);
        return default_generator();
      },
      "seed"_a, nb::rv_policy::reference, "Seeds the default generator, and returns it.");
  module.def(
      "use_generator",
      [](Generator& generator) { return Scope::of<detail::GeneratorScope>(std::ref(generator)); },
      "generator"_a, nb::keep_alive<0, 1>(),
      "Makes random functions of this thread draw from the generator until the result's end().");
  module.def("default_generator", &default_generator, nb::rv_policy::reference);
}

}  // namespace halfgrad::python
