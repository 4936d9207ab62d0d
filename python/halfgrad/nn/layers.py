"""Layers that Python composes: of shapes, and with parameters."""

import math
from typing import Any, Optional, Sequence, Union

from .. import _halfgrad
from .._halfgrad import Tensor, dtype
from .._halfgrad.nn import Module
from . import functional as F
from .registration import Parameter


class Unflatten(Module):
    """Splits dimension `dim` into several sizes."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class ConstantPad1d(Module):
    """Adds elements of one value before and after the last dimension."""

    def __init__(self, padding: Union[int, Sequence[int]], value: float) -> None:
        super().__init__()
        self.padding = (padding, padding) if isinstance(padding, int) else tuple(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, value=self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ZeroPad1d(ConstantPad1d):
    """Adds zeros before and after the last dimension."""

    def __init__(self, padding: Union[int, Sequence[int]]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class PReLU(Module):
    """x for x > 0, else weight * x; one weight, or one for each channel (dimension 1)."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None,
                 dtype: Optional[dtype] = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(_halfgrad.full(num_parameters, init, device=device,
                                               dtype=dtype or _halfgrad.float32))

    def reset_parameters(self) -> None:
        self.weight.detach().fill_(self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Bilinear(Module):
    """y = x1^T weight x2 + bias, weight [out, in1, in2]."""

    bias: Optional[Tensor]

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
                 device: Any = None, dtype: Optional[dtype] = None) -> None:
        super().__init__()
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features

        def empty(*sizes: int) -> Parameter:
            return Parameter(_halfgrad.empty(sizes, device=device, dtype=dtype))

        self.weight = empty(out_features, in1_features, in2_features)
        if bias:
            self.bias = empty(out_features)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.in1_features)
        self.weight.detach().uniform_(-bound, bound)
        if self.bias is not None:
            self.bias.detach().uniform_(-bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
                f"out_features={self.out_features}, bias={self.bias is not None}")
