"""Checkpointing: memory for time."""

from typing import Any, Callable

from . import _halfgrad
from ._halfgrad import Tensor


def checkpoint(function: Callable[..., Any], *inputs: Tensor) -> Any:
    """Returns function(*inputs), a tensor or several, and saves nothing for backward.

    Backward runs the function once more, with the same random numbers and autocast region. The
    counterpart in PyTorch is torch.utils.checkpoint with use_reentrant=False.
    """
    is_single = False

    def run(tensors: list[Tensor]) -> list[Tensor]:
        nonlocal is_single
        result = function(*tensors)
        is_single = isinstance(result, Tensor)
        return [result] if is_single else list(result)

    outputs = _halfgrad.autograd.checkpoint(run, list(inputs))
    return outputs[0] if is_single else tuple(outputs)
