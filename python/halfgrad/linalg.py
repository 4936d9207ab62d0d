"""Norms and products under the names of torch.linalg."""

import functools
import math
from typing import Any, Optional, Sequence, Union

from ._halfgrad import Tensor, cross, dtype, matmul, matrix_power

__all__ = ["cross", "matmul", "matrix_norm", "matrix_power", "multi_dot", "norm", "vector_norm"]


def vector_norm(x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *,
                dtype: Optional[dtype] = None) -> Tensor:
    """(sum |x|^ord)^(1/ord) over `dim`, or over all elements."""
    return (x if dtype is None else x.to(dtype)).norm(ord, dim, keepdim)


def matrix_norm(A: Tensor, ord: Union[float, str] = "fro", dim: Any = (-2, -1),
                keepdim: bool = False, *, dtype: Optional[dtype] = None) -> Tensor:
    """The Frobenius norm of each matrix, whose rows lie along dim[0] and columns along dim[1]. For
    ord 1 the largest sum of a column's magnitudes, for inf of a row's; for -1 and -inf the least.
    """
    x = A if dtype is None else A.to(dtype)
    if ord == "fro":
        return x.norm(2, dim, keepdim)
    if ord in ("nuc", 2, -2):
        raise ValueError(f"matrix_norm: expected ord 1, -1, inf, -inf or \"fro\", got {ord!r}, which "
                         "needs the singular values that halfgrad does not compute")
    if isinstance(ord, str) or abs(ord) not in (1, math.inf):
        raise ValueError(f"matrix_norm: expected ord 1, -1, inf, -inf or \"fro\", got {ord!r}")
    if len(dim) != 2 or x.ndim < 2 or (dim[0] - dim[1]) % x.ndim == 0:
        raise ValueError(f"matrix_norm: expected two dimensions of {x.ndim}, got {dim}")
    summed, compared = dim if abs(ord) == 1 else (dim[1], dim[0])
    sums = x.abs().sum(summed, True)
    norms = sums.amax(compared, True) if ord > 0 else sums.amin(compared, True)
    return norms if keepdim else norms.squeeze((dim[0], dim[1]))


def norm(A: Tensor, ord: Union[float, str, None] = None, dim: Any = None, keepdim: bool = False, *,
         dtype: Optional[dtype] = None) -> Tensor:
    """The 2-norm of all elements or over `dim`; with `ord` the vector norm along one dimension, or
    matrix_norm() of two."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    count = len(dim) if isinstance(dim, Sequence) else A.ndim if dim is None else 1
    if count == 2 or isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if count != 1:
        raise ValueError(f"norm: expected one or two dimensions with ord, got {count}")
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of matrices, from left to right."""
    return functools.reduce(matmul, tensors)
