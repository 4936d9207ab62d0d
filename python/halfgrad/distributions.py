"""Probability distributions with the names of torch.distributions: Normal, Bernoulli, Categorical.

    policy = Categorical(logits=model(state))
    action = policy.sample()
    loss = -policy.log_prob(action) * reward
"""

import math
from typing import Optional, Sequence, Union

from . import _halfgrad
from ._halfgrad import Tensor
from .autograd import no_grad
from .extras import finfo
from .nn import functional as F

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal", "kl_divergence"]

Number = Union[Tensor, float]


def _tensors(*values: Number) -> list[Tensor]:
    """The values as tensors of one shape."""
    known = next((value for value in values if isinstance(value, Tensor)), None)
    return list(_halfgrad.broadcast_tensors(*[
        value if isinstance(value, Tensor) else
        _halfgrad.tensor(float(value), dtype=known.dtype if known is not None else None,
                         device=known.device if known is not None else None)
        for value in values]))


def _inside(probs: Tensor) -> Tensor:
    """Probabilities that have finite logits."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


class Distribution:
    """A batch of distributions, whose parameters have the shape batch_shape."""

    batch_shape: tuple[int, ...] = ()
    event_shape: tuple[int, ...] = ()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Samples through which gradients flow to the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample()")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Samples of shape [*sample_shape, *batch_shape], without a gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability, or of its density, at the value."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The expectation of -log_prob()."""
        raise NotImplementedError


class Normal(Distribution):
    """The normal distribution of this mean and standard deviation."""

    def __init__(self, loc: Number, scale: Number,
                 validate_args: Optional[bool] = None) -> None:
        self.loc, self.scale = _tensors(loc, scale)
        if validate_args is not False and not bool((self.scale > 0).all()):
            raise ValueError("Normal: expected scale > 0, got another one")
        self.batch_shape = tuple(self.loc.shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale.square()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = self.loc.detach().new_empty((*sample_shape, *self.batch_shape)).normal_()
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        squares = (value - self.loc).square() / (2 * self.variance)
        return -squares - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        return 0.5 * (1 + ((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)).erf())

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Bernoulli(Distribution):
    """1 with the probability `probs`, or sigmoid(logits), else 0."""

    def __init__(self, probs: Optional[Number] = None, logits: Optional[Number] = None,
                 validate_args: Optional[bool] = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Bernoulli: expected probs or logits, got both or none")
        if probs is not None:
            [self.probs] = _tensors(probs)
            inside = _inside(self.probs)
            self.logits = inside.log() - (-inside).log1p()
        else:
            assert logits is not None
            [self.logits] = _tensors(logits)
            self.probs = self.logits.sigmoid()
        self.batch_shape = tuple(self.probs.shape)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = (*sample_shape, *self.batch_shape)
        return _halfgrad.bernoulli(self.probs.detach().expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = _halfgrad.broadcast_tensors(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Categorical(Distribution):
    """The classes 0, 1, ... with the probabilities of the last dimension, or softmax(logits)."""

    def __init__(self, probs: Optional[Tensor] = None, logits: Optional[Tensor] = None,
                 validate_args: Optional[bool] = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Categorical: expected probs or logits, got both or none")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
            self.logits = _inside(self.probs).log()
        else:
            assert logits is not None
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
            self.probs = self.logits.softmax(-1)
        self.batch_shape = tuple(self.probs.shape[:-1])

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        rows = self.probs.detach().reshape(-1, self.probs.shape[-1])
        drawn = _halfgrad.multinomial(rows, math.prod(sample_shape), True)
        return drawn.T.reshape((*sample_shape, *self.batch_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        index, logits = _halfgrad.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        return -(self.logits.clamp(min=finfo(self.logits.dtype).min) * self.probs).sum(-1)


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The expectation of p.log_prob() - q.log_prob() under p, for two of one kind."""
    if isinstance(p, Normal) and isinstance(q, Normal):
        ratio = (p.scale / q.scale).square()
        return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).square() - 1 - ratio.log())
    if isinstance(p, Bernoulli) and isinstance(q, Bernoulli):
        ones = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
        return ones + (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        terms = p.probs * (p.logits - q.logits)
        terms = terms.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
        return terms.sum(-1)
    raise NotImplementedError("kl_divergence: expected two distributions of one kind, got "
                              f"{type(p).__name__} and {type(q).__name__}")
