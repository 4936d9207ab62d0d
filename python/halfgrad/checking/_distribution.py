"""halfgrad.check_dropout() and halfgrad.check_sampling(): kernels whose results are random."""

import dataclasses
import json

from .._halfgrad import _checking as checking
from ._arrays import LIKES, dtype_name, present, store, store_all
from ._run import KernelRaised, traceback_of

PROBABILITIES = (0, 0.002, 0.1, 0.5, 0.9, 1)


@dataclasses.dataclass(frozen=True)
class DistributionFinding:
    """One kind of fault, its first message, and how often it was seen."""

    fault: str
    message: str
    count: int


class DistributionReport:
    """The result of halfgrad.check_dropout() and check_sampling(). It is true if the kernel passed."""

    def __init__(self, passed, text, document):
        self.passed = passed
        self.report = json.loads(document)
        self._text, self._json = text.rstrip(), document
        self.findings = [DistributionFinding(**finding) for finding in self.report["findings"]]

    def __bool__(self):
        return self.passed

    def __repr__(self):
        return self._text

    def to_json(self):
        """The report as JSON: `kernel`, `passed`, `samples`, `tests`, `false_alarm` and `findings`."""
        return self._json

    def assert_ok(self):
        """Raises AssertionError with the report if the kernel did not pass."""
        __tracebackhide__ = True
        if not self.passed:
            raise AssertionError(repr(self))


def _guarded(call):
    import numpy

    def guarded(*args):
        try:
            with numpy.errstate(all="ignore"):  # overflow is what infinite inputs are for
                call(*args)
        except Exception as error:
            raise KernelRaised(traceback_of(error)) from None

    return guarded


def _expect_like(op, like):
    if like not in LIKES:
        raise ValueError(f"{op}: expected like to be one of {', '.join(LIKES)}, got {like}")


def check_dropout(fn, *, dtype="float32", device="cpu", like="numpy", mask=True, probabilities=PROBABILITIES, seed=0):
    """Checks the values and the distribution of a dropout kernel.

    `fn(x, p, seed, offset)` drops each element of x with probability p and returns (y, mask), or y with
    mask=False. y has the shape and the dtype of x, and is x / (1 - p) where an element is kept, else 0;
    the mask, of bools, is true where an element is kept. Seed and offset are ints; equal ones give equal
    masks, whatever x is, and others give independent ones.

    Returns a DistributionReport; docs/kernel_check.md lists what is tested. A right kernel fails with a
    probability below 1e-9. An exception of fn is a finding. Raises ValueError for a dtype that is not
    floating-point and for probabilities outside of [0, 1].
    """
    _expect_like("check_dropout", like)

    def call(x, p, seed, offset, y, kept):
        store_all(fn(present(x, like), p, seed, offset), [y, kept] if mask else [y], like)

    return DistributionReport(*checking.check_dropout(_guarded(call), dtype_name(dtype), device, mask,
                                                      list(probabilities), seed))


def check_sampling(fn, *, dtype="float32", device="cpu", like="numpy", logits=False, top_k=0, seed=0):
    """Checks the distribution of a kernel that draws a class for each row.

    `fn(weights, seed, offset)` gets weights [m, k] and returns int64 classes [m]. The weights of a row
    are probabilities whose sum is 1, or with logits=True logits; with top_k only the classes of the
    top_k largest are drawn. Seed and offset are ints; equal ones give equal classes, others
    independent ones.

    Returns a DistributionReport; docs/kernel_check.md lists what is tested. A right kernel fails with a
    probability below 1e-9. An exception of fn is a finding. Raises ValueError for a dtype that is not
    floating-point and for a negative top_k.
    """
    _expect_like("check_sampling", like)

    def call(weights, seed, offset, classes):
        store(fn(present(weights, like), seed, offset), classes, like)

    return DistributionReport(*checking.check_sampling(_guarded(call), dtype_name(dtype), device, logits,
                                                       top_k, seed))
