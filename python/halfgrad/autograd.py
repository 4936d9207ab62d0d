"""Gradients: modes, `grad`, and differentiable functions of your own."""

from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union, overload

from . import _halfgrad
from ._halfgrad import Tensor
from ._halfgrad.autograd import FunctionCtx, is_grad_enabled, is_inference_mode_enabled
from .regions import F, Region, decorated

__all__ = [
    "Function", "FunctionCtx", "backward", "detect_anomaly", "enable_grad", "grad",
    "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad",
    "set_grad_enabled",
]

_cpp = _halfgrad.autograd
Tensors = Union[Tensor, Sequence[Tensor]]

class set_grad_enabled:
    """Switches recording of the graph on or off: at once, and until the end of a `with` statement.

    As a decorator it holds inside the function only.
    """

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._previous = is_grad_enabled()
        _cpp.set_grad_enabled(mode)

    def __enter__(self) -> "set_grad_enabled":
        _cpp.set_grad_enabled(self._mode)
        return self

    def __exit__(self, *exception: object) -> None:
        _cpp.set_grad_enabled(self._previous)

    def __call__(self, function: F) -> F:
        _cpp.set_grad_enabled(self._previous)
        return decorated(function, lambda: _cpp.set_grad_mode(self._mode))


class _GradMode(Region):
    """A region of one mode, also as a decorator without parentheses: `@no_grad`."""

    _mode: bool

    def __new__(cls, function: Optional[Callable[..., Any]] = None) -> Any:
        if function is None:
            return super().__new__(cls)
        return decorated(function, lambda: _cpp.set_grad_mode(cls._mode))

    def __init__(self, function: Optional[Callable[..., Any]] = None) -> None:
        super().__init__(lambda: _cpp.set_grad_mode(self._mode))

    if TYPE_CHECKING:  # checkers take what a bare decorator returns for an object of this class
        @overload
        def __call__(self, function: F) -> F: ...
        @overload
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class no_grad(_GradMode):
    """Switches recording off: tensors computed inside have no gradient."""

    _mode = False


class enable_grad(_GradMode):
    """Switches recording on inside a region that has it off."""

    _mode = True


class inference_mode(Region):
    """Switches recording off. A tensor made inside can never be saved for backward later."""

    def __new__(cls, mode: Union[bool, Callable[..., Any]] = True) -> Any:
        if callable(mode):  # the decorator without parentheses
            return cls()(mode)
        return super().__new__(cls)

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


def backward(tensors: Tensors, grad_tensors: Optional[Tensors] = None,
             retain_graph: Optional[bool] = None, create_graph: bool = False) -> None:
    """Adds the gradients of sum_i <tensors[i], grad_tensors[i]> to the grad of every leaf."""
    retain = create_graph if retain_graph is None else retain_graph
    _cpp.backward(_list(tensors), _list(grad_tensors), retain, create_graph)


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
