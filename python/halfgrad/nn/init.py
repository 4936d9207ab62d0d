"""Functions that fill a parameter in place, with the formulas of torch.nn.init."""

import math
from typing import Optional

from .. import _halfgrad
from .._halfgrad import Generator, Tensor
from .._halfgrad.nn.init import (calculate_gain, constant_, eye_, kaiming_normal_,
                                 kaiming_uniform_, normal_, ones_, orthogonal_, uniform_,
                                 xavier_normal_, xavier_uniform_, zeros_)

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_",
    "ones_", "orthogonal_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_",
    "zeros_",
]


def _distribution(x: float) -> float:
    """The distribution function of the standard normal distribution."""
    return (1 + math.erf(x / math.sqrt(2))) / 2


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0,
                  b: float = 2.0, generator: Optional[Generator] = None) -> Tensor:
    """Draws from the normal distribution without the values outside [a, b], which are drawn again.
    The interval needs a probability of at least 0.01."""
    probability = _distribution((b - mean) / std) - _distribution((a - mean) / std)
    if not probability >= 0.01:
        raise ValueError("trunc_normal_: expected an interval with a probability of at least 0.01, "
                         f"got {probability:.3g} for [{a}, {b}]")
    target = tensor.detach()
    values = _halfgrad.empty_like(target).normal_(mean, std, generator=generator)
    outside = (values < a) | (values > b)
    while bool(outside.any()):
        again = _halfgrad.empty_like(target).normal_(mean, std, generator=generator)
        values = _halfgrad.where(outside, again, values)
        outside = (values < a) | (values > b)
    target.copy_(values)
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """The numbers of inputs and of outputs of one element of a weight [out, in, ...]."""
    if tensor.ndim < 2:
        raise ValueError("init: expected a weight of at least 2 dimensions, got "
                         f"{list(tensor.shape)}")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field
