"""The seed and the state of the default generator."""

import contextlib
import os
from typing import Any, Iterator

from . import _halfgrad
from ._halfgrad import Tensor, default_generator, dtype, manual_seed

__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]


def initial_seed() -> int:
    """The seed of the default generator."""
    return _halfgrad.default_generator().initial_seed()


def seed() -> int:
    """Seeds the default generator with a number of the operating system, and returns the number."""
    number = int.from_bytes(os.urandom(8), "little")
    manual_seed(number)
    return number


@contextlib.contextmanager
def fork_rng(*devices: Any, enabled: bool = True, **options: Any) -> Iterator[None]:
    """Restores the state of the default generator at the end of a `with` statement. There is one
    generator for all devices, so other arguments change nothing."""
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def get_rng_state() -> Tensor:
    """The state of the default generator: 16 bytes, uint8."""
    seed, stream = _halfgrad.default_generator().get_state()
    data = int(seed).to_bytes(8, "little") + int(stream).to_bytes(8, "little")
    return Tensor._from_bytes(data, (16,), dtype.uint8)


def set_rng_state(new_state: Tensor) -> None:
    """Sets what get_rng_state() returned. Raises ValueError for a tensor of another size."""
    data = new_state._to_bytes()
    if len(data) != 16:
        raise ValueError(f"set_rng_state: expected 16 bytes, got {len(data)}")
    _halfgrad.default_generator().set_state(
        (int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")))
