"""Attributes of a Module that are registered: parameters, buffers and submodules; see module.py."""

from typing import Any, Optional, TypeVar

from .. import _halfgrad
from .._halfgrad import Tensor
from .._halfgrad.nn import Module, is_ready
from .tree import kinds

T = TypeVar("T", bound=Tensor)


class _Registered(Tensor):
    @classmethod
    def _of(cls: type[T], tensor: Tensor) -> T:
        """This tensor itself under the name of the class."""
        found = cls.__new__(cls)
        Tensor.__init__(found, tensor)
        return found


class Parameter(_Registered):
    """A tensor that a Module registers as a parameter when it becomes an attribute."""

    def __init__(self, data: Optional[Tensor] = None, requires_grad: bool = True) -> None:
        super().__init__(_halfgrad.empty(0) if data is None else data.detach())
        self.requires_grad_(requires_grad)


class Buffer(_Registered):
    """A tensor that a Module registers as a buffer when it becomes an attribute."""

    def __init__(self, data: Tensor, requires_grad: bool = False) -> None:
        super().__init__(data.detach())
        self.requires_grad_(requires_grad)


def _kind_of_value(value: object) -> Optional[str]:
    if isinstance(value, Module):
        return "module"
    if isinstance(value, Parameter):
        return "parameter"
    return "buffer" if isinstance(value, Buffer) else None


def assign_unregistered(self: Module, name: str, value: object) -> None:
    """Makes forward() compute with another tensor, while the registered one stays registered."""
    _keep(self, name, value)


def _keep(self: Module, name: str, value: object) -> None:
    object.__setattr__(self, name, value)
    self.__dict__[name] = value  # one object, also where C++ has a property


def set_attribute(self: Module, name: str, value: object) -> None:
    kind = _kind_of_value(value)
    if kind is None and not is_ready(self):
        object.__setattr__(self, name, value)
        return
    old = kinds(self).get(name)
    if old is None and isinstance(value, Tensor) and name in self.__dict__.get("_empty", ()):
        kind = kind or "buffer"
    if kind is None and old is None:
        object.__setattr__(self, name, value)
    elif kind is None and value is None:
        self._unregister(name)
        if kinds(self).pop(name) == "buffer":
            self.__dict__.setdefault("_empty", set()).add(name)
        _keep(self, name, None)
    elif kind is None and not (old == "buffer" and isinstance(value, Tensor)):
        expected = {"parameter": "an nn.Parameter", "buffer": "a Tensor", "module": "an nn.Module"}
        raise TypeError(f"{type(self).__name__}.{name}: expected {expected[old or '']} or None, "
                        f"got an object of type {type(value).__name__}")
    else:
        register(self, kind or "buffer", name, value, old)


def register(self: Module, kind: str, name: str, value: Any, old: Optional[str]) -> None:
    if old == kind:
        getattr(self, f"_replace_{kind}")(name, value)
    else:
        if old is not None:
            self._unregister(name)
            del kinds(self)[name]
        getattr(self, f"_register_{kind}")(name, value)
        kinds(self)[name] = kind
    _keep(self, name, value)


def delete_attribute(self: Module, name: str) -> None:
    if kinds(self).pop(name, None) is not None:
        self._unregister(name)
        if hasattr(type(self), name):
            _keep(self, name, None)
            return
    object.__delattr__(self, name)


def _add(self: Module, kind: str, name: str, value: Any) -> None:
    if hasattr(self, name) and name not in kinds(self):
        raise ValueError(f"register_{kind}: expected a new name, got \"{name}\", an attribute of "
                         f"{type(self).__name__}")
    if value is None:
        object.__setattr__(self, name, None)
        if kind == "buffer":  # becomes a buffer when a tensor is assigned
            self.__dict__.setdefault("_empty", set()).add(name)
        return
    getattr(self, f"_register_{kind}")(name, value)
    kinds(self)[name] = kind
    _keep(self, name, value)


def register_parameter(self: Module, name: str, param: Optional[Tensor]) -> None:
    if param is not None and not isinstance(param, Parameter):
        param = Parameter._of(param)
    _add(self, "parameter", name, param)


def register_buffer(self: Module, name: str, tensor: Optional[Tensor],
                    persistent: bool = True) -> None:
    _add(self, "buffer", name, tensor)
    if not persistent:
        self.__dict__.setdefault("_transient", set()).add(name)


def add_module(self: Module, name: str, module: Optional[Module]) -> None:
    _add(self, "module", name, module)
