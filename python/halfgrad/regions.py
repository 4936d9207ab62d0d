"""Settings that hold inside a `with` statement or a decorated function."""

import functools
from typing import Any, Callable, TypeVar

from ._halfgrad import Scope

F = TypeVar("F", bound=Callable[..., Any])


class Region:
    """A context manager and decorator. Regions nest, and one object may be entered repeatedly."""

    def __init__(self, begin: Callable[[], Scope]) -> None:
        self._begin = begin
        self._scopes: list[Scope] = []

    def __enter__(self) -> "Region":
        self._scopes.append(self._begin())
        return self

    def __exit__(self, *exception: object) -> None:
        self._scopes.pop().end()

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with Region(self._begin):
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]
