"""The named tuples that max(), min(), sort() and topk() return."""

from typing import NamedTuple

from ._halfgrad import Tensor


class ValuesIndices(NamedTuple):
    """Elements, and the positions where they were: int64."""

    values: Tensor
    indices: Tensor
