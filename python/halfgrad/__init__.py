"""Tensors, autograd and mixed-precision training, with PyTorch's names.

>>> import halfgrad
>>> x = halfgrad.randn(2, 3, requires_grad=True)
>>> x.square().sum().backward()
"""

from ._halfgrad import *  # noqa: F401,F403: every op and class of the C++ library
from ._halfgrad import bool_, float16, float32, float64, int32, int64

half, float, double = float16, float32, float64
int, long = int32, int64
bool = bool_

from .checking import Case, Verdict, cases, check, kernel_test, write_junit  # noqa: E402
