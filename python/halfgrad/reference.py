"""Formulas for halfgrad.check(): arrays with error bounds, and the ops that compute with them.

Names, defaults and semantics are PyTorch's; shapes broadcast. Each op adds the error that a kernel's
operation may have, and has a derivative. Wrong shapes raise ValueError that names the op.

>>> import halfgrad.reference as hr
>>> hr.formula(lambda x, w, b: hr.relu(x @ w.T + b), [("m", "k"), ("n", "k"), ("n",)], name="fused")
<halfgrad formula fused: [5, 7], [3, 7], [3] for m = 5, n = 3, k = 7>
"""

from ._halfgrad._reference import (
    Array, Formula, Input, Output, abs, amax, amin, argmax, cat, clamp, constant, cumsum, either, eq, erf, exact, exp,
    expand, gather, gelu, gradient, index_select, indices, input, layer_norm, linear, log, log_softmax,
    logsumexp, mask, masked_fill, matmul, maximum, mean, minimum, narrow, normal_cdf, output, permute, pow, prod, relu, reshape,
    rms_norm, rsqrt, scaled_dot_product_attention, scatter_add, sigmoid, silu, softmax, sqrt, square,
    stored, sum, t, tanh, transpose, unsqueeze, where, zeros_like)
from .checking._formula import formula

__all__ = [
    "Array", "Formula", "Input", "Output", "abs", "amax", "amin", "argmax", "cat", "clamp", "constant", "cumsum", "either", "eq",
    "erf", "exact", "exp", "expand", "formula", "gather", "gelu", "gradient",
    "index_select", "indices", "input", "layer_norm", "linear", "log", "log_softmax", "logsumexp", "mask", "masked_fill", "matmul", "maximum", "mean", "minimum",
    "narrow", "normal_cdf", "output", "permute", "pow", "prod", "relu", "reshape", "rms_norm", "rsqrt",
    "scaled_dot_product_attention", "scatter_add", "sigmoid", "silu", "softmax", "sqrt", "square", "stored",
    "sum", "t", "tanh", "transpose", "unsqueeze", "where", "zeros_like",
]
