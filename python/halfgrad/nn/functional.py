"""The ops under the names of torch.nn.functional."""

import math
from typing import Any, Callable, Optional, Sequence

from .. import _halfgrad
from .._halfgrad import (Tensor, batch_norm, bilinear, binary_cross_entropy,
                         binary_cross_entropy_with_logits, cosine_embedding_loss,
                         cosine_similarity, cross_entropy, embedding, gelu, glu, group_norm,
                         hardshrink, hinge_embedding_loss, huber_loss, kl_div, l1_loss, layer_norm,
                         linear, linear_gelu, linear_relu, log_softmax, logsigmoid,
                         margin_ranking_loss, mlp, mlp_cross_entropy, mse_loss, multi_margin_loss,
                         multilabel_margin_loss, multilabel_soft_margin_loss, nll_loss, one_hot,
                         pairwise_distance, pdist, poisson_nll_loss, prelu, rms_norm,
                         scaled_dot_product_attention, sigmoid, smooth_l1_loss, soft_margin_loss,
                         softmax, softmin, softplus, softshrink, softsign, tanh, tanhshrink,
                         triplet_margin_loss)
from .._halfgrad.nn import multi_head_attention_forward

__all__ = [
    "alpha_dropout", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "cosine_embedding_loss", "cosine_similarity",
    "cross_entropy", "dropout", "dropout1d", "elu", "embedding", "gaussian_nll_loss", "gelu", "glu",
    "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "layer_norm", "leaky_relu", "linear",
    "linear_gelu", "linear_relu", "log_softmax", "logsigmoid", "margin_ranking_loss", "mish", "mlp",
    "mlp_cross_entropy", "mse_loss", "multi_head_attention_forward", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "nll_loss", "normalize", "one_hot", "pad", "pairwise_distance",
    "pdist", "poisson_nll_loss", "prelu", "relu", "relu6", "rms_norm", "rrelu",
    "scaled_dot_product_attention", "selu", "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss",
    "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
    "triplet_margin_loss", "triplet_margin_with_distance_loss",
]


def _written(input: Tensor, inplace: bool, function: Callable[[Tensor], Tensor]) -> Tensor:
    """function(input), written into the input if `inplace`. The function gets a copy then, so that
    what it saves for backward stays."""
    return input.copy_(function(input.clone())) if inplace else function(input)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0); with `inplace` the input is overwritten."""
    return input.relu_() if inplace else input.relu()


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x for x > 0, else negative_slope * x."""
    return _written(input, inplace, lambda x: _halfgrad.leaky_relu(x, negative_slope))


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x for x > 0, else alpha * (e^x - 1)."""
    return _written(input, inplace, lambda x: _halfgrad.elu(x, alpha))


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """1.0507 * elu(x, 1.6733)."""
    return _written(input, inplace, _halfgrad.selu)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x for x > 0, else alpha * (e^(x / alpha) - 1)."""
    return _written(input, inplace, lambda x: _halfgrad.celu(x, alpha))


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return _written(input, inplace, _halfgrad.silu)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return _written(input, inplace, _halfgrad.mish)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0,
             inplace: bool = False) -> Tensor:
    """Limits elements to [min_val, max_val]."""
    return _written(input, inplace, lambda x: _halfgrad.hardtanh(x, min_val, max_val))


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6)."""
    return _written(input, inplace, _halfgrad.relu6)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * relu6(x + 3) / 6."""
    return _written(input, inplace, _halfgrad.hardswish)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6."""
    return _written(input, inplace, _halfgrad.hardsigmoid)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x for x > threshold, else value."""
    return _written(input, inplace, lambda x: _halfgrad.threshold(x, threshold, value))


def rrelu(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False,
          inplace: bool = False) -> Tensor:
    """leaky_relu() with a slope drawn for each element from [lower, upper); with their mean unless
    `training`."""
    return _written(input, inplace, lambda x: _halfgrad.rrelu(x, lower, upper, training))


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, dim: int = -1) -> Tensor:
    """Draws from the Gumbel-softmax distribution (Jang, Gu and Poole, 2017). With `hard` the result
    is one-hot, with the gradient of the soft draw."""
    exponential = -(1 - _halfgrad.rand_like(logits.detach())).log()  # 1 - u is in (0, 1]
    soft = _halfgrad.softmax((logits - exponential.log()) / tau, dim)
    if not hard:
        return soft
    index = soft.argmax(dim, keepdim=True)
    ones = _halfgrad.ones_like(index, dtype=soft.dtype)
    one_hot = _halfgrad.zeros_like(soft.detach()).scatter_add(dim, index, ones)
    return one_hot - soft.detach() + soft


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training zeroes each element with probability p and divides others by 1 - p."""
    return _written(input, inplace, lambda x: _halfgrad.dropout(x, p, training))


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:
    """Dropout of whole channels, dimension 1 of [n, c, ...]."""
    return _written(input, inplace, lambda x: _halfgrad.dropout1d(x, p, training))


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                  inplace: bool = False) -> Tensor:
    """Dropout that keeps the mean 0 and the variance 1 of its input (Klambauer et al., 2017)."""
    return _written(input, inplace, lambda x: _halfgrad.alpha_dropout(x, p, training))


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """input / max(norm, eps) with the p-norm along `dim`."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps)


def _places(size: int, before: int, after: int, mode: str) -> list[int]:
    """The positions in a dimension that the padded dimension repeats."""
    wanted = range(-before, size + after)
    if mode == "circular":
        return [i % size for i in wanted]
    if max(before, after) >= size:
        raise ValueError(f"pad: expected at most {size - 1} reflected elements, got "
                         f"({before}, {after})")
    return [abs(i) if i < size else 2 * (size - 1) - i for i in wanted]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant",
        value: Optional[float] = None) -> Tensor:
    """Adds elements before and after the last dimensions: `pad` is (before, after) for the last
    dimension, then for the one before it, and so on. They are `value` (0), or with mode "reflect",
    "replicate" or "circular" elements of the input. A negative number removes elements."""
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise ValueError("pad: expected mode \"constant\", \"reflect\", \"replicate\" or "
                         f"\"circular\", got \"{mode}\"")
    if len(pad) % 2 != 0 or len(pad) > 2 * input.ndim:
        raise ValueError(f"pad: expected a pair for each of at most {input.ndim} dimensions, got "
                         f"{tuple(pad)}")
    result = input
    for i in range(0, len(pad), 2):
        dim = input.ndim - 1 - i // 2
        before, after = pad[i], pad[i + 1]
        size = result.size(dim)
        if mode != "constant" and size + before + after < 1:
            raise ValueError(f"pad: expected to keep at least one element of the {size} in dimension "
                             f"{dim}, got {tuple(pad)}")
        if mode == "replicate":
            # Element j is element j - before of the input, or the nearest one.
            nearest = [min(max(j - before, 0), size - 1) for j in range(size + before + after)]
            result = result.index_select(dim, _halfgrad.tensor(nearest, device=input.device))
            continue
        begin, end = max(0, -before), size - max(0, -after)
        result = result.narrow(dim, begin, end - begin)
        before, after = max(0, before), max(0, after)
        if mode != "constant":
            places = _places(result.size(dim), before, after, mode)
            result = result.index_select(dim, _halfgrad.tensor(places, device=input.device))
            continue
        sizes = list(result.shape)
        borders = []
        for count in (before, after):
            sizes[dim] = count
            borders.append(input.new_full(sizes, value or 0))
        result = _halfgrad.cat([borders[0], result, borders[1]], dim)
    return result.clone() if result is input else result


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError("reduction: expected \"none\", \"mean\" or \"sum\", got "
                         f"\"{reduction}\"")
    return losses if reduction == "none" else getattr(losses, reduction)()


def gaussian_nll_loss(input: Tensor, target: Tensor, var: Any, full: bool = False,
                      eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """(log var + (input - target)^2 / var) / 2, where var is at least eps; with `full` the constant
    log(2 pi) / 2, too. `var` has the input's shape, or 1 or no last dimension, or is a number."""
    if not isinstance(var, Tensor):
        var = _halfgrad.full_like(input.detach(), var)
    if var.ndim == input.ndim - 1:
        var = var.unsqueeze(-1)
    if bool((var < 0).any()):
        raise ValueError("gaussian_nll_loss: expected variances of 0 or more, got a negative one")
    # The limit has no gradient.
    limited = var + (var.clamp_min(eps) - var).detach()
    losses = (limited.log() + (input - target).square() / limited) * 0.5
    return _reduced(losses + (0.5 * math.log(2 * math.pi) if full else 0), reduction)


def triplet_margin_with_distance_loss(
        anchor: Tensor, positive: Tensor, negative: Tensor, *,
        distance_function: Optional[Callable[[Tensor, Tensor], Tensor]] = None,
        margin: float = 1.0, swap: bool = False, reduction: str = "mean") -> Tensor:
    """triplet_margin_loss() with a distance of your own."""
    if not margin > 0:
        raise ValueError(f"triplet_margin_with_distance_loss: expected a margin > 0, got {margin}")
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return _reduced((near - far + margin).clamp_min(0), reduction)
