"""Gradients: modes, `grad`, and differentiable functions of your own."""

from typing import Any, Optional, Sequence, Union

from . import _halfgrad
from ._halfgrad import Tensor
from ._halfgrad.autograd import FunctionCtx, is_grad_enabled, is_inference_mode_enabled
from .regions import Region

__all__ = [
    "Function", "FunctionCtx", "backward", "detect_anomaly", "enable_grad", "grad",
    "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad",
    "set_grad_enabled",
]

_cpp = _halfgrad.autograd
Tensors = Union[Tensor, Sequence[Tensor]]


class set_grad_enabled(Region):
    """Switches recording of the graph on or off."""

    def __init__(self, mode: bool) -> None:
        super().__init__(lambda: _cpp.set_grad_mode(mode))


class no_grad(set_grad_enabled):
    """Switches recording off: tensors computed inside have no gradient."""

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(set_grad_enabled):
    """Switches recording on inside a region that has it off."""

    def __init__(self) -> None:
        super().__init__(True)


class inference_mode(Region):
    """Switches recording off. A tensor made inside can never be saved for backward later."""

    def __init__(self, mode: bool = True) -> None:
        super().__init__(lambda: _cpp.set_inference_mode(mode))


class detect_anomaly(Region):
    """Backward checks every gradient, and raises at the first NaN, naming the forward op."""

    def __init__(self) -> None:
        super().__init__(_cpp.set_anomaly_detection)


def _list(tensors: Optional[Tensors]) -> Any:
    if tensors is None:
        return None
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def backward(tensors: Tensors, grad_tensors: Optional[Tensors] = None, retain_graph: bool = False,
             create_graph: bool = False) -> None:
    """Adds the gradients of sum_i <tensors[i], grad_tensors[i]> to the grad of every leaf."""
    _cpp.backward(_list(tensors), _list(grad_tensors), retain_graph, create_graph)


def grad(outputs: Tensors, inputs: Tensors, grad_outputs: Optional[Tensors] = None,
         retain_graph: Optional[bool] = None, create_graph: bool = False,
         allow_unused: bool = False) -> tuple[Optional[Tensor], ...]:
    """Returns the gradients of the outputs with respect to the inputs, one for each input.

    Raises RuntimeError for an input that the outputs do not depend on; with allow_unused its
    gradient is None.
    """
    retain = create_graph if retain_graph is None else retain_graph
    return tuple(_cpp.grad(_list(outputs), _list(inputs), _list(grad_outputs), retain,
                           create_graph, allow_unused))


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
    for those that are not tensors.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, *inputs: Any) -> Any:
        raise NotImplementedError("Function: define forward(ctx, *inputs)")

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Any) -> Any:
        raise NotImplementedError("Function: define backward(ctx, *gradients)")

    @classmethod
    def apply(cls, *inputs: Any) -> Any:
        """Runs forward without recording its ops, and records backward in their place."""
        return _cpp.apply_function(cls, *inputs)
