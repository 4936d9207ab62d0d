"""The methods of Module that know Python: calls, attributes and the tree of modules.

The C++ class calls the functions below with the module as `self`.
"""

from typing import Any, Callable, Optional

from .._halfgrad import Tensor
from .._halfgrad.nn import Module


class Parameter(Tensor):
    """A tensor that a Module registers as a parameter when it becomes an attribute."""

    def __init__(self, data: Tensor, requires_grad: bool = True) -> None:
        super().__init__(data.detach())
        self.requires_grad_(requires_grad)


def call(self: Module, *args: Any, **kwargs: Any) -> Any:
    forward = getattr(self, "forward", None)
    if forward is None:
        raise NotImplementedError(f"{type(self).__name__}: define forward()")
    try:
        return forward(*args, **kwargs)
    except (ValueError, IndexError) as error:
        _name_module(error, self)
        raise


def _name_module(error: Exception, module: Module) -> None:
    """Puts the path of the innermost module in front of the message, as C++ does:
    "Sequential.2 (Linear): linear: expected ..."."""
    if type(error) not in (ValueError, IndexError):
        return  # a derived class: its arguments are its own
    origin = getattr(error, "module", None)
    if origin is None:
        error.module = (module, str(error))  # type: ignore[attr-defined]
        return
    innermost, message = origin
    for path, below in named_modules(module).items():
        if below is innermost and path:
            name = type(module).__name__
            error.args = (f"{name}.{path} ({type(innermost).__name__}): {message}",)


def set_attribute(self: Module, name: str, value: object) -> None:
    if isinstance(value, Parameter):
        register_parameter(self, name, value)
    elif isinstance(value, Module):
        add_module(self, name, value)
    elif isinstance(self.__dict__.get(name), (Parameter, Module)):
        raise AttributeError(f"{name} is registered in {type(self).__name__}, so it stays")
    else:
        object.__setattr__(self, name, value)


def delete_attribute(self: Module, name: str) -> None:
    if isinstance(self.__dict__.get(name), (Parameter, Module)):
        raise AttributeError(f"{name} is registered in {type(self).__name__}, so it stays")
    object.__delattr__(self, name)


def register_parameter(self: Module, name: str, param: Optional[Tensor]) -> None:
    self._register_parameter(name, param)
    object.__setattr__(self, name, param)


def register_buffer(self: Module, name: str, tensor: Optional[Tensor]) -> None:
    self._register_buffer(name, tensor)
    object.__setattr__(self, name, tensor)


def add_module(self: Module, name: str, module: Module) -> None:
    self._register_module(name, module)
    object.__setattr__(self, name, module)


def named_children(self: Module) -> dict[str, Module]:
    found: dict[str, Module] = {}
    for name, value in self.__dict__.items():
        if isinstance(value, Module) and not any(value is other for other in found.values()):
            found[name] = value
    return found


def children(self: Module) -> list[Module]:
    return list(named_children(self).values())


def named_modules(self: Module) -> dict[str, Module]:
    found = {"": self}
    for name, child in named_children(self).items():
        for path, module in named_modules(child).items():
            if not any(module is other for other in found.values()):
                found[f"{name}.{path}" if path else name] = module
    return found


def modules(self: Module) -> list[Module]:
    return list(named_modules(self).values())


def apply(self: Module, fn: Callable[[Module], None]) -> Module:
    for child in children(self):
        apply(child, fn)
    fn(self)
    return self
