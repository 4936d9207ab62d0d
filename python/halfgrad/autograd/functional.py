"""Whole matrices of derivatives, for small functions: one backward pass for each row."""

from typing import Any, Callable, Optional, Sequence, Union

from .. import _halfgrad
from .._halfgrad import Tensor
from . import enable_grad, grad

__all__ = ["hessian", "hvp", "jacobian", "vjp"]

Inputs = Union[Tensor, Sequence[Tensor]]


def _leaves(inputs: Inputs, create_graph: bool) -> tuple[list[Tensor], bool]:
    """Tensors to differentiate by, and whether the caller gave a single one."""
    is_single = isinstance(inputs, Tensor)
    tensors = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    leaves = [tensor.view_as(tensor) if create_graph and tensor.requires_grad
              else tensor.detach().requires_grad_() for tensor in tensors]
    return leaves, is_single


def _gradients(output: Tensor, leaves: list[Tensor], vector: Optional[Tensor],
               create_graph: bool) -> list[Tensor]:
    if not output.requires_grad:
        return [_halfgrad.zeros_like(leaf.detach()) for leaf in leaves]
    found: Any = grad(output, leaves, vector, retain_graph=True, create_graph=create_graph,
                      materialize_grads=True)
    return list(found)


def jacobian(func: Callable[..., Any], inputs: Inputs, create_graph: bool = False) -> Any:
    """The derivatives of each element of func(*inputs), a tensor, by each element of the inputs:
    [*output, *input], or a tuple of them for several inputs."""
    leaves, is_single = _leaves(inputs, create_graph)
    with enable_grad():
        output = func(*leaves)
        if not isinstance(output, Tensor):
            raise TypeError("jacobian: expected a function that returns a tensor, got "
                            f"{type(output).__name__}")
        rows: list[list[Tensor]] = [[] for _ in leaves]
        for i in range(output.numel()):
            unit = _halfgrad.zeros_like(output.detach()).flatten()
            unit[i] = 1
            gradients = _gradients(output, leaves, unit.reshape(output.shape), create_graph)
            for row, gradient in zip(rows, gradients):
                row.append(gradient)
        matrices = tuple(
            _halfgrad.stack(row).reshape([*output.shape, *leaf.shape]) if row
            else _halfgrad.zeros([*output.shape, *leaf.shape], dtype=leaf.dtype, device=leaf.device)
            for row, leaf in zip(rows, leaves))
    return matrices[0] if is_single else matrices


def hessian(func: Callable[[Tensor], Tensor], inputs: Tensor, create_graph: bool = False) -> Tensor:
    """The second derivatives of func(input), a tensor of one element: [*input, *input]."""
    if not isinstance(inputs, Tensor):
        raise TypeError(f"hessian: expected one tensor, got {type(inputs).__name__}")

    def gradient(x: Tensor) -> Tensor:
        return _gradients(func(x), [x], None, True)[0]

    matrix: Tensor = jacobian(gradient, inputs, create_graph)
    return matrix


def vjp(func: Callable[..., Tensor], inputs: Inputs, v: Optional[Tensor] = None,
        create_graph: bool = False) -> tuple[Tensor, Any]:
    """func(*inputs), and the product of v with its Jacobian."""
    leaves, is_single = _leaves(inputs, create_graph)
    with enable_grad():
        output = func(*leaves)
        products = _gradients(output, leaves, v, create_graph)
    result = output if create_graph else output.detach()
    return result, products[0] if is_single else tuple(products)


def hvp(func: Callable[[Tensor], Tensor], inputs: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """func(input), and the product of its Hessian with v, in two backward passes."""
    leaf = inputs.detach().requires_grad_()
    with enable_grad():
        output = func(leaf)
        gradient = _gradients(output, [leaf], None, True)[0]
        product = _gradients(gradient, [leaf], v, False)[0]
    return output.detach(), product
