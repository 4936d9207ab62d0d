"""Modules made of other modules."""

from typing import Any, Callable, Iterable, Iterator, Union

from .._halfgrad.nn import Module

Layer = Union[Module, Callable[[Any], Any]]


class Function(Module):
    """A plain function as a layer."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


class ModuleList(Module):
    """Modules by position, named "0", "1", ..."""

    def __init__(self, modules: Iterable[Layer] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def append(self, module: Layer) -> "ModuleList":
        layer = module if isinstance(module, Module) else Function(module)
        self.add_module(str(len(self)), layer)
        return self

    def __len__(self) -> int:
        return sum(name.isdigit() for name in self.__dict__)

    def __iter__(self) -> Iterator[Module]:
        return (self.__dict__[str(i)] for i in range(len(self)))

    def __getitem__(self, index: int) -> Any:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(
                f"{type(self).__name__}: expected a layer in [0, {count}), got {index}")
        return self.__dict__[str(index % count)]


class Sequential(ModuleList):
    """Layers applied one after the other. A layer is a module or a function of one tensor."""

    def __init__(self, *layers: Layer) -> None:
        super().__init__(layers)

    def forward(self, x: Any) -> Any:
        for layer in self:
            x = layer(x)
        return x
