"""Names, kinds and order of what a Module holds; see module.py."""

from typing import Any, Iterator, Optional

from .._halfgrad import Tensor
from .._halfgrad.nn import Module, is_ready


def kinds(self: Module) -> dict[str, str]:
    """The kind of each registered name: "parameter", "buffer" or "module"."""
    known: Optional[dict[str, str]] = self.__dict__.get("_kinds")
    if known is None:
        if not is_ready(self):
            raise AttributeError(f"{type(self).__name__}: expected super().__init__() before an "
                                 "attribute is registered")
        known = {name: "parameter" for name in self._own_parameters()}
        known.update({name: "buffer" for name in self._own_buffers()})
        self.__dict__["_kinds"] = known
    return known


def entries(self: Module, kind: str) -> list[tuple[str, Any]]:
    return [(name, getattr(self, name)) for name, known in kinds(self).items() if known == kind]


def join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix and name else prefix or name


def named_modules(self: Module, prefix: str = "",
                  remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
    seen: set[int] = set()

    def walk(module: Module, path: str) -> Iterator[tuple[str, Module]]:
        if remove_duplicate and id(module) in seen:
            return
        seen.add(id(module))
        yield path, module
        for name, child in entries(module, "module"):
            yield from walk(child, join(path, name))

    return walk(self, prefix)


def named_tensors(self: Module, kind: str, prefix: str, recurse: bool,
                  remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    paths = named_modules(self, prefix, remove_duplicate) if recurse else iter([(prefix, self)])
    for path, module in paths:
        for name, tensor in entries(module, kind):
            if not remove_duplicate or hash(tensor) not in seen:
                seen.add(hash(tensor))
                yield join(path, name), tensor


def named_parameters(self: Module, prefix: str = "", recurse: bool = True,
                     remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
    return named_tensors(self, "parameter", prefix, recurse, remove_duplicate)


def named_buffers(self: Module, prefix: str = "", recurse: bool = True,
                  remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
    return named_tensors(self, "buffer", prefix, recurse, remove_duplicate)


def parameters(self: Module, recurse: bool = True) -> Iterator[Tensor]:
    return (tensor for _, tensor in named_parameters(self, recurse=recurse))


def buffers(self: Module, recurse: bool = True) -> Iterator[Tensor]:
    return (tensor for _, tensor in named_buffers(self, recurse=recurse))


def named_children(self: Module) -> Iterator[tuple[str, Module]]:
    seen: set[int] = set()
    for name, child in entries(self, "module"):
        if id(child) not in seen:
            seen.add(id(child))
            yield name, child


def children(self: Module) -> Iterator[Module]:
    return (child for _, child in named_children(self))


def modules(self: Module) -> Iterator[Module]:
    return (module for _, module in named_modules(self))


def _found(self: Module, target: str, kind: str) -> Any:
    found: Any = self
    *path, last = target.split(".")
    for name, wanted in [*((part, "module") for part in path), (last, kind)]:
        if kinds(found).get(name) != wanted:
            raise AttributeError(f"{type(self).__name__}: expected a {kind} \"{target}\"; "
                                 f"{type(found).__name__} has no {wanted} \"{name}\"")
        found = getattr(found, name)
    return found


def get_submodule(self: Module, target: str) -> Module:
    return self if target == "" else _found(self, target, "module")


def set_submodule(self: Module, target: str, module: Module) -> None:
    path, _, name = target.rpartition(".")
    parent = get_submodule(self, path)
    _found(parent, name, "module")
    setattr(parent, name, module)


def get_parameter(self: Module, target: str) -> Tensor:
    return _found(self, target, "parameter")


def get_buffer(self: Module, target: str) -> Tensor:
    return _found(self, target, "buffer")
