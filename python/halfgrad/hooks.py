"""Hooks that Python calls, in the order of their registration."""

import inspect
from typing import Any, Callable, Generic, TypeVar

Hook = TypeVar("Hook")


class RemovableHandle:
    """Removes a hook: remove(), or the end of a `with` statement. A second call does nothing."""

    def __init__(self, remove: Callable[[], Any]) -> None:
        self._remove = remove

    def remove(self) -> None:
        self._remove()

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


class Hooks(Generic[Hook]):
    """A list of hooks, each with a handle. It may change while the hooks are called."""

    def __init__(self) -> None:
        self._hooks: dict[object, Hook] = {}

    def add(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        key = object()
        self._hooks = {key: hook, **self._hooks} if prepend else {**self._hooks, key: hook}

        def remove() -> None:
            self._hooks = {k: h for k, h in self._hooks.items() if k is not key}

        return RemovableHandle(remove)

    def all(self) -> list[Hook]:
        return list(self._hooks.values())

    def __len__(self) -> int:
        return len(self._hooks)


def of_optimizer(hook: Callable[..., Any]) -> Callable[[Any], Any]:
    """The hook of an optimizer as a function of the optimizer alone. PyTorch's form has the
    arguments of step(), too: hook(optimizer, args, kwargs)."""
    try:
        inspect.signature(hook).bind(None, (), {})
    except TypeError:
        return hook
    except ValueError:  # a function without a signature
        pass
    return lambda optimizer: hook(optimizer, (), {})
