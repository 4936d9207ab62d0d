"""Counting, searching and distinct values. The results have no gradient."""

from typing import Any, Optional, Union

from .. import _halfgrad
from .._halfgrad import Tensor, dtype


def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """The number of elements that are not 0, in total or along `dim`: int64."""
    return (input != 0).sum(dim)


def argwhere(input: Tensor) -> Tensor:
    """nonzero()."""
    return input.nonzero()


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False,
         invert: bool = False) -> Tensor:
    """True where an element equals one of `test_elements`; one of the two may be a number."""
    if not isinstance(elements, Tensor):
        elements = _halfgrad.tensor(elements, device=test_elements.device)
    if not isinstance(test_elements, Tensor):
        test_elements = _halfgrad.tensor(test_elements, device=elements.device)
    found = (elements.unsqueeze(-1) == test_elements.flatten()).any(-1)
    return ~found if invert else found


def bincount(input: Tensor, weights: Optional[Tensor] = None, minlength: int = 0) -> Tensor:
    """How often each integer 0, 1, ... occurs in a vector, or the sum of its weights."""
    if input.ndim != 1 or input.is_floating_point() or bool((input < 0).any()):
        raise ValueError("bincount: expected a vector of integers of 0 or more, got "
                         f"{input.dtype} of shape {list(input.shape)}")
    largest = int(input.max()) + 1 if input.numel() > 0 else 0
    if weights is None:
        weights = _halfgrad.ones_like(input, dtype=dtype.int64)
    elif weights.shape != input.shape:
        raise ValueError(f"bincount: expected weights of shape {list(input.shape)}, got "
                         f"{list(weights.shape)}")
    elif not weights.is_floating_point():
        weights = weights.double()
    counts = _halfgrad.zeros(max(minlength, largest), dtype=weights.dtype, device=input.device)
    return counts.scatter_add(0, input.long(), weights.detach())


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """The number of elements in each of `bins` intervals of one width from min to max; of those of
    the elements for equal limits. Others are not counted."""
    values = input.detach().flatten()
    if min == max and values.numel() > 0:
        min, max = values.min().item(), values.max().item()
    if min == max:
        min, max = min - 1, max + 1
    if not min < max or bins < 1:
        raise ValueError(f"histc: expected min <= max and at least 1 bin, got {min}, {max}, {bins}")
    values = values[(values >= min) & (values <= max)]
    places = ((values.double() - min) / (max - min) * bins).long().clamp(max=bins - 1)
    return bincount(places, minlength=bins).to(input.dtype)


def searchsorted(sorted_sequence: Tensor, input: Any, *, right: bool = False,
                 side: Optional[str] = None) -> Tensor:
    """The positions at which elements can be put into a sorted sequence: before equal ones, or
    with right=True (side="right") after them. The sequence is a vector, or a row for each row of
    `input`. Compares every element with the whole sequence."""
    if side not in (None, "left", "right") or (side == "left" and right):
        raise ValueError(f"searchsorted: expected side \"left\" or \"right\", got {side}")
    if not isinstance(input, Tensor):
        input = _halfgrad.tensor(input, device=sorted_sequence.device)
    values = input.unsqueeze(-1)
    if sorted_sequence.ndim > 1:
        sorted_sequence = sorted_sequence.unsqueeze(-2)
    is_right = right or side == "right"
    return (sorted_sequence <= values if is_right else sorted_sequence < values).sum(-1)


def bucketize(input: Any, boundaries: Tensor, *, right: bool = False) -> Tensor:
    """The intervals between boundaries that hold the elements: searchsorted(boundaries, input)."""
    return searchsorted(boundaries, input, right=right)


Unique = Union[Tensor, tuple[Tensor, ...]]


def _runs(values: Tensor, return_inverse: bool, return_counts: bool,
          order: Optional[Tensor]) -> list[Tensor]:
    """The first value of each run of equal ones in a vector, the runs' numbers and lengths."""
    begins = _halfgrad.ones(values.numel(), dtype=dtype.bool_, device=values.device)
    if values.numel() > 1:
        begins[1:] = values[1:] != values[:-1]
    results = [values[begins]]
    if return_inverse:
        runs = begins.cumsum(0) - 1
        if order is not None:
            inverse = _halfgrad.zeros_like(runs)
            inverse[order] = runs
            runs = inverse
        results.append(runs)
    if return_counts:
        places = begins.nonzero().flatten()
        end = _halfgrad.tensor([values.numel()], device=values.device)
        results.append(_halfgrad.cat([places[1:], end[:places.numel()]]) - places)
    return results


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False,
           return_counts: bool = False) -> Unique:
    """The distinct elements, always sorted; on request also the index of each element among them,
    and how often each occurs."""
    values, order = input.detach().flatten().sort()
    results = _runs(values, return_inverse, return_counts, order)
    if return_inverse:
        results[1] = results[1].reshape(input.shape)
    return results[0] if len(results) == 1 else tuple(results)


def unique_consecutive(input: Tensor, return_inverse: bool = False,
                       return_counts: bool = False) -> Unique:
    """The flattened elements without those that equal the one before; see unique()."""
    results = _runs(input.detach().flatten(), return_inverse, return_counts, None)
    if return_inverse:
        results[1] = results[1].reshape(input.shape)
    return results[0] if len(results) == 1 else tuple(results)
