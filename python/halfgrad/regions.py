"""Settings that hold inside a `with` statement or a decorated function."""

import functools
import inspect
from typing import Any, Callable, Generator, TypeVar

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
        return decorated(function, self._begin)


def decorated(function: F, begin: Callable[[], Scope]) -> F:
    """The function inside the setting. A generator has it while it runs, not between its values."""
    if inspect.isgeneratorfunction(function):
        @functools.wraps(function)
        def generate(*args: Any, **kwargs: Any) -> Any:
            return _generate(function(*args, **kwargs), begin)

        return generate  # type: ignore[return-value]

    @functools.wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with Region(begin):
            return function(*args, **kwargs)

    return inside  # type: ignore[return-value]


def _generate(generator: Generator[Any, Any, Any], begin: Callable[[], Scope]) -> Any:
    resume: Callable[[], Any] = functools.partial(next, generator)
    while True:
        try:
            with Region(begin):
                value = resume()
        except StopIteration as end:
            return end.value
        try:
            resume = functools.partial(generator.send, (yield value))
        except GeneratorExit:
            generator.close()
            raise
        except BaseException as error:
            resume = functools.partial(generator.throw, error)
