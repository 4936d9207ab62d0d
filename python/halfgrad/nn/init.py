"""Functions that fill a parameter in place, with the formulas of torch.nn.init."""

from .._halfgrad.nn.init import (calculate_gain, constant_, eye_, kaiming_normal_,
                                 kaiming_uniform_, normal_, ones_, orthogonal_, uniform_,
                                 xavier_normal_, xavier_uniform_, zeros_)

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_",
    "ones_", "orthogonal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]
