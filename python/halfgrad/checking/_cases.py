"""halfgrad.cases(): the checker's inputs for those with a harness of their own."""

import functools

from .._halfgrad import _checking as checking
from ._arrays import LIKES, present, tensor_of_output
from ._run import options_of
from ._kernel_report import KernelReport


class Case:
    """One set of hostile inputs with the exact result and its error budget."""

    def __init__(self, case, like, op):
        self._case = case
        self._like = like
        self._op = op

    def __repr__(self):
        names = ("m", "n", "k", "columns")
        sizes = ", ".join(f"{name} = {size}" for name, size in zip(names, self.dims))
        return f"<halfgrad case {self.kind}, {sizes}, seed {self.seed}>"

    @property
    def name(self):
        """A name for files, distinct among the cases of an op."""
        return self._case.name

    @property
    def dims(self):
        """The sizes (m, n, k) of which docs/kernel_check.md speaks, or (m, n, k, columns)."""
        return self._case.dims

    @property
    def kind(self):
        """The kind of inputs, such as "zero by inf"."""
        return self._case.kind

    @property
    def seed(self):
        return self._case.seed

    @functools.cached_property
    def inputs(self):
        """The operands, drawn at the first use."""
        return [present(x, self._like) for x in self._case.inputs]

    @functools.cached_property
    def _budgets(self):
        return [[present(x, "numpy") for x in both] for both in self._case.budgets]

    def _of_each_output(self, member):
        parts = tuple(both[member] for both in self._budgets)
        return parts[0] if len(parts) == 1 else parts

    @property
    def expected(self):
        """The exact result, a NumPy array of float64; a tuple of them for an op with several outputs."""
        return self._of_each_output(0)

    @property
    def budget(self):
        """The error that each element may have, in the form of `expected`; infinite: not judged."""
        return self._of_each_output(1)

    def judge(self, output):
        """Compares an output with the expected one. Returns a KernelReport.

        An op with several outputs takes a tuple of them. Raises ValueError for another number of
        outputs, shape or dtype than those of the op's result.
        """
        dtypes = self._case.output_dtypes
        outputs = [output] if len(dtypes) == 1 else list(output)
        if len(outputs) != len(dtypes):
            raise ValueError(f"judge: expected {len(dtypes)} outputs, got {len(outputs)}")
        tensors = [tensor_of_output(each, dtype) for each, dtype in zip(outputs, dtypes)]
        return KernelReport(*self._case.judge(tensors), self._op)


def cases(op, *, dtype="float32", like="numpy", output=None, accumulate=None, dims=None, seed=0,
          without=(), flush_subnormals=False, any_nan=False, fast_math=False, max_abs=None,
          empty=True, eps=None, dim=None, ndim=None, reduction=None, operand_dtypes=None,
          output_dtypes=None):
    """Yields the cases of a check of that op, one Case for each size and kind of inputs.

    `op` is a name, or what halfgrad.reference.formula() returned. The options are those of check(). Inputs are arrays of the package `like`.
    """
    if like not in LIKES:
        raise ValueError(f"cases: expected like to be one of {', '.join(LIKES)}, got {like}")
    options = options_of({
        "dtype": dtype, "output": output, "accumulate": accumulate, "dims": dims, "seed": seed,
        "without": without, "flush_subnormals": flush_subnormals, "any_nan": any_nan,
        "fast_math": fast_math, "max_abs": max_abs, "empty": empty, "eps": eps, "dim": dim, "ndim": ndim,
        "reduction": reduction, "operand_dtypes": operand_dtypes,
        "output_dtypes": output_dtypes})
    return (Case(case, like, op) for case in checking.cases(op, options))
