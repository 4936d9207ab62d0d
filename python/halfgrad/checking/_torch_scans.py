"""Partial sums, products, places of extremes and einsum of PyTorch, computed with halfgrad.reference."""

import math

from .. import reference as hr
from .._halfgrad import tensor
from ._torch_registry import expect, op


@op
def cumsum(x, dim, dtype=None):
    return hr.cumsum(x, dim)


@op
def prod(x, dim=None, keepdim=False, dtype=None):
    if dim is None:
        return hr.prod(hr.reshape(x, [-1]), 0)
    return hr.prod(x, dim, keepdim)


def _places(x, dim, keepdim):
    return hr.argmax(hr.reshape(x, [-1]), 0) if dim is None else hr.argmax(x, dim, keepdim)


@op
def argmax(x, dim=None, keepdim=False):
    return _places(x, dim, keepdim)


@op
def argmin(x, dim=None, keepdim=False):
    return _places(-x, dim, keepdim)


@op
def flip(x, *dims):
    dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (list, tuple)) else dims
    for dim in dims:
        index = [float(i) for i in reversed(range(x.shape[dim]))]
        x = hr.index_select(x, dim, hr.exact(x, tensor(index)))
    return x


def _letters(equation, operands):
    """The letters of each operand and of the result; those of the result may be left out."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    inputs = inputs.split(",")
    plain = all(part.isalpha() or not part for part in [*inputs, output])
    twice = any(len(set(part)) < len(part) for part in [*inputs, output])
    expect(plain and not twice and len(inputs) == len(operands) <= 2,
           f"einsum {equation!r}: expected one or two operands without '...' or a letter twice in one of them")
    if not arrow:
        every = "".join(inputs)
        output = "".join(letter for letter in sorted(set(every)) if every.count(letter) == 1)
    return inputs, output


def _summed(x, letters, kept):
    """x without the letters that nobody else has: sums over them."""
    dims = [i for i, letter in enumerate(letters) if letter not in kept]
    return (hr.sum(x, dims) if dims else x), "".join(letter for letter in letters if letter in kept)


def _arranged(x, letters, order):
    return hr.permute(x, [letters.index(letter) for letter in order])


@op
def einsum(equation, *operands):
    """Two operands are one batch of matrix products: letters of both and of the result count the batch."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    inputs, output = _letters(equation, operands)
    if len(operands) == 1:
        x, letters = _summed(operands[0], inputs[0], output)
        return _arranged(x, letters, output)
    a, left = _summed(operands[0], inputs[0], output + inputs[1])
    b, right = _summed(operands[1], inputs[1], output + inputs[0])
    sizes = {**dict(zip(left, a.shape)), **dict(zip(right, b.shape))}
    batch = "".join(x for x in left if x in right and x in output)
    depth = "".join(x for x in left if x in right and x not in output)
    rows = "".join(x for x in left if x not in right)
    columns = "".join(x for x in right if x not in left)
    count = {name: math.prod(sizes[x] for x in group)
             for name, group in (("b", batch), ("d", depth), ("r", rows), ("c", columns))}
    first = hr.reshape(_arranged(a, left, batch + rows + depth), [count["b"], count["r"], count["d"]])
    second = hr.reshape(_arranged(b, right, batch + depth + columns), [count["b"], count["d"], count["c"]])
    product = hr.matmul(first, second) if depth else first * second
    order = batch + rows + columns
    return _arranged(hr.reshape(product, [sizes[x] for x in order]), order, output)
