"""Tensors, autograd and mixed-precision training, with PyTorch's names.

>>> import halfgrad
>>> x = halfgrad.randn(2, 3, requires_grad=True)
>>> x.square().sum().backward()
"""

from . import amp, autograd, data, io, nn, optim, reference, utils
from ._halfgrad import *  # noqa: F401,F403: every op and class of the C++ library
from ._halfgrad import bool_, cuda, float16, float32, float64, int32, int64
from .amp import autocast
from .autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled

__version__ = "0.1.0"

half, float, double = float16, float32, float64
int, long = int32, int64
bool = bool_

from .checking import (  # noqa: E402
    Case, DistributionReport, KernelReport, cases, check, check_dropout, check_sampling, kernel_test, write_junit)
