"""Modules made of other modules or parameters, by position or by name."""

from collections import OrderedDict
from typing import (Any, Callable, Generic, Iterable, Iterator, Mapping, Optional, TypeVar, Union)

from .._halfgrad import Tensor
from .._halfgrad.nn import Linear, Module, ReLU, linear_then_relu
from .registration import Parameter
from .state import text, text_of_runs
from .tree import kinds

Layer = Union[Module, Callable[[Any], Any]]
Value = TypeVar("Value")


class Function(Module):
    """A plain function as a layer."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


class _Entries(Module):
    """Entries that are attributes; their names are the registered ones."""

    def _names(self) -> list[str]:
        return list(kinds(self))

    def __len__(self) -> int:
        return len(self._names())


class _List(_Entries, Generic[Value]):
    """Entries by position, named "0", "1", ..."""

    def _name_at(self, index: int) -> str:
        names = self._names()
        if not -len(names) <= index < len(names):
            raise IndexError(
                f"{type(self).__name__}: expected a layer in [0, {len(names)}), got {index}")
        return names[index]

    def _replace_all(self, values: list[Any]) -> None:
        for name in self._names():
            delattr(self, name)
        for i, value in enumerate(values):
            setattr(self, str(i), value)

    def __iter__(self) -> Iterator[Value]:
        return (getattr(self, name) for name in self._names())

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            made: Any = type(self)
            return made(list(self)[index])
        return getattr(self, self._name_at(index))

    def __setitem__(self, index: int, value: Value) -> None:
        setattr(self, self._name_at(index), self._entry(value))

    def __delitem__(self, index: Union[int, slice]) -> None:
        values = list(self)
        del values[index]
        self._replace_all(values)

    def __iadd__(self, values: Iterable[Value]) -> Any:
        return self.extend(values)

    def __add__(self, values: Iterable[Value]) -> Any:
        made: Any = type(self)
        return made(list(self)).extend(values)

    def _entry(self, value: Any) -> Any:
        return value

    def append(self, value: Value) -> Any:
        setattr(self, str(len(self)), self._entry(value))
        return self

    def extend(self, values: Iterable[Value]) -> Any:
        for value in list(values):
            self.append(value)
        return self

    def insert(self, index: int, value: Value) -> None:
        values = list(self)
        values.insert(index, self._entry(value))
        self._replace_all(values)

    def pop(self, index: int = -1) -> Any:
        value = self[index]
        del self[index]
        return value


def _module(layer: Layer) -> Module:
    return layer if isinstance(layer, Module) else Function(layer)


class ModuleList(_List[Any]):
    """Modules by position, named "0", "1", ..."""

    def __init__(self, modules: Optional[Iterable[Layer]] = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def _entry(self, value: Layer) -> Module:
        return _module(value)

    def __repr__(self) -> str:
        return text_of_runs(self)


def _pair(linear: Module, relu: Module, x: Any) -> Optional[Tensor]:
    """Returns the output of a plain Linear and a plain ReLU together, if nobody can tell."""
    if type(linear) is not Linear or type(relu) is not ReLU or not isinstance(x, Tensor):
        return None
    own = {"forward", "_hooks", "_pre_hooks", "_backward_hooks", "_backward_pre_hooks"}
    if own & linear.__dict__.keys() or own & relu.__dict__.keys():
        return None
    return linear_then_relu(x, linear.weight, linear.bias)


class Sequential(ModuleList):
    """Layers applied one after the other. A layer is a module or a function of one tensor. On a GPU
    a Linear and the ReLU after it run as one op, linear_relu, with the same bits.

    Names come from an OrderedDict: Sequential(OrderedDict([("hidden", Linear(2, 3)), ...])).
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], dict):
            for name, layer in layers[0].items():
                setattr(self, name, _module(layer))
        else:
            self.extend(layers)

    def __repr__(self) -> str:
        return text(self)

    def __add__(self, values: Iterable[Layer]) -> Any:
        return type(self)(*self, *values)

    def __mul__(self, count: int) -> Any:
        """The layers `count` times. They are the same ones each time, not copies."""
        return type(self)(*list(self) * count)

    __rmul__ = __mul__

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict((n, getattr(self, n)) for n in self._names()[index]))
        return super().__getitem__(index)

    def forward(self, x: Any) -> Any:
        layers = list(self)
        i = 0
        while i < len(layers):
            pair = _pair(layers[i], layers[i + 1], x) if i + 1 < len(layers) else None
            x = layers[i](x) if pair is None else pair
            i += 1 if pair is None else 2
        return x


class ParameterList(_List[Any]):
    """Parameters by position, named "0", "1", ... A tensor becomes a Parameter."""

    def __init__(self, values: Optional[Iterable[Tensor]] = None) -> None:
        super().__init__()
        self.extend(values or ())

    def _entry(self, value: Tensor) -> Tensor:
        return value if isinstance(value, Parameter) else Parameter(value)


class _Dict(_Entries, Generic[Value]):
    """Entries by name."""

    def __init__(self, values: Optional[Union[Mapping[str, Value],
                                              Iterable[tuple[str, Value]]]] = None) -> None:
        super().__init__()
        self.update(values or {})

    def _expect_free(self, key: str) -> None:
        if key not in kinds(self) and hasattr(self, key):
            raise KeyError(f"{type(self).__name__}: expected a name other than those of its "
                           f"methods, got \"{key}\"")

    def _entry(self, value: Any) -> Any:
        return value

    def __getitem__(self, key: str) -> Any:
        if key not in kinds(self):
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Value) -> None:
        self._expect_free(key)
        setattr(self, key, self._entry(value))

    def __delitem__(self, key: str) -> None:
        if key not in kinds(self):
            raise KeyError(key)
        delattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __contains__(self, key: object) -> bool:
        return key in kinds(self)

    def keys(self) -> list[str]:
        return self._names()

    def values(self) -> list[Any]:
        return [getattr(self, name) for name in self._names()]

    def items(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in self._names()]

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        value = self[key]
        del self[key]
        return value

    def clear(self) -> None:
        for name in self._names():
            delattr(self, name)

    def update(self, values: Union[Mapping[str, Value], Iterable[tuple[str, Value]]]) -> None:
        items = values.items() if isinstance(values, (Mapping, _Dict)) else values
        for key, value in items:
            self[key] = value


class ModuleDict(_Dict[Any]):
    """Modules by name: blocks["left"](x)."""

    def _entry(self, value: Layer) -> Module:
        return _module(value)


class ParameterDict(_Dict[Any]):
    """Parameters by name. A tensor becomes a Parameter."""

    def _entry(self, value: Tensor) -> Tensor:
        return value if isinstance(value, Parameter) else Parameter(value)
