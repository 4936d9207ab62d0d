"""The types of results: named tuples of max(), sort(), aminmax() and others, and the shape."""

import math
from typing import NamedTuple

from ._halfgrad import Tensor


class Size(tuple[int, ...]):
    """A shape: a tuple of the sizes of the dimensions."""

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"halfgrad.Size({list(self)})"


class ValuesIndices(NamedTuple):
    """Elements, and the positions where they were: int64."""

    values: Tensor
    indices: Tensor


class MinMax(NamedTuple):
    """The smallest and the largest elements."""

    min: Tensor
    max: Tensor
