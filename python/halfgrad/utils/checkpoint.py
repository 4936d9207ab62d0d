"""Checkpointing: memory for time."""

from typing import Any, Callable, Iterable

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


def checkpoint_sequential(functions: Iterable[Callable[[Any], Any]], segments: int, input: Tensor,
                          use_reentrant: bool = False) -> Any:
    """Applies the layers one after the other, in that many parts of which each but the last is a
    checkpoint()."""
    layers = list(functions)
    if not 1 <= segments <= max(len(layers), 1):
        raise ValueError(f"checkpoint_sequential: expected 1 to {len(layers)} segments, got "
                         f"{segments}")

    def run(begin: int, end: int) -> Callable[[Any], Any]:
        def part(x: Any) -> Any:
            for layer in layers[begin:end]:
                x = layer(x)
            return x

        return part

    size = len(layers) // segments
    begin = 0
    for _ in range(segments - 1):
        input = checkpoint(run(begin, begin + size), input, use_reentrant=use_reentrant)
        begin += size
    return run(begin, len(layers))(input)
