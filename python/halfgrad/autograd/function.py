"""Differentiable functions of your own."""

import functools
from typing import Any

from .. import _halfgrad
from .._halfgrad import Tensor
from .._halfgrad.autograd import FunctionCtx
from ..regions import F
from . import is_grad_enabled, no_grad

__all__ = ["Function", "FunctionCtx", "once_differentiable"]

_cpp = _halfgrad.autograd


class Function:
    """A differentiable function: `forward` computes, `backward` returns the gradients.

    >>> class Cube(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensors
    ...         return gradient * x * x * 3

    `backward` gets one gradient for each output and returns one for each argument of apply(), None
    for those that are not tensors. A class that defines setup_context(ctx, inputs, output) has
    forward(*inputs) without ctx.
    """

    @staticmethod
    def forward(*args: Any) -> Any:
        raise NotImplementedError("Function: define forward(ctx, *inputs)")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError("Function: define backward(ctx, *gradients)")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        raise NotImplementedError("Function: define setup_context(ctx, inputs, output)")

    @classmethod
    def _run_forward(cls, ctx: Any, *inputs: Any) -> Any:
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *inputs)
        output = cls.forward(*inputs)
        cls.setup_context(ctx, inputs, output)
        return output

    @classmethod
    def apply(cls, *inputs: Any) -> Any:
        """Runs forward without recording its ops, and records backward in their place."""
        return _cpp.apply_function(cls, *inputs)


class _Once(Function):
    """A value whose gradient cannot be computed."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, *gradients: Tensor) -> Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError("once_differentiable: expected one derivative, got a second one of a "
                           "function that is marked @once_differentiable")


def once_differentiable(function: F) -> F:
    """Decorates backward() of a Function: its ops are not recorded, and a second derivative raises
    RuntimeError."""
    @functools.wraps(function)
    def backward(ctx: Any, *gradients: Any) -> Any:
        with no_grad():
            results = function(ctx, *gradients)
        needs_grad = [g for g in gradients if isinstance(g, Tensor) and g.requires_grad]
        if not is_grad_enabled() or not needs_grad:
            return results
        values = results if isinstance(results, tuple) else (results,)
        marked = tuple(_Once.apply(value, *needs_grad) if isinstance(value, Tensor) else value
                       for value in values)
        return marked if isinstance(results, tuple) else marked[0]

    return backward  # type: ignore[return-value]
