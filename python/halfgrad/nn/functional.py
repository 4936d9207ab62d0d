"""The ops under the names of torch.nn.functional."""

from typing import Any

from .. import _halfgrad
from .._halfgrad import (Tensor, batch_norm, binary_cross_entropy,
                         binary_cross_entropy_with_logits, cross_entropy, elu, embedding, gelu, group_norm,
                         huber_loss, kl_div, l1_loss, layer_norm, leaky_relu, linear, linear_gelu,
                         linear_relu, log_softmax, mlp, mlp_cross_entropy, mse_loss, nll_loss, one_hot, rms_norm,
                         scaled_dot_product_attention, sigmoid, silu, smooth_l1_loss, softmax,
                         softplus, softshrink, tanh)

__all__ = [
    "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy",
    "dropout", "elu", "embedding", "gelu", "group_norm", "huber_loss", "kl_div", "l1_loss", "layer_norm",
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
