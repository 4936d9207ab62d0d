"""Checkpointing: memory for time."""

from typing import Any, Callable

from .. import _halfgrad
from .._halfgrad import Tensor


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool = False,
               **kwargs: Any) -> Any:
    """Returns function(*args, **kwargs), a tensor or several, and saves nothing for backward.

    Backward runs the function once more, with the same random numbers and autocast region, as
    PyTorch does with use_reentrant=False. Raises ValueError for use_reentrant=True.
    """
    if use_reentrant:
        raise ValueError("checkpoint: expected use_reentrant=False, got True")
    is_single = False
    places = [i for i, value in enumerate(args) if isinstance(value, Tensor)]

    def run(tensors: list[Tensor]) -> list[Tensor]:
        nonlocal is_single
        values = list(args)
        for place, tensor in zip(places, tensors):
            values[place] = tensor
        result = function(*values, **kwargs)
        is_single = isinstance(result, Tensor)
        return [result] if is_single else list(result)

    outputs = _halfgrad.autograd.checkpoint(run, [args[i] for i in places])
    return outputs[0] if is_single else tuple(outputs)
