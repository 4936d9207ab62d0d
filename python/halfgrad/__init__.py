"""Tensors, autograd and mixed-precision training, with PyTorch's names.

>>> import halfgrad
>>> x = halfgrad.randn(2, 3, requires_grad=True)
>>> x.square().sum().backward()
"""

import math

from . import (amp, autograd, backends, cuda, data, distributions, func, inspector, io, linalg, nn,
               optim, random, reference, return_types, testing, tracing, utils)
from ._halfgrad import *  # noqa: F401,F403: every op and class of the C++ library
from ._halfgrad import bool_, float16, float32, float64, int16, int32, int64
from .amp import (GradScaler, autocast, clear_autocast_cache, get_autocast_dtype,
                  is_autocast_enabled)
from .autograd import (enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled,
                       no_grad, set_grad_enabled)
from .extras import (as_tensor, asarray, detach, finfo, iinfo,
                     is_complex, is_floating_point, is_nonzero, is_same_size, is_tensor,
                     numel, randint_like, result_type, scalar_tensor)
from .precision import (are_deterministic_algorithms_enabled, get_float32_matmul_precision,
                        set_float32_matmul_precision, use_deterministic_algorithms)
from .printing import get_printoptions, printoptions, set_printoptions
from .random import get_rng_state, initial_seed, seed, set_rng_state
from .report import RunReport
from .return_types import Size
from .serialization import load, save
from .tensor_types import (BFloat16Tensor, BoolTensor, ByteTensor, CharTensor, DoubleTensor,
                           FloatTensor, HalfTensor, IntTensor, LongTensor, ShortTensor)

__version__ = "0.1.0"

inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
bool = bool_
concat, concatenate, newaxis = cat, cat, None  # noqa: F405
ger = outer  # noqa: F405

from .checking import (  # noqa: E402
    Case, DistributionReport, KernelReport, cases, check, check_dropout, check_sampling, kernel_test, write_junit)
