"""The ops under the names of torch.nn.functional."""

import math
from typing import Any, Optional

from .. import _halfgrad
from .._halfgrad import (Tensor, batch_norm, binary_cross_entropy,
                         binary_cross_entropy_with_logits, cross_entropy, elu, embedding, gelu,
                         huber_loss, kl_div, l1_loss, layer_norm, leaky_relu, linear, linear_gelu,
                         linear_relu, log_softmax, mlp, mlp_cross_entropy, mse_loss, nll_loss, one_hot, rms_norm, sigmoid,
                         silu, smooth_l1_loss, softmax, softplus, softshrink, tanh)

__all__ = [
    "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy",
    "dropout", "elu", "embedding", "gelu", "huber_loss", "kl_div", "l1_loss", "layer_norm",
    "leaky_relu", "linear", "linear_gelu", "linear_relu", "log_softmax", "mlp", "mlp_cross_entropy", "mse_loss", "nll_loss",
    "normalize", "one_hot", "relu", "rms_norm", "scaled_dot_product_attention", "sigmoid", "silu",
    "smooth_l1_loss", "softmax", "softplus", "softshrink", "tanh",
]


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0); with `inplace` the input is overwritten."""
    return input.relu_() if inplace else input.relu()


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training zeroes each element with probability p and divides others by 1 - p."""
    output = _halfgrad.dropout(input, p, training)
    return input.copy_(output) if inplace else output


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """input / max(norm, eps) with the p-norm along `dim`."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps)


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor,
                                 attn_mask: Optional[Tensor] = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, scale: Optional[float] = None) -> Tensor:
    """softmax(query key^T scale + mask) value, for [..., l, e], [..., s, e] and [..., s, v].

    `scale` is 1 / sqrt(e) by default. A mask of bool is True where a key takes part; another is
    added. Raises ValueError for a mask together with is_causal.
    """
    if is_causal and attn_mask is not None:
        raise ValueError("scaled_dot_product_attention: expected attn_mask or is_causal, got both")
    scores = (query @ key.transpose(-2, -1)) * (scale or 1 / math.sqrt(query.size(-1)))
    if is_causal:
        ones = _halfgrad.ones(query.size(-2), key.size(-2), device=query.device)
        attn_mask = ones.tril() != 0
    if attn_mask is not None and attn_mask.dtype == _halfgrad.dtype.bool_:
        scores = scores.masked_fill(attn_mask.logical_not(), -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = scores.softmax(-1)
    return (dropout(weights, dropout_p) if dropout_p > 0 else weights) @ value
