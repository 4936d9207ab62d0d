"""Gradients: modes, `grad`, and differentiable functions of your own."""

from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union, overload

from .. import _halfgrad
from .._halfgrad import Tensor
from .._halfgrad.autograd import FunctionCtx, is_grad_enabled, is_inference_mode_enabled
from ..regions import F, Region, decorated

__all__ = [
    "Function", "FunctionCtx", "Variable", "backward", "detect_anomaly", "enable_grad", "function",
    "functional", "grad", "gradcheck", "gradgradcheck", "inference_mode", "is_grad_enabled",
    "is_inference_mode_enabled", "no_grad", "once_differentiable", "set_detect_anomaly",
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

    def __init__(self, check_nan: bool = True) -> None:
        if not check_nan:
            raise ValueError("detect_anomaly: expected check_nan=True, got False")
        super().__init__(_cpp.set_anomaly_detection)


def _list(tensors: Optional[Tensors]) -> Any:
    if tensors is None:
        return None
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def backward(tensors: Tensors, grad_tensors: Optional[Tensors] = None,
             retain_graph: Optional[bool] = None, create_graph: bool = False,
             inputs: Optional[Tensors] = None) -> None:
    """Adds the gradients of sum_i <tensors[i], grad_tensors[i]> to the grad of every leaf, or of
    `inputs` only."""
    retain = create_graph if retain_graph is None else retain_graph
    _cpp.backward(_list(tensors), _list(grad_tensors), retain, create_graph, _list(inputs))


def grad(outputs: Tensors, inputs: Tensors, grad_outputs: Optional[Tensors] = None,
         retain_graph: Optional[bool] = None, create_graph: bool = False,
         only_inputs: bool = True, allow_unused: Optional[bool] = None,
         is_grads_batched: bool = False,
         materialize_grads: bool = False) -> tuple[Optional[Tensor], ...]:
    """Returns the gradients of the outputs with respect to the inputs, one for each input.

    Raises RuntimeError for an input that the outputs do not depend on; with allow_unused its
    gradient is None, with materialize_grads zeros. `only_inputs` changes nothing, as in PyTorch.
    """
    if is_grads_batched:
        raise ValueError("grad: expected is_grads_batched=False, got True")
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: expected allow_unused with materialize_grads, got False")
    retain = create_graph if retain_graph is None else retain_graph
    gradients = _cpp.grad(_list(outputs), _list(inputs), _list(grad_outputs), retain, create_graph,
                          bool(allow_unused) or materialize_grads)
    if materialize_grads:
        gradients = [_halfgrad.zeros_like(leaf) if gradient is None else gradient
                     for leaf, gradient in zip(_list(inputs), gradients)]
    return tuple(gradients)


class set_detect_anomaly:
    """Switches detect_anomaly() on or off: at once, and until the end of a `with` statement."""

    _scope: Any = None

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        if not check_nan:
            raise ValueError("set_detect_anomaly: expected check_nan=True, got False")
        cls = type(self)
        self._previous = cls._scope is not None
        cls._set(mode)

    @classmethod
    def _set(cls, mode: bool) -> None:
        if mode and cls._scope is None:
            cls._scope = _cpp.set_anomaly_detection()
        elif not mode and cls._scope is not None:
            cls._scope.end()
            cls._scope = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self._set(self._previous)


def Variable(data: Tensor, requires_grad: bool = False) -> Tensor:
    """The tensor itself outside the graph: the name is from before PyTorch 0.4."""
    return data.detach().requires_grad_(requires_grad)


from . import function, functional  # noqa: E402
from .function import Function, once_differentiable  # noqa: E402
from .gradcheck import gradcheck, gradgradcheck  # noqa: E402
