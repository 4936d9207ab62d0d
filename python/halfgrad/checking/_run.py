"""halfgrad.check()."""

import traceback

from .._halfgrad import _checking as checking
from ._arrays import LIKES, dtype_name, present, store_all
from ._formula import chosen_op
from ._kernel_report import KernelReport


class KernelRaised(Exception):
    """The text of an exception that a kernel raised, with its traceback."""


def traceback_of(error):
    """The traceback of a kernel without the checker's own frames; its end, if it is long."""
    most = 3000
    frames = error.__traceback__.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames)).rstrip()
    last = text.rsplit("\n", 1)[-1]
    return f"{last[:most]}\n{text[-most:]}"


def _adapted(fn, like, out):
    """The function as the checker calls it: with two lists of halfgrad's tensors."""

    import numpy

    def call(inputs, outputs):
        arrays = [present(x, like) for x in inputs]
        try:
            with numpy.errstate(all="ignore"):  # overflow is what hostile inputs are for
                if out:
                    into = tuple(present(y, like) for y in outputs)
                    fn(*arrays, out=into if len(into) > 1 else into[0])
                else:
                    store_all(fn(*arrays), outputs, like)
        except Exception as error:
            raise KernelRaised(traceback_of(error)) from None

    return call


def options_of(given):
    """The options of check() as those of the C++ library. Raises TypeError for an unknown one."""
    options = dict(given)
    for name in ("dtype", "output", "accumulate"):
        options[name] = dtype_name(options.get(name))
    for name in ("operand_dtypes", "output_dtypes"):
        if options.get(name) is not None:
            options[name] = {place: dtype_name(dtype) for place, dtype in options[name].items()}
    for name in ("layouts", "without"):
        if isinstance(options.get(name), str):
            options[name] = [options[name]]
    return {name: value for name, value in options.items() if value is not None}


def check(fn, op=None, *, reference=None, inputs=None, outputs=None, gradient=None, name=None,
          least=(0, 0, 0), exact=False, dtype="float32", output=None, device="cpu", like="numpy", accumulate=None,
          layouts=None, dims=None, seed=0, without=(), flush_subnormals=False, any_nan=False,
          fast_math=False, any_order=False, max_abs=None, empty=True, in_place=False, out=False, repeat=None, shrink=True,
          stop_at_first=False, isolate=False, timeout=60.0, eps=None, dim=None, ndim=None,
          reduction=None, operand_dtypes=None, output_dtypes=None):
    """Compares a kernel with an op or a formula, on hostile inputs, within an error budget.

    `op` is the name of an op, or what halfgrad.reference.formula() returned. With reference= and
    inputs= instead of it the kernel is checked against that formula; outputs, gradient, name, least
    and exact are those of halfgrad.reference.formula().

    `fn(*inputs)` returns an array, or with out=True `fn(*inputs, out=output)` fills one. The inputs
    are arrays of the package `like`: "numpy", "torch", "jax", "cupy", "halfgrad", or "triton" for
    Triton's interpreter on the CPU without PyTorch. They share the checker's memory, so that their
    layouts and the guards around them are real. In NumPy bfloat16 is ml_dtypes.bfloat16 if
    ml_dtypes is installed, else its bits as uint16. A kernel with several outputs returns a tuple of
    arrays, or gets one as `out`.

    dtype, output, accumulate: dtypes of the operands, of the result, and of intermediate results
        ("tf32" for products of factors with 11 bits); by default those of the op.
    layouts: any of "contiguous", "misaligned", "page_end" (the default) and "padded_rows",
        "every_second", "transposed".
    dims: triples (m, n, k) in place of the default sizes; (m, n, k, columns) for bmm and baddbmm.
    without: kinds of inputs to leave out, such as "near max".
    flush_subnormals, any_nan, fast_math, any_order, max_abs: what the kernel need not promise, see
        docs/kernel_check.md.
    empty: False leaves out arrays without elements.
    in_place: also runs with the first input as output; needs out=True.
    eps: that of a norm or of Adam.
    dim, ndim: the dimension along which a softmax, a reduction or a norm goes, and the number of
        dimensions of its operand, 2 or 3.
    reduction: of a loss, "none", "mean" or "sum".
    operand_dtypes, output_dtypes: dtypes of single operands and of single outputs of an op with
        several, by position: {2: "float32"} for float32 statistics beside 16-bit operands.
    repeat: how often one case is repeated; by default as often as 0.5 s allow.
    isolate: runs fn in a process of its own, made by fork(): a crash, exit() or a call longer than
        `timeout` seconds is a finding, and inputs can only be read. For device="cpu".

    Returns a KernelReport. An exception of fn is a finding with its traceback, one of the reference is
    raised; Ctrl-C ends the check with what was found until then. Raises ValueError for an unknown
    op, dtype or option's value, and for a parameter that the op does not have.
    """
    op = chosen_op(op, reference, inputs=inputs, outputs=outputs, gradient=gradient, name=name,
                   least=least, exact=exact, may_work_in_place=in_place)
    if like not in LIKES:
        raise ValueError(f"check: expected like to be one of {', '.join(LIKES)}, got {like}")
    if like == "triton" and not out:
        raise ValueError("check: expected out=True for like='triton', got out=False")
    if in_place and not out:
        raise ValueError("check: expected out=True for in_place=True, got out=False")
    if isolate and device != "cpu":
        raise ValueError(f"check: expected device='cpu' for isolate=True, got {device!r}")
    options = options_of({
        "dtype": dtype, "output": output, "device": device, "accumulate": accumulate,
        "layouts": layouts, "dims": dims, "seed": seed, "without": without,
        "flush_subnormals": flush_subnormals, "any_nan": any_nan, "fast_math": fast_math,
        "any_order": any_order, "max_abs": max_abs,
        "empty": empty, "eps": eps, "dim": dim, "ndim": ndim, "reduction": reduction,
        "operand_dtypes": operand_dtypes, "output_dtypes": output_dtypes,
        "in_place": in_place, "repeat": repeat, "shrink": shrink, "stop_at_first": stop_at_first})
    result = checking.check(_adapted(fn, like, out), op, options, timeout if isolate else None)
    return KernelReport(*result, op)
