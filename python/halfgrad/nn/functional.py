"""The ops under the names of torch.nn.functional."""

from .._halfgrad import (batch_norm, binary_cross_entropy, binary_cross_entropy_with_logits,
                         cross_entropy, dropout, elu, embedding, gelu, huber_loss, kl_div, l1_loss,
                         layer_norm, leaky_relu, linear, linear_gelu, linear_relu, log_softmax, mse_loss,
                         nll_loss, one_hot, relu, rms_norm, sigmoid, silu, smooth_l1_loss, softmax,
                         softplus, softshrink, tanh)

__all__ = [
    "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy",
    "dropout", "elu", "embedding", "gelu", "huber_loss", "kl_div", "l1_loss", "layer_norm",
    "leaky_relu", "linear", "linear_gelu", "linear_relu", "log_softmax", "mse_loss", "nll_loss", "one_hot", "relu",
    "rms_norm", "sigmoid", "silu", "smooth_l1_loss", "softmax", "softplus", "softshrink", "tanh",
]
