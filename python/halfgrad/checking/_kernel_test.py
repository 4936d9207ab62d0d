"""@halfgrad.kernel_test: a kernel that is a test of pytest."""

from ._run import check


class KernelTest:
    """A kernel with its checks. It can be called as the kernel itself."""

    def __init__(self, fn, op, dtypes, options):
        self.fn = fn
        self.op = op
        self.dtypes = dtypes
        self.options = options
        self.__name__ = getattr(fn, "__name__", str(op))
        self.__doc__ = fn.__doc__
        self.__wrapped__ = fn

    def __call__(self, *args, **kwargs):
        return self.fn(*args, **kwargs)

    def check(self, dtype=None, **options):
        """Returns the KernelReport for one dtype, by default the first."""
        return check(self.fn, self.op, dtype=dtype or self.dtypes[0], **{**self.options, **options})


def kernel_test(op=None, *, dtype="float32", **options):
    """Makes a test of pytest from a kernel: one test for each dtype, which fails with the report.

    `dtype` is one dtype or a list of them; the op and the options are those of halfgrad.check(),
    reference= and inputs= in place of a name among them.

    >>> @kernel_test("softmax", dtype=["float32", "float16"])
    ... def softmax(x):
    ...     return my_softmax(x)
    """
    dtypes = list(dtype) if isinstance(dtype, (list, tuple)) else [dtype]
    return lambda fn: KernelTest(fn, op, dtypes, options)
