"""Products of tensors, distances, and two functions of numbers."""

from typing import Any, Optional

from .. import _halfgrad
from .._halfgrad import Tensor


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sums of products over the last dimension of both; the product with a number."""
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    return tensordot(input, other, dims=([-1], [-1]))


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sums products over pairs of dimensions: the last `dims` of a with the first of b, or the
    listed ones of both."""
    if isinstance(dims, int):
        pairs = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        one, other = dims
        pairs = ([d % a.ndim for d in ([one] if isinstance(one, int) else one)],
                 [d % b.ndim for d in ([other] if isinstance(other, int) else other)])
    if len(pairs[0]) != len(pairs[1]) or [a.size(d) for d in pairs[0]] != [
            b.size(d) for d in pairs[1]]:
        raise ValueError(f"tensordot: expected dimensions of equal sizes, got {dims} of shapes "
                         f"{list(a.shape)} and {list(b.shape)}")
    rows = [d for d in range(a.ndim) if d not in pairs[0]]
    columns = [d for d in range(b.ndim) if d not in pairs[1]]
    sizes = [a.size(d) for d in rows] + [b.size(d) for d in columns]
    count = 1
    for d in pairs[0]:
        count *= a.size(d)
    left = a.permute([*rows, *pairs[0]]).reshape(-1, count)
    right = b.permute([*pairs[1], *columns]).reshape(count, -1)
    return (left @ right).reshape(sizes)


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: each element of the input times the whole of `other`."""
    count = max(input.ndim, other.ndim)
    left = input.reshape([1] * (count - input.ndim) + list(input.shape))
    right = other.reshape([1] * (count - other.ndim) + list(other.shape))
    pairs = [n for size in left.shape for n in (size, 1)]
    others = [n for size in right.shape for n in (1, size)]
    return (left.reshape(pairs) * right.reshape(others)).reshape(
        [a * b for a, b in zip(left.shape, right.shape)])


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * input + alpha * mat @ vec."""
    return input * beta + (mat @ vec) * alpha


def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1,
         alpha: float = 1) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2)."""
    return input * beta + vec1.outer(vec2) * alpha


def matrix_power(input: Tensor, n: int) -> Tensor:
    """The product of n copies of each matrix [..., m, m]; n is 0 or more."""
    if n < 0:
        raise ValueError(f"matrix_power: expected n of 0 or more, got {n}")
    result: Optional[Tensor] = None
    power = input
    while n > 0:
        if n % 2 == 1:
            result = power if result is None else result @ power
        n //= 2
        power = power @ power if n > 0 else power
    if result is None:
        eye = _halfgrad.eye(input.size(-1), dtype=input.dtype, device=input.device)
        return eye.expand(input.shape).clone()
    return result


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of all rows of [..., n, d] and [..., m, d]: [..., n, m]."""
    return (x1.unsqueeze(-2) - x2.unsqueeze(-3)).norm(p, -1)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other."""
    return (input - other).norm(p)


def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """log(e^input + e^other), without overflow."""
    one, two = _halfgrad.broadcast_to(input, (input + other).shape), other
    return _halfgrad.stack([one, two.expand(one.shape)]).logsumexp(0)


def logit(input: Tensor, eps: Optional[float] = None) -> Tensor:
    """log(x / (1 - x)); with `eps` x is limited to [eps, 1 - eps] first."""
    x = input if eps is None else input.clamp(eps, 1 - eps)
    return (x / (1 - x)).log()
