"""Tensors, autograd and mixed-precision training, with PyTorch's names.

>>> import halfgrad
>>> x = halfgrad.randn(2, 3, requires_grad=True)
>>> x.square().sum().backward()
"""

import math

from . import (amp, autograd, cuda, data, inspector, io, nn, optim, reference, return_types,
               tracing, utils)
from ._halfgrad import *  # noqa: F401,F403: every op and class of the C++ library
from ._halfgrad import bool_, float16, float32, float64, int16, int32, int64
from .amp import autocast, get_autocast_dtype, is_autocast_enabled
from .autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .extras import (as_tensor, bernoulli, finfo, get_rng_state, iinfo, is_floating_point,
                     is_tensor, meshgrid, normal, numel, set_rng_state)
from .report import RunReport
from .serialization import load, save

__version__ = "0.1.0"

inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
bool = bool_
absolute, clip, concat, concatenate, negative = abs, clamp, cat, cat, neg  # noqa: F405
subtract, multiply, divide, true_divide = sub, mul, div, div  # noqa: F405

from .checking import (  # noqa: E402
    Case, DistributionReport, KernelReport, cases, check, check_dropout, check_sampling, kernel_test, write_junit)
