#include <halfgrad/nn/module.h>
#include <halfgrad/python/bindings/bindings.h>

/// The methods of nn.Module that are written in Python, in halfgrad/nn/module.py.
namespace halfgrad::python {
namespace {

struct PythonMethod {
  const char* name;
  const char* function;  ///< in halfgrad/nn/module.py
  const char* signature;
  const char* doc;
};

constexpr PythonMethod kAttributes[] = {
    {"__call__", "call",
     "def __call__(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any",
     "Calls forward(), and the hooks before and after it. An error about the arguments names the\n"
     "module that got them."},
    {"__setattr__", "set_attribute", "def __setattr__(self, name: str, value: object, /) -> None",
     "Registers a Parameter or a Module under the name; replaces what has the name."},
    {"__delattr__", "delete_attribute", "def __delattr__(self, name: str, /) -> None",
     "Removes an attribute, a registered one too."},
    {"__reduce_ex__", "reduce",
     "def __reduce_ex__(self, protocol: typing.SupportsIndex, /) -> tuple[typing.Any, ...]",
     "Pickles and copies the module: class, parameters, buffers, submodules, other attributes."},
    {"__setstate__", "set_state", "def __setstate__(self, state: typing.Any, /) -> None", ""},
    {"__repr__", "text", "def __repr__(self) -> str", ""},
    {"extra_repr", "extra_text", "def extra_repr(self) -> str",
     "The options that are printed in parentheses; define it in a module of your own."},
    {"register_parameter", "register_parameter",
     "def register_parameter(self, name: str, param: halfgrad._halfgrad.Tensor | None) -> None",
     "Adds a parameter, which then is an attribute too. Raises ValueError for a name in use."},
    {"register_buffer", "register_buffer",
     "def register_buffer(self, name: str, tensor: halfgrad._halfgrad.Tensor | None, "
     "persistent: builtins.bool = True) -> None",
     "Adds a tensor that is no parameter but part of the state, unless `persistent` is False."},
    {"add_module", "add_module", "def add_module(self, name: str, module: Module | None) -> None",
     "Adds a submodule, which then is an attribute too."},
    {"register_module", "add_module",
     "def register_module(self, name: str, module: Module | None) -> None", "add_module()."},
    {"register_forward_pre_hook", "register_forward_pre_hook",
     "def register_forward_pre_hook(self, hook: collections.abc.Callable[..., typing.Any], *, "
     "prepend: builtins.bool = False, with_kwargs: builtins.bool = False) -> typing.Any",
     "Calls hook(module, args) before forward(); what it returns, if not None, replaces args.\n"
     "With with_kwargs it is hook(module, args, kwargs) and returns both. The result's remove()\n"
     "removes the hook."},
    {"register_forward_hook", "register_forward_hook",
     "def register_forward_hook(self, hook: collections.abc.Callable[..., typing.Any], *, "
     "prepend: builtins.bool = False, with_kwargs: builtins.bool = False, "
     "always_call: builtins.bool = False) -> typing.Any",
     "Calls hook(module, args, output), or hook(module, args, kwargs, output), after forward();\n"
     "what it returns, if not None, replaces the output."},
};

constexpr PythonMethod kBackwardHooks[] = {
    {"register_full_backward_hook", "register_full_backward_hook",
     "def register_full_backward_hook(self, hook: collections.abc.Callable[..., typing.Any], "
     "prepend: builtins.bool = False) -> typing.Any",
     "Calls hook(module, grad_input, grad_output) with tuples of gradients when backward() has\n"
     "computed those of the positional inputs. What it returns, if not None, replaces\n"
     "grad_input. An input or output that is no tensor, or needs no gradient, has None."},
    {"register_full_backward_pre_hook", "register_full_backward_pre_hook",
     "def register_full_backward_pre_hook(self, hook: collections.abc.Callable[..., typing.Any], "
     "prepend: builtins.bool = False) -> typing.Any",
     "Calls hook(module, grad_output) before the module's backward; what it returns, if not None,\n"
     "replaces grad_output."},
};

constexpr PythonMethod kLists[] = {
    {"parameters", "parameters",
     "def parameters(self, recurse: builtins.bool = True) -> "
     "collections.abc.Iterator[halfgrad._halfgrad.Tensor]",
     "Iterates over the parameters, each once, in the order of registration."},
    {"named_parameters", "named_parameters",
     "def named_parameters(self, prefix: str = '', recurse: builtins.bool = True, "
     "remove_duplicate: builtins.bool = True) -> "
     "collections.abc.Iterator[tuple[str, halfgrad._halfgrad.Tensor]]",
     "Iterates over pairs of dotted names and parameters. A parameter of two modules (tied\n"
     "weights) comes once, unless remove_duplicate is False."},
    {"buffers", "buffers",
     "def buffers(self, recurse: builtins.bool = True) -> "
     "collections.abc.Iterator[halfgrad._halfgrad.Tensor]",
     ""},
    {"named_buffers", "named_buffers",
     "def named_buffers(self, prefix: str = '', recurse: builtins.bool = True, "
     "remove_duplicate: builtins.bool = True) -> "
     "collections.abc.Iterator[tuple[str, halfgrad._halfgrad.Tensor]]",
     ""},
    {"children", "children", "def children(self) -> collections.abc.Iterator[Module]",
     "Iterates over the direct submodules, each once."},
    {"named_children", "named_children",
     "def named_children(self) -> collections.abc.Iterator[tuple[str, Module]]", ""},
    {"modules", "modules", "def modules(self) -> collections.abc.Iterator[Module]",
     "Iterates over this module and all below it, each once."},
    {"named_modules", "named_modules",
     "def named_modules(self, prefix: str = '', remove_duplicate: builtins.bool = True) -> "
     "collections.abc.Iterator[tuple[str, Module]]",
     "Iterates over this module, under the name \"\", and all below it by dotted name."},
    {"get_submodule", "get_submodule", "def get_submodule(self, target: str) -> Module",
     "Returns the module of a dotted name. Raises AttributeError if there is none."},
    {"set_submodule", "set_submodule",
     "def set_submodule(self, target: str, module: Module) -> None",
     "Replaces the module of a dotted name."},
    {"get_parameter", "get_parameter",
     "def get_parameter(self, target: str) -> halfgrad._halfgrad.Tensor", ""},
    {"get_buffer", "get_buffer", "def get_buffer(self, target: str) -> halfgrad._halfgrad.Tensor",
     ""},
};

constexpr PythonMethod kStates[] = {
    {"state_dict", "state_dict",
     "def state_dict(self, *, destination: dict[str, halfgrad._halfgrad.Tensor] | None = None, "
     "prefix: str = '', keep_vars: builtins.bool = False) -> dict[str, halfgrad._halfgrad.Tensor]",
     "Returns parameters and persistent buffers by name, as detached tensors of the same memory\n"
     "(keep_vars: the parameters themselves). A tied weight is there under each of its names."},
    {"load_state_dict", "load_state_dict",
     "def load_state_dict(self, state_dict: "
     "collections.abc.Mapping[str, halfgrad._halfgrad.Tensor], "
     "strict: builtins.bool = True, assign: builtins.bool = False) -> typing.Any",
     "Copies the values into this module, and returns a named tuple: missing_keys and\n"
     "unexpected_keys. Raises ValueError, which lists them all, and changes nothing. With "
     "`assign`\n"
     "the dictionary's tensors become the parameters."},
    {"apply", "apply",
     "def apply(self, fn: collections.abc.Callable[[Module], typing.Any]) -> Module",
     "Calls `fn` on every module, children before their parent."},
    {"requires_grad_", "requires_grad_",
     "def requires_grad_(self, requires_grad: builtins.bool = True) -> Module",
     "Sets requires_grad of all parameters."},
    {"to", "to", "def to(self, *args: typing.Any, **kwargs: typing.Any) -> Module",
     "Moves or converts parameters, buffers and gradients in place: to(device), to(dtype),\n"
     "to(device, dtype) or to(tensor). A dtype converts floating-point tensors only."},
    {"type", "to", "def type(self, dst_type: halfgrad._halfgrad.dtype) -> Module", "to(dst_type)."},
    {"float", "to_float32", "def float(self) -> Module", "to(float32)."},
    {"double", "to_float64", "def double(self) -> Module", "to(float64)."},
    {"half", "to_float16", "def half(self) -> Module", "to(float16)."},
    {"bfloat16", "to_bfloat16", "def bfloat16(self) -> Module", "to(bfloat16)."},
    {"cpu", "to_cpu", "def cpu(self) -> Module", "to(\"cpu\")."},
    {"cuda", "to_cuda", "def cuda(self, device: typing.Any = None) -> Module", "to(\"cuda\")."},
};

void bind(ModuleClass& module, const PythonMethod& method) {
  module.def(
      method.name,
      [function = method.function](nb::handle_t<nn::Module> self, const nb::args& args,
                                   const nb::kwargs& kwargs) {
        const nb::module_ python = nb::module_::import_("halfgrad.nn.module");
        return nb::object(python.attr(function)(self, *args, **kwargs));
      },
      nb::sig(method.signature), method.doc);
}

}  // namespace

void bind_module_methods(ModuleClass& module) {
  for (const PythonMethod& method : kAttributes) bind(module, method);
  for (const PythonMethod& method : kBackwardHooks) bind(module, method);
  for (const PythonMethod& method : kLists) bind(module, method);
  for (const PythonMethod& method : kStates) bind(module, method);
}

}  // namespace halfgrad::python
