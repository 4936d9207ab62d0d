"""save() and load(): pickles of tensors, state dicts and modules. load() runs no foreign code."""

import builtins
import collections
import copy
import functools
import importlib
import os
import pickle
from typing import IO, Any, Optional, Union

from . import _halfgrad
from ._halfgrad import Tensor, dtype

Path = Union[str, "os.PathLike[str]"]


def rebuild_tensor(data: bytes, size: tuple[int, ...], type: dtype, device: str,
                   requires_grad: bool, map_location: Any = None) -> Tensor:
    """The tensor of a pickle."""
    tensor = Tensor._from_bytes(data, size, type)
    place = str(map_location or device)
    return (tensor if place == "cpu" else tensor.to(place)).requires_grad_(requires_grad)


def rebuild_parameter(cls: type[Tensor], data: Tensor, requires_grad: bool) -> Tensor:
    """The Parameter of a pickle."""
    return cls(data, requires_grad)  # type: ignore[call-arg]


def reduce_tensor(self: Tensor, protocol: Any) -> Any:
    if type(self) is not Tensor:
        return rebuild_parameter, (type(self), Tensor(self).detach(), self.requires_grad)
    return rebuild_tensor, (self._to_bytes(), tuple(self.shape), self.dtype, str(self.device),
                            self.requires_grad)


def deepcopy_tensor(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(f"deepcopy: expected a leaf, got the result of {self.grad_fn}; "
                           "copy detach() or clone() it")
    copied = self.detach().clone()
    if type(self) is Tensor:
        copied.requires_grad_(self.requires_grad)
    else:
        copied = rebuild_parameter(type(self), copied, self.requires_grad)
    memo[id(self)] = copied
    if self.grad is not None:
        copied.grad = copy.deepcopy(self.grad, memo)
    return copied


class _Pieces:
    """The file of a pickle in memory. It keeps the bytes of large tensors without a copy."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(bytes(data))


def save(obj: object, f: Union[Path, IO[bytes]]) -> None:
    """Pickles an object to a path or a file. The file of a path is replaced when it is complete,
    and keeps its mode; a symbolic link stays, and its target is replaced.

    Tensors are saved without their graph; tensors that share memory are saved once each.
    """
    if not isinstance(f, (str, os.PathLike)):
        pickle.dump(obj, f, protocol=4)
        return
    pieces = _Pieces()
    pickle.dump(obj, pieces, protocol=4)
    _halfgrad.io._replace_file(f, pieces.written)


_SAFE = {
    (collections.__name__, "OrderedDict"), (collections.__name__, "defaultdict"),
    (rebuild_tensor.__module__, "rebuild_tensor"), (rebuild_tensor.__module__, "rebuild_parameter"),
    ("halfgrad.return_types", "Size"), ("halfgrad._halfgrad", "dtype"), ("halfgrad._halfgrad", "device"),
    ("halfgrad.nn.registration", "Parameter"), ("halfgrad.nn.registration", "Buffer"),
    *((builtins.__name__, name) for name in ("set", "frozenset", "complex", "slice", "bytearray")),
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], map_location: Any, weights_only: bool) -> None:
        super().__init__(file)
        self._map_location = map_location
        self._weights_only = weights_only

    def find_class(self, module: str, name: str) -> Any:
        if self._weights_only and (module, name) not in _SAFE:
            raise pickle.UnpicklingError(
                f"load: expected tensors, numbers, text and containers, got {module}.{name}; "
                "load a file that you trust with weights_only=False")
        if (module, name) == (rebuild_tensor.__module__, "rebuild_tensor"):
            return functools.partial(rebuild_tensor, map_location=self._map_location)
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found


def load(f: Union[Path, IO[bytes]], map_location: Union[str, _halfgrad.device, None] = None, *,
         weights_only: bool = True) -> Any:
    """Reads what save() wrote. `map_location` is the device of all tensors.

    With weights_only=False the file may run any code: load modules so, from files that you trust.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return load(file, map_location, weights_only=weights_only)
    return _Unpickler(f, map_location, weights_only).load()
