"""Checks kernels written in any package against ops of halfgrad. docs/kernel_check.md explains it.

>>> import halfgrad, numpy as np
>>> print(halfgrad.check(lambda a, b: a + b, "add", dtype="float16"))  # doctest: +ELLIPSIS
add, float16 -> float16, accumulated in float32: passed, ...
"""

from ._cases import Case, cases
from ._distribution import DistributionReport, check_dropout, check_sampling
from ._kernel_test import KernelTest, kernel_test
from ._run import check
from ._kernel_report import Finding, KernelReport, write_junit

__all__ = ["Case", "DistributionReport", "Finding", "KernelTest", "KernelReport", "cases", "check", "check_dropout",
           "check_sampling", "kernel_test", "write_junit"]
