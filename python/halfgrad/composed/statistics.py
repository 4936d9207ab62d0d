"""Order statistics, pairs of statistics, and sums without NaN."""

import math
from typing import Any, NamedTuple, Optional, Union

from .. import _halfgrad
from .._halfgrad import Tensor
from ..extras import finfo
from ..return_types import ValuesIndices


class MinMax(NamedTuple):
    """The smallest and the largest elements."""

    min: Tensor
    max: Tensor


def aminmax(input: Tensor, *, dim: Optional[int] = None, keepdim: bool = False) -> MinMax:
    """The smallest and the largest element, in total or along `dim`: a named tuple."""
    return MinMax(input.amin(dim, keepdim), input.amax(dim, keepdim))


def var_mean(input: Tensor, dim: Any = None, *, correction: float = 1,
             keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """(var(), mean())."""
    return (input.var(dim, correction=correction, keepdim=keepdim), input.mean(dim, keepdim))


def std_mean(input: Tensor, dim: Any = None, *, correction: float = 1,
             keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """(std(), mean())."""
    return (input.std(dim, correction=correction, keepdim=keepdim), input.mean(dim, keepdim))


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The k-th smallest element along `dim`, k = 1 is the smallest, and its index."""
    if not 1 <= k <= input.size(dim):
        raise ValueError(f"kthvalue: expected 1 <= k <= {input.size(dim)}, got {k}")
    values, indices = input.sort(dim)
    values, indices = values.narrow(dim, k - 1, 1), indices.narrow(dim, k - 1, 1)
    return ValuesIndices(values, indices) if keepdim else ValuesIndices(
        values.squeeze(dim), indices.squeeze(dim))


def median(input: Tensor, dim: Optional[int] = None,
           keepdim: bool = False) -> Union[Tensor, ValuesIndices]:
    """The element in the middle, the lower of two, and along `dim` its index, too: a named tuple.
    NaN if there is one. The gradient goes to that element."""
    if dim is None:
        flat = input.flatten()
        return median(flat, 0)[0] if flat.numel() > 0 else _halfgrad.full(
            (), math.nan, dtype=input.dtype, device=input.device)
    values, indices = input.sort(dim)
    last = input.size(dim) - 1
    # NaN is sorted to the end.
    place = _halfgrad.where(values.narrow(dim, last, 1).isnan(), last, last // 2).long()
    result = values.gather(dim, place), indices.gather(dim, place)
    return ValuesIndices(*result) if keepdim else ValuesIndices(
        result[0].squeeze(dim), result[1].squeeze(dim))


def quantile(input: Tensor, q: Union[float, Tensor], dim: Optional[int] = None,
             keepdim: bool = False, *, interpolation: str = "linear") -> Tensor:
    """The q-quantiles, in total or along `dim`. A vector q gives a first dimension. Between two
    elements interpolates linearly, or takes the "lower", the "higher", the "nearest" or the
    "midpoint". NaN if there is one."""
    if interpolation not in ("linear", "lower", "higher", "nearest", "midpoint"):
        raise ValueError("quantile: expected interpolation \"linear\", \"lower\", \"higher\", "
                         f"\"nearest\" or \"midpoint\", got \"{interpolation}\"")
    if dim is None:
        flat = quantile(input.flatten(), q, 0, interpolation=interpolation)
        return flat.reshape([*flat.shape, *[1] * input.ndim]) if keepdim else flat
    wanted = q.tolist() if isinstance(q, Tensor) else q
    values = input.sort(dim).values
    last = input.size(dim) - 1
    is_nan = values.select(dim, last).isnan()
    results = []
    for share in wanted if isinstance(wanted, list) else [wanted]:
        if not 0 <= share <= 1:
            raise ValueError(f"quantile: expected 0 <= q <= 1, got {share}")
        place = share * last
        low, high = math.floor(place), math.ceil(place)
        weight = {"linear": place - low, "lower": 0.0, "higher": 1.0, "midpoint": 0.5,
                  "nearest": float(round(place) - low)}[interpolation]
        below, above = values.select(dim, low), values.select(dim, high)
        result = below if low == high else below.lerp(above, weight)
        result = result.masked_fill(is_nan, math.nan)
        results.append(result.unsqueeze(dim) if keepdim else result)
    return _halfgrad.stack(results) if isinstance(wanted, list) else results[0]


def nansum(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """sum() without the elements that are NaN."""
    return input.masked_fill(input.isnan(), 0).sum(dim, keepdim)


def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """mean() of the elements that are not NaN."""
    return nansum(input, dim, keepdim) / (~input.isnan()).sum(dim, keepdim)


def nan_to_num(input: Tensor, nan: Optional[float] = 0.0, posinf: Optional[float] = None,
               neginf: Optional[float] = None) -> Tensor:
    """Replaces NaN, inf and -inf, by default with 0 and the largest finite numbers."""
    if not input.is_floating_point():
        return input.clone()
    limits = finfo(input.dtype)
    result = input.masked_fill(input.isnan(), 0.0 if nan is None else nan)
    result = result.masked_fill(input == math.inf, limits.max if posinf is None else posinf)
    return result.masked_fill(input == -math.inf, limits.min if neginf is None else neginf)


def nan_to_num_(input: Tensor, nan: Optional[float] = 0.0, posinf: Optional[float] = None,
                neginf: Optional[float] = None) -> Tensor:
    """nan_to_num(), in place."""
    return input.copy_(nan_to_num(input, nan, posinf, neginf))
