"""Functions of PyTorch that are composed of other ops; most are methods of Tensor, too.

Each takes the dtypes, and has the gradients, of the ops that it calls.
"""

from .counting import (argwhere, bincount, bucketize, count_nonzero, histc, isin, searchsorted,
                       unique, unique_consecutive)
from .moving import (atleast_1d, atleast_2d, broadcast_shapes, broadcast_tensors, cartesian_prod,
                     column_stack, diagflat, dstack, fliplr, flipud, hstack, moveaxis, movedim,
                     repeat_interleave, rot90, row_stack, tensor_split, tril_indices, triu_indices,
                     unfold, vstack)
from .products import (addmv, addr, cdist, dist, inner, kron, logaddexp, logit, matrix_power,
                       tensordot)
from .scans import cummax, cummin, cumprod, diff, trapezoid
from .statistics import (aminmax, kthvalue, median, nan_to_num, nan_to_num_, nanmean, nansum,
                         quantile, std_mean, var_mean)
from .writing import (fill_diagonal_, index_add, index_add_, index_copy, index_copy_, index_fill,
                      index_fill_, index_put, masked_scatter, masked_scatter_, scatter, scatter_,
                      take, take_along_dim)

__all__ = [
    "addmv", "addr", "aminmax", "argwhere", "atleast_1d", "atleast_2d", "bincount",
    "broadcast_shapes", "broadcast_tensors", "bucketize", "cartesian_prod", "cdist",
    "column_stack", "count_nonzero", "cummax", "cummin", "cumprod", "diagflat", "diff", "dist",
    "dstack", "fliplr", "flipud", "histc", "hstack", "index_add", "index_copy", "index_fill",
    "index_put", "inner", "isin", "kron", "kthvalue", "logaddexp", "logit", "masked_scatter",
    "matrix_power", "median", "moveaxis", "movedim", "nan_to_num", "nanmean", "nansum", "quantile",
    "repeat_interleave", "rot90", "row_stack", "scatter", "searchsorted", "std_mean", "take",
    "take_along_dim", "tensor_split", "tensordot", "trapezoid", "tril_indices", "triu_indices",
    "unique", "unique_consecutive", "var_mean", "vstack",
]
