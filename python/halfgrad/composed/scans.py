"""Running products and extremes, and differences of neighbours."""

from typing import Any, Optional

from .. import _halfgrad
from .._halfgrad import Tensor, dtype
from ..return_types import ValuesIndices


def cumprod(input: Tensor, dim: int, *, dtype: Optional[dtype] = None) -> Tensor:
    """y_i = x_0 x_1 ... x_i along `dim`, in log2(n) multiplications of the whole tensor. Integers
    become int64."""
    result = input if dtype is None else input.to(dtype)
    if not result.is_floating_point() and dtype is None:
        result = result.long()
    count = input.size(dim)
    shift = 1
    while shift < count:
        rest = count - shift
        product = result.narrow(dim, shift, rest) * result.narrow(dim, 0, rest)
        result = _halfgrad.cat([result.narrow(dim, 0, shift), product], dim)
        shift *= 2
    return result if result is not input else input.clone()


def _running_extreme(input: Tensor, dim: int, is_max: bool) -> ValuesIndices:
    values = input.detach()
    count = input.size(dim)
    shape = [count if d == dim % input.ndim else 1 for d in range(input.ndim)]
    indices = _halfgrad.arange(count, device=input.device).reshape(shape).expand(input.shape)
    shift = 1
    while shift < count:
        rest = count - shift
        old, new = values.narrow(dim, 0, rest), values.narrow(dim, shift, rest)
        # NaN stays: it is not below anything, and nothing replaces it.
        is_new = ((new >= old) if is_max else (new <= old)) & ~old.isnan() | new.isnan()
        kept = values.narrow(dim, 0, shift), indices.narrow(dim, 0, shift)
        chosen = _halfgrad.where(is_new, indices.narrow(dim, shift, rest),
                                 indices.narrow(dim, 0, rest))
        values = _halfgrad.cat([kept[0], _halfgrad.where(is_new, new, old)], dim)
        indices = _halfgrad.cat([kept[1], chosen], dim)
        shift *= 2
    return ValuesIndices(input.gather(dim, indices), indices)


def cummax(input: Tensor, dim: int) -> ValuesIndices:
    """The largest element so far along `dim`, and its position: the last of equal ones."""
    return _running_extreme(input, dim, True)


def cummin(input: Tensor, dim: int) -> ValuesIndices:
    """The smallest element so far along `dim`, and its position: the last of equal ones."""
    return _running_extreme(input, dim, False)


def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Optional[Tensor] = None,
         append: Optional[Tensor] = None) -> Tensor:
    """x_(i+1) - x_i along `dim`, n times. `prepend` and `append` are joined to the input first."""
    result = input
    if prepend is not None or append is not None:
        parts = [part for part in (prepend, input, append) if part is not None]
        result = _halfgrad.cat(parts, dim)
    for _ in range(min(n, result.size(dim))):
        rest = result.size(dim) - 1
        after, before = result.narrow(dim, 1, rest), result.narrow(dim, 0, rest)
        result = after != before if result.dtype == dtype.bool_ else after - before
    return result


def trapezoid(y: Tensor, x: Optional[Tensor] = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The integral of y along `dim` by the trapezoidal rule, at the points x or `dx` apart."""
    rest = y.size(dim) - 1
    heights = (y.narrow(dim, 1, rest) + y.narrow(dim, 0, rest)) / 2
    if x is None:
        return heights.sum(dim) * dx
    widths = diff(x, dim=dim)
    if x.ndim == 1:
        widths = widths.reshape([-1 if d == dim % y.ndim else 1 for d in range(y.ndim)])
    return (heights * widths).sum(dim)
