"""The pytest plugin of halfgrad: collects kernels with @halfgrad.kernel_test, whatever their names."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--kernel-seed", type=int, default=None,
                     help="Seed of the inputs of tests made by halfgrad.kernel_test")


def _test_of(kernel, dtype):
    def run(request):
        __tracebackhide__ = True
        seed = request.config.getoption("--kernel-seed")
        kernel.check(dtype, **({} if seed is None else {"seed": seed})).assert_ok()

    return run


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, name, obj):
    from halfgrad.checking._arrays import dtype_name
    from halfgrad.checking._kernel_test import KernelTest

    if not isinstance(obj, KernelTest):
        return None
    return [pytest.Function.from_parent(collector, name=f"{name}[{dtype_name(dtype)}]",
                                        callobj=_test_of(obj, dtype)) for dtype in obj.dtypes]
