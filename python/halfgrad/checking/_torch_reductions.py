"""Reductions, norms and losses of PyTorch, computed with halfgrad.reference."""

import math

from .. import reference as hr
from ._torch_registry import OPS, dims_of, expect, is_array, op
from ._torch_trace import UnsupportedOp

for _name in ("sum", "mean", "amax", "amin"):
    OPS[_name] = (lambda reduce: lambda x, dim=None, keepdim=False: reduce(x, dims_of(dim), keepdim))(
        getattr(hr, _name))
OPS["logsumexp"] = lambda x, dim, keepdim=False: hr.logsumexp(x, dims_of(dim), keepdim)


class _Extremes(tuple):
    """The values of max(dim); indices have no formula."""

    values = property(lambda self: self[0])

    @property
    def indices(self):
        raise UnsupportedOp("the indices of max or min")


def _extreme(reduce, both):
    def op(x, dim=None, keepdim=False):
        if is_array(dim):
            return both(x, dim)
        values = reduce(x, dims_of(dim), keepdim)
        return values if dim is None else _Extremes([values])

    return op


OPS["max"], OPS["min"] = _extreme(hr.amax, hr.maximum), _extreme(hr.amin, hr.minimum)


@op
def softmax(x, dim=None, dtype=None):
    expect(dim is not None, "softmax without dim")
    return hr.softmax(x, dim)


@op
def log_softmax(x, dim=None, dtype=None):
    expect(dim is not None, "log_softmax without dim")
    return hr.log_softmax(x, dim)


@op(names=("norm", "linalg_norm", "linalg_vector_norm"))
def norm(x, p=2, dim=None, keepdim=False, ord=None):
    p = p if ord is None else ord
    expect(p in (1, 2, "fro", math.inf), f"norm of order {p}")
    if p == 1:
        return hr.sum(hr.abs(x), dims_of(dim), keepdim)
    if p == math.inf:
        return hr.amax(hr.abs(x), dims_of(dim), keepdim)
    return hr.sqrt(hr.sum(hr.square(x), dims_of(dim), keepdim))


@op
def normalize(x, p=2.0, dim=1, eps=1e-12):
    length = norm(x, p, dim, True)
    return x / hr.maximum(length, hr.constant(length, eps))





def _over_rows(x, rows, weight, bias, eps):
    """Normalises each row of x seen as [rows, -1]."""
    flat = hr.reshape(x, [rows, -1])
    normalised = hr.reshape(hr.layer_norm(flat, [flat.shape[1]], eps=eps), list(x.shape))
    return _by_channel(normalised, weight, bias)


def _by_channel(x, weight, bias):
    sizes = [-1] + [1] * (x.ndim - 2)
    y = x if weight is None else x * hr.reshape(weight, sizes)
    return y if bias is None else y + hr.reshape(bias, sizes)


@op
def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return hr.layer_norm(x, list(normalized_shape), weight, bias, eps=eps)


@op
def rms_norm(x, normalized_shape, weight=None, eps=None):
    expect(eps is not None, "rms_norm with eps=None, which depends on the dtype")
    return hr.rms_norm(x, list(normalized_shape), weight, eps=eps)


@op
def group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    return _over_rows(x, x.shape[0] * num_groups, weight, bias, eps)


@op
def instance_norm(x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
                  momentum=0.1, eps=1e-5):
    expect(use_input_stats, "instance_norm with running statistics")
    return _over_rows(x, x.shape[0] * x.shape[1], weight, bias, eps)


@op
def batch_norm(x, running_mean=None, running_var=None, weight=None, bias=None, training=False,
               momentum=0.1, eps=1e-5):
    if training:
        swapped = hr.transpose(x, 0, 1) if x.ndim > 1 else x
        flat = _over_rows(swapped, x.shape[1], None, None, eps)
        return _by_channel(hr.transpose(flat, 0, 1), weight, bias)
    sizes = [-1] + [1] * (x.ndim - 2)
    centred = x - hr.reshape(running_mean, sizes)
    return _by_channel(centred * hr.rsqrt(hr.reshape(running_var, sizes) + eps), weight, bias)





def _reduced(loss, reduction):
    if reduction == "none":
        return loss
    expect(reduction in ("mean", "sum"), f"the reduction {reduction}")
    return (hr.mean if reduction == "mean" else hr.sum)(hr.stored(loss))


@op
def mse_loss(x, target, reduction="mean"):
    return _reduced(hr.square(x - target), reduction)


@op
def l1_loss(x, target, reduction="mean"):
    return _reduced(hr.abs(x - target), reduction)


def _huber(x, target, beta):
    error = x - target
    size = hr.abs(error)
    return hr.where(size < beta, hr.square(error) * 0.5, (size - 0.5 * beta) * beta)


@op
def huber_loss(x, target, reduction="mean", delta=1.0):
    return _reduced(_huber(x, target, float(delta)), reduction)


@op
def smooth_l1_loss(x, target, reduction="mean", beta=1.0):
    expect(beta == 1, f"smooth_l1_loss with beta={beta}")
    return _reduced(_huber(x, target, 1.0), reduction)


@op
def cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    expect(weight is None and label_smoothing == 0 and x.ndim == 2 and target.ndim == 1,
            "cross_entropy but for logits [m, k] and classes [m] without weight or smoothing")
    index = hr.reshape(target, [-1, 1])
    best = -hr.gather(hr.log_softmax(x, 1), 1, index)
    usual = hr.logsumexp(x, [1], True) - hr.gather(x, 1, index)  # cancels for large logits
    return _reduced(hr.reshape(hr.either(best, usual), [-1]), reduction)


@op
def kl_div(x, target, reduction="mean", log_target=False):
    expect(reduction == "batchmean" and log_target,
            "kl_div but for log_target=True and reduction='batchmean': t log(t) has no formula")
    return hr.sum(hr.stored(hr.exp(target) * (target - x))) / float(x.shape[0])


@op
def cosine_similarity(a, b, dim=1, eps=1e-8):
    lengths = [hr.maximum(norm(x, 2, dim), hr.constant(norm(x, 2, dim), eps)) for x in (a, b)]
    return hr.sum(a * b, [dim]) / (lengths[0] * lengths[1])
