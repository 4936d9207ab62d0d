"""The methods of Module that know Python: the C++ class calls the functions of this page.

They get the module as `self`. C++ knows the registered tensors and modules too; Python keeps their
kind by name, so that an attribute is one object.
"""

import functools
from typing import Any, Callable

from .._halfgrad import ArgumentError
from .._halfgrad.inspector import call_module, is_observed
from .._halfgrad.nn import Module
from ..hooks import Hooks, RemovableHandle
from .backward_hooks import Watch
from .registration import (Buffer, Parameter, add_module, delete_attribute, register_buffer,
                           register_parameter, set_attribute)
from .state import (IncompatibleKeys, apply, extra_text, load_state_dict, reduce, requires_grad_,
                    set_state, state_dict, text, to, to_bfloat16, to_cpu, to_cuda, to_float16,
                    to_float32, to_float64)
from .tree import (buffers, children, get_buffer, get_parameter, get_submodule, modules,
                   named_buffers, named_children, named_modules, named_parameters, parameters,
                   set_submodule)

__all__ = [
    "Buffer", "IncompatibleKeys", "Parameter", "add_module", "apply", "buffers", "call", "children",
    "delete_attribute", "extra_text", "get_buffer", "get_parameter", "get_submodule",
    "load_state_dict", "modules", "named_buffers", "named_children", "named_modules",
    "named_parameters", "parameters", "reduce", "register_buffer", "register_forward_hook",
    "register_forward_pre_hook", "register_full_backward_hook", "register_full_backward_pre_hook",
    "register_parameter", "requires_grad_", "set_attribute", "set_state", "set_submodule",
    "set_training", "state_dict", "text", "to", "to_bfloat16", "to_cpu", "to_cuda", "to_float16",
    "to_float32", "to_float64",
]


def call(self: Module, *args: Any, **kwargs: Any) -> Any:
    forward = getattr(self, "forward", None)
    if forward is None:
        raise NotImplementedError(f"{type(self).__name__}: define forward()")
    if is_observed():
        forward = functools.partial(call_module, self, forward)
    try:
        if "_backward_hooks" in self.__dict__ or "_backward_pre_hooks" in self.__dict__:
            forward = _watched(self, forward)
        if "_pre_hooks" not in self.__dict__ and "_hooks" not in self.__dict__:
            return forward(*args, **kwargs)
        return _call_with_hooks(self, forward, args, kwargs)
    except (ValueError, IndexError) as error:
        _name_module(error, self)
        raise


def _watched(self: Module, forward: Callable[..., Any]) -> Callable[..., Any]:
    pre_hooks, hooks = (self.__dict__[name].all() if name in self.__dict__ else []
                        for name in ("_backward_pre_hooks", "_backward_hooks"))
    if not pre_hooks and not hooks:
        return forward
    watch = Watch(self, pre_hooks, hooks)

    def run(*args: Any, **kwargs: Any) -> Any:
        return watch.outputs(forward(*watch.inputs(args), **kwargs))

    return run


def _call_with_hooks(self: Module, forward: Callable[..., Any], args: tuple[Any, ...],
                     kwargs: dict[str, Any]) -> Any:
    hooks = self.__dict__["_hooks"].all() if "_hooks" in self.__dict__ else []
    output = None
    called = set()
    try:
        for hook in self.__dict__["_pre_hooks"].all() if "_pre_hooks" in self.__dict__ else ():
            args, kwargs = hook(self, args, kwargs)
        output = forward(*args, **kwargs)
        for hook, _ in hooks:
            called.add(hook)
            replaced = hook(self, args, kwargs, output)
            output = output if replaced is None else replaced
        return output
    except Exception:
        for hook, is_always_called in hooks:
            if is_always_called and hook not in called:
                hook(self, args, kwargs, output)
        raise


def register_forward_pre_hook(self: Module, hook: Callable[..., Any], *, prepend: bool = False,
                              with_kwargs: bool = False) -> RemovableHandle:
    def run(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = hook(module, args, kwargs) if with_kwargs else hook(module, args)
        if result is None:
            return args, kwargs
        if with_kwargs:
            return result
        return result if isinstance(result, tuple) else (result,), kwargs

    return self.__dict__.setdefault("_pre_hooks", Hooks()).add(run, prepend)


def register_full_backward_hook(self: Module, hook: Callable[..., Any],
                                prepend: bool = False) -> RemovableHandle:
    return self.__dict__.setdefault("_backward_hooks", Hooks()).add(hook, prepend)


def register_full_backward_pre_hook(self: Module, hook: Callable[..., Any],
                                    prepend: bool = False) -> RemovableHandle:
    return self.__dict__.setdefault("_backward_pre_hooks", Hooks()).add(hook, prepend)


def register_forward_hook(self: Module, hook: Callable[..., Any], *, prepend: bool = False,
                          with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    def run(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        return hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)

    return self.__dict__.setdefault("_hooks", Hooks()).add((run, always_call), prepend)


def set_training(self: Module, mode: bool) -> None:
    """Sets the mode of this module alone: C++ sets that of all below, which get theirs back."""
    below = [(module, module.training) for _, module in named_modules(self)][1:]
    self.train(mode)
    for module, previous in below:
        module.train(previous)


def _name_module(error: Exception, module: Module) -> None:
    """Puts the path of the innermost module in front of the message, as C++ does:
    "Sequential.2 (Linear): linear: expected ..."."""
    if type(error) not in (ArgumentError, ValueError, IndexError):
        return  # a derived class: its arguments are its own
    origin = getattr(error, "module", None)
    if origin is None:
        error.module = (module, str(error))  # type: ignore[attr-defined]
        return
    innermost, message = origin
    for path, below in named_modules(module):
        if below is innermost and path:
            name = type(module).__name__
            error.args = (f"{name}.{path} ({type(innermost).__name__}): {message}",)
