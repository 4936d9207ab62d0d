#include <halfgrad/nn/module.h>
#include <halfgrad/python/bindings/bindings.h>

/// The class nn.Module. Python's part, calls and attributes, is in halfgrad/nn/module.py.
namespace halfgrad::python {
namespace {

template <class Value>
nb::dict dict_of(const OrderedDict<std::string, Value>& items) {
  nb::dict dict;
  for (const auto& [name, value] : items) dict[name.c_str()] = nb::cast(value);
  return dict;
}

nn::StateDict state_of(const nb::dict& dict) {
  nn::StateDict state;
  for (const auto [name, tensor] : dict) {
    const auto key = read<std::string>(name, "load_state_dict", "a key");
    state.insert(key, read<Tensor>(tensor, "load_state_dict", quoted(key)));
  }
  return state;
}

void bind_registration(ModuleClass& module) {
  module
      .def(
          "_register_parameter",
          [](nn::Module& self, const std::string& name, const OptionalTensor& tensor) {
            const Tensor parameter = or_undefined(tensor);
            self.register_parameter(name, parameter,
                                    !parameter.defined() || parameter.requires_grad());
          },
          "name"_a, "tensor"_a.none())
      .def(
          "_register_buffer",
          [](nn::Module& self, const std::string& name, const OptionalTensor& tensor) {
            self.register_buffer(name, or_undefined(tensor));
          },
          "name"_a, "tensor"_a.none())
      .def(
          "_register_module",
          [](nn::Module& self, const std::string& name, const nn::Module& child) {
            self.register_module(name, child);
          },
          "name"_a, "module"_a)
      .def("_replace_parameter", &nn::Module::replace_parameter, "name"_a, "tensor"_a)
      .def("_replace_buffer", &nn::Module::replace_buffer, "name"_a, "tensor"_a)
      .def(
          "_replace_module",
          [](nn::Module& self, const std::string& name, const nn::Module& child) {
            self.replace_module(name, child);
          },
          "name"_a, "module"_a)
      .def("_unregister", &nn::Module::unregister, "name"_a)
      .def("_own_parameters",
           [](const nn::Module& self) { return self.named_parameters(false).keys(); })
      .def("_own_buffers", [](const nn::Module& self) { return self.named_buffers(false).keys(); })
      .def("_extra", &nn::Module::extra);
}

/// Modes return the module, as in PyTorch.
void bind_modes(ModuleClass& module) {
  module
      .def_prop_rw(
          "training", &nn::Module::is_training,
          [](nb::handle_t<nn::Module> self, bool mode) {
            const nb::module_ python = nb::module_::import_("halfgrad.nn.module");
            python.attr("set_training")(self, mode);
          },
          "The mode. Assigning changes this module only; train() and eval() change those below, "
          "too.")
      .def(
          "train",
          [](nn::Module& self, bool mode) -> nn::Module& {
            self.train(mode);
            return self;
          },
          "mode"_a = true, nb::rv_policy::none,
          "Sets training or evaluation mode here and in all submodules.")
      .def(
          "eval",
          [](nn::Module& self) -> nn::Module& {
            self.eval();
            return self;
          },
          nb::rv_policy::none, "Sets evaluation mode.")
      .def(
          "_to", [](nn::Module& self, DType dtype) { self.to(dtype); }, "dtype"_a, ReleaseGil())
      .def(
          "_to", [](nn::Module& self, Device device) { self.to(device); }, "device"_a,
          ReleaseGil());
}

}  // namespace

void bind_module(nb::module_& module) {
  nb::module_ nn =
      module.def_submodule("nn", "Modules: parameters, buffers and submodules by name.");
  ModuleClass type(nn, "Module", nb::dynamic_attr(), "Parameters, buffers and submodules by name.");
  type.def(
      "__init__",
      [](nb::pointer_and_handle<nn::Module> self, const std::string& extra) {
        const auto name = nb::cast<std::string>(self.h.type().attr("__name__"));
        new (self.p) nn::Module(name, extra);
      },
      "extra"_a = "", "`extra` is what extra_repr() returns.");
  nn.def(
      "is_ready", [](nb::handle_t<nn::Module> self) { return nb::inst_ready(self); }, "module"_a,
      "Whether Module.__init__() has run.");
  bind_module_methods(type);
  bind_registration(type);
  bind_modes(type);
  type.def("zero_grad", &nn::Module::zero_grad, "set_to_none"_a = true,
           "Drops the gradients, or overwrites them with zeros.")
      .def("_state_dict", [](const nn::Module& self) { return dict_of(self.state_dict()); })
      .def(
          "_load_state_dict",
          [](nn::Module& self, const nb::dict& state_dict, bool strict) {
            const nn::StateDict state = state_of(state_dict);
            const nb::gil_scoped_release release;
            const nn::IncompatibleKeys keys = self.load_state_dict(state, {.strict = strict});
            return std::pair(keys.missing_keys, keys.unexpected_keys);
          },
          "state_dict"_a, "strict"_a)
      .def("is_same", &nn::Module::is_same, "other"_a);
}

}  // namespace halfgrad::python
