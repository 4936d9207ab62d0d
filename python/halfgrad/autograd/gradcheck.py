"""Comparison of gradients with finite differences."""

from typing import Any, Callable, Sequence, Union

from .. import _halfgrad
from .._halfgrad import Tensor, dtype
from . import enable_grad, grad, no_grad

Inputs = Union[Tensor, Sequence[Any]]


def _outputs(func: Callable[..., Any], inputs: list[Any]) -> list[Tensor]:
    result = func(*inputs)
    values = [result] if isinstance(result, Tensor) else list(result)
    return [value for value in values if isinstance(value, Tensor) and value.is_floating_point()]


def _numerical(func: Callable[..., Any], inputs: list[Any], place: int, element: int,
               eps: float) -> list[Tensor]:
    """The central differences of all outputs by one element of an input."""
    sides = []
    for sign in (1, -1):
        moved = list(inputs)
        values = inputs[place].detach().clone().flatten()
        values[element] += sign * eps
        moved[place] = values.reshape(inputs[place].shape).requires_grad_()
        with no_grad():
            sides.append([output.detach().clone() for output in _outputs(func, moved)])
    return [(right - left) / (2 * eps) for right, left in zip(*sides)]


def gradcheck(func: Callable[..., Any], inputs: Inputs, *, eps: float = 1e-6, atol: float = 1e-5,
              rtol: float = 1e-3, raise_exception: bool = True) -> bool:
    """Whether the gradients of func agree with central differences, for each element of the outputs
    and of the inputs that require a gradient. These are float64: fewer digits give no differences.

    Raises RuntimeError if they do not agree, or with raise_exception=False returns False.
    """
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    places = [i for i, value in enumerate(arguments)
              if isinstance(value, Tensor) and value.requires_grad]
    if not places or any(arguments[i].dtype != dtype.float64 for i in places):
        raise ValueError("gradcheck: expected inputs of float64 that require a gradient, got "
                         f"{[value.dtype for value in arguments if isinstance(value, Tensor)]}")
    with enable_grad():
        outputs = _outputs(func, arguments)
    for place in places:
        leaf = arguments[place]
        differences = [_numerical(func, arguments, place, element, eps)
                       for element in range(leaf.numel())]
        for which, output in enumerate(outputs):
            for row in range(output.numel()):
                unit = _halfgrad.zeros_like(output.detach()).flatten()
                unit[row] = 1
                found: Any = [_halfgrad.zeros_like(leaf.detach())]
                if output.requires_grad:
                    found = grad(output, [leaf], unit.reshape(output.shape), retain_graph=True,
                                 materialize_grads=True)
                expected = _halfgrad.stack(
                    [difference[which].flatten()[row] for difference in differences]
                ).reshape(leaf.shape) if differences else found[0]
                if not _halfgrad.allclose(found[0].detach(), expected, rtol, atol):
                    if not raise_exception:
                        return False
                    raise RuntimeError(
                        f"gradcheck: expected the gradient {expected.tolist()} of element {row} of "
                        f"output {which} by input {place}, got {found[0].tolist()}")
    return True


def gradgradcheck(func: Callable[..., Any], inputs: Inputs, *, eps: float = 1e-6,
                  atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True) -> bool:
    """gradcheck() of the gradients of func, for random cotangents: checks second derivatives."""
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    places = [i for i, value in enumerate(arguments)
              if isinstance(value, Tensor) and value.requires_grad]
    with enable_grad():
        cotangents = [_halfgrad.randn_like(output.detach())
                      for output in _outputs(func, arguments)]

    def gradients(*values: Any) -> Any:
        with enable_grad():
            total = sum((output * cotangent).sum()
                        for output, cotangent in zip(_outputs(func, list(values)), cotangents))
            result: Any = grad(total, [values[i] for i in places],  # type: ignore[arg-type]
                               create_graph=True, materialize_grads=True)
            return result

    return gradcheck(gradients, arguments, eps=eps, atol=atol, rtol=rtol,
                     raise_exception=raise_exception)
