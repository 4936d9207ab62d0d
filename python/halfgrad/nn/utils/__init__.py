"""Norms and clipping of gradients, and parameters as one vector."""

from typing import Iterable, Optional, Union

from ... import _halfgrad
from ..._halfgrad import Tensor
from . import rnn

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "get_total_norm", "parameters_to_vector",
    "rnn", "vector_to_parameters",
]

_cpp = _halfgrad.nn.utils
Tensors = Union[Tensor, Iterable[Tensor]]


def _list(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def clip_grad_norm_(parameters: Tensors, max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False, foreach: Optional[bool] = None) -> Tensor:
    """Shrinks all gradients by one factor so that their total norm is at most max_norm.

    Returns the norm they had. Raises RuntimeError for gradients of a scaled loss: call
    scaler.unscale_() first. `foreach` is accepted and changes nothing.
    """
    return _cpp.clip_grad_norm_(_list(parameters), float(max_norm), float(norm_type),
                                error_if_nonfinite)


def clip_grad_value_(parameters: Tensors, clip_value: float,
                     foreach: Optional[bool] = None) -> None:
    """Clamps every element of the gradients to [-clip_value, clip_value]."""
    _cpp.clip_grad_value_(_list(parameters), float(clip_value))


def get_total_norm(tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: Optional[bool] = None) -> Tensor:
    """The norm of the vector of the tensors' norms."""
    return _cpp.get_total_norm(_list(tensors), float(norm_type), error_if_nonfinite)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, one after the other: [count]."""
    return _halfgrad.cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Copies the elements of a vector into the parameters. Raises ValueError if counts differ."""
    targets = list(parameters)
    expected = sum(target.numel() for target in targets)
    if vec.shape != (expected,):
        raise ValueError(f"vector_to_parameters: expected shape [{expected}], got {vec.shape}")
    begin = 0
    for target in targets:
        part = vec.detach()[begin:begin + target.numel()]
        target.data.copy_(part.reshape(target.shape))
        begin += target.numel()
