#include <sstream>

#include <halfgrad/nn/module.h>
#include <halfgrad/python/bindings/bindings.h>

/// The class nn.Module. Python's part, calls and attributes, is in halfgrad/nn/module.py.
namespace halfgrad::python {
namespace {

template <class Value>
nb::dict dict_of(const OrderedDict<Value>& items) {
  nb::dict dict;
  for (const auto& [name, value] : items) dict[name.c_str()] = nb::cast(value);
  return dict;
}

nn::StateDict state_of(const nb::dict& dict) {
  nn::StateDict state;
  for (const auto [name, tensor] : dict) {
    state.insert(nb::cast<std::string>(name), nb::cast<Tensor>(tensor));
  }
  return state;
}

std::string text_of(const nn::Module& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

/// A method whose body is the function of that name in halfgrad/nn/module.py.
struct PythonMethod {
  const char* name;
  const char* function;
  const char* signature;
  const char* doc;
};

constexpr PythonMethod kPythonMethods[] = {
    {"__call__", "call",
     "def __call__(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any",
     "Calls forward(). An error about the arguments names the module that got them."},
    {"__setattr__", "set_attribute", "def __setattr__(self, name: str, value: object, /) -> None",
     "Registers a Parameter or a Module under the name."},
    {"__delattr__", "delete_attribute", "def __delattr__(self, name: str, /) -> None", ""},
    {"register_parameter", "register_parameter",
     "def register_parameter(self, name: str, param: halfgrad._halfgrad.Tensor | None) -> None",
     "Adds a parameter, which then is an attribute too."},
    {"register_buffer", "register_buffer",
     "def register_buffer(self, name: str, tensor: halfgrad._halfgrad.Tensor | None) -> None",
     "Adds a tensor that is no parameter but part of the state."},
    {"add_module", "add_module", "def add_module(self, name: str, module: Module) -> None",
     "Adds a submodule, which then is an attribute too."},
    {"children", "children", "def children(self) -> list[Module]", "The direct submodules."},
    {"named_children", "named_children", "def named_children(self) -> dict[str, Module]", ""},
    {"modules", "modules", "def modules(self) -> list[Module]", "This module and all below it."},
    {"named_modules", "named_modules", "def named_modules(self) -> dict[str, Module]",
     "This module, under the name \"\", and all below it by dotted name."},
    {"apply", "apply", "def apply(self, fn: collections.abc.Callable[[Module], None]) -> Module",
     "Calls `fn` on every module, children before their parent."},
};

void bind_python_methods(nb::class_<nn::Module>& module) {
  for (const PythonMethod& method : kPythonMethods) {
    module.def(
        method.name,
        [function = method.function](nb::handle_t<nn::Module> self, const nb::args& args,
                                     const nb::kwargs& kwargs) {
          const nb::module_ python = nb::module_::import_("halfgrad.nn.module");
          return nb::object(python.attr(function)(self, *args, **kwargs));
        },
        nb::sig(method.signature), method.doc);
  }
}

void bind_registration(nb::class_<nn::Module>& module) {
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
          "name"_a, "module"_a);
}

/// Modes and conversions return the module, as in PyTorch.
void bind_modes(nb::class_<nn::Module>& module) {
  module.def_prop_ro("training", &nn::Module::is_training)
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
          "to",
          [](nn::Module& self, DType dtype) -> nn::Module& {
            self.to(dtype);
            return self;
          },
          "dtype"_a, nb::rv_policy::none,
          "Moves or converts parameters, buffers and gradients in place.")
      .def(
          "to",
          [](nn::Module& self, Device device) -> nn::Module& {
            self.to(device);
            return self;
          },
          "device"_a, nb::rv_policy::none);
}

}  // namespace

void bind_module(nb::module_& module) {
  nb::module_ nn =
      module.def_submodule("nn", "Modules: parameters, buffers and submodules by name.");
  nb::class_<nn::Module> type(nn, "Module", nb::dynamic_attr(),
                              "Parameters, buffers and submodules by name.");
  type.def(
      "__init__",
      [](nb::pointer_and_handle<nn::Module> self, const std::string& extra) {
        const auto name = nb::cast<std::string>(self.h.type().attr("__name__"));
        new (self.p) nn::Module(name, extra);
      },
      "extra"_a = "", "`extra` is printed in parentheses after the name of the class.");
  bind_python_methods(type);
  bind_registration(type);
  bind_modes(type);
  type.def("parameters", &nn::Module::parameters, "recurse"_a = true,
           "Returns the parameters, each once, in the order of registration.")
      .def("buffers", &nn::Module::buffers, "recurse"_a = true)
      .def(
          "named_parameters",
          [](const nn::Module& self, bool recurse) {
            return dict_of(self.named_parameters(recurse));
          },
          "recurse"_a = true, "Returns the parameters by their dotted names.")
      .def(
          "named_buffers",
          [](const nn::Module& self, bool recurse) { return dict_of(self.named_buffers(recurse)); },
          "recurse"_a = true)
      .def("zero_grad", &nn::Module::zero_grad, "set_to_none"_a = true,
           "Drops the gradients, or overwrites them with zeros.")
      .def(
          "state_dict", [](const nn::Module& self) { return dict_of(self.state_dict()); },
          "Returns parameters and buffers by name, as detached tensors of the same memory.")
      .def(
          "load_state_dict",
          [](nn::Module& self, const nb::dict& state_dict, bool strict) {
            const nn::IncompatibleKeys keys =
                self.load_state_dict(state_of(state_dict), {.strict = strict});
            return std::pair(keys.missing_keys, keys.unexpected_keys);
          },
          "state_dict"_a, "strict"_a = true,
          "Copies the values into this module, and returns missing and unexpected names. Raises\n"
          "ValueError, which lists them all, and changes nothing.")
      .def("is_same", &nn::Module::is_same, "other"_a)
      .def("__repr__", &text_of);
}

}  // namespace halfgrad::python
