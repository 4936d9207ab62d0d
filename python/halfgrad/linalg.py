"""Norms and products under the names of torch.linalg."""

import functools
from typing import Any, Optional, Sequence, Union

from ._halfgrad import Tensor, cross, dtype, matmul, matrix_power

__all__ = ["cross", "matmul", "matrix_norm", "matrix_power", "multi_dot", "norm", "vector_norm"]


def vector_norm(x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *,
                dtype: Optional[dtype] = None) -> Tensor:
    """(sum |x|^ord)^(1/ord) over `dim`, or over all elements."""
    return (x if dtype is None else x.to(dtype)).norm(ord, dim, keepdim)


def matrix_norm(A: Tensor, ord: str = "fro", dim: Any = (-2, -1), keepdim: bool = False) -> Tensor:
    """The Frobenius norm of each matrix; there are no others."""
    if ord != "fro":
        raise ValueError(f"matrix_norm: expected ord \"fro\", got {ord}")
    return A.norm(2, dim, keepdim)


def norm(A: Tensor, ord: Union[float, str, None] = None, dim: Any = None,
         keepdim: bool = False) -> Tensor:
    """The 2-norm of all elements, the vector norm along one dimension, or the Frobenius norm."""
    count = len(dim) if isinstance(dim, Sequence) else A.ndim if dim is None else 1
    if ord is None or ord == "fro":
        return A.norm(2, dim, keepdim)
    if isinstance(ord, str) or count != 1:
        raise ValueError(f"norm: expected ord \"fro\" or None for a matrix, got {ord}; see "
                         "vector_norm()")
    return A.norm(ord, dim, keepdim)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of matrices, from left to right."""
    return functools.reduce(matmul, tensors)
