"""Ops of PyTorch that move elements, computed with halfgrad.reference."""

import math

from .. import reference as hr
from ._torch_registry import dims_of, expect, op


def _from_the_end(x, dim):
    return dim if dim >= 0 else dim + x.ndim


@op(names=("contiguous", "clone", "detach", "to", "float", "half", "bfloat16", "double", "type_as", "cpu", "cuda",
            "requires_grad", "identity"), moves=True)
def same(x, *_, **__):
    return x


def _shape(sizes):
    return list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else list(sizes)


@op(names=("reshape", "view"), moves=True)
def reshape(x, *sizes, shape=None):
    return hr.reshape(x, list(shape) if shape is not None else _shape(sizes))


@op(moves=True)
def permute(x, *dims):
    return hr.permute(x, [_from_the_end(x, dim) for dim in _shape(dims)])


@op(names=("transpose", "swapaxes"), moves=True)
def transpose(x, dim0, dim1):
    return hr.transpose(x, dim0, dim1)


@op(moves=True)
def t(x):
    return hr.t(x) if x.ndim == 2 else x


@op(moves=True)
def flatten(x, start_dim=0, end_dim=-1):
    first, last = _from_the_end(x, start_dim), _from_the_end(x, end_dim)
    return hr.reshape(x, [*x.shape[:first], math.prod(x.shape[first:last + 1]), *x.shape[last + 1:]])


@op(moves=True)
def unsqueeze(x, dim):
    return hr.unsqueeze(x, dim)


@op(moves=True)
def squeeze(x, dim=None):
    dims = range(x.ndim) if dim is None else [_from_the_end(x, each) for each in dims_of(dim)]
    return hr.reshape(x, [size for i, size in enumerate(x.shape) if i not in dims or size != 1])


@op(moves=True)
def expand(x, *sizes):
    sizes = _shape(sizes)
    missing = len(sizes) - x.ndim
    return hr.expand(x, [x.shape[i - missing] if size == -1 else size for i, size in enumerate(sizes)])


@op(moves=True)
def expand_as(x, other):
    return hr.expand(x, list(other.shape))


@op(moves=True)
def narrow(x, dim, start, length):
    return hr.narrow(x, dim, start, length)


@op(moves=True)
def split(x, split_size_or_sections, dim=0):
    size, sections = x.shape[dim], split_size_or_sections
    if isinstance(sections, int):
        sections = [min(sections, size - start) for start in range(0, size, sections)]
    starts = [sum(sections[:i]) for i in range(len(sections))]
    return tuple(hr.narrow(x, dim, start, length) for start, length in zip(starts, sections))


@op(moves=True)
def chunk(x, chunks, dim=0):
    return split(x, -(-x.shape[dim] // chunks), dim)


@op(names=("cat", "concat", "concatenate"))
def cat(tensors, dim=0):
    return hr.cat(list(tensors), dim)


@op
def stack(tensors, dim=0):
    dim = dim if dim >= 0 else dim + tensors[0].ndim + 1
    return hr.cat([hr.unsqueeze(x, dim) for x in tensors], dim)


@op(names=("__getitem__",), moves=True)
def getitem(x, index):
    index = index if isinstance(index, tuple) else (index,)
    given = sum(each is not None and each is not Ellipsis for each in index)
    if Ellipsis in index:
        at = index.index(Ellipsis)
        index = index[:at] + (slice(None),) * (x.ndim - given) + index[at + 1:]
    dim = 0
    for each in index:
        if each is None:
            x = hr.unsqueeze(x, dim)
            dim += 1
        elif isinstance(each, int):
            at = each if each >= 0 else each + x.shape[dim]
            x = hr.narrow(x, dim, at, 1)
            x = hr.reshape(x, [*x.shape[:dim], *x.shape[dim + 1:]])
        else:
            expect(isinstance(each, slice) and each.step in (None, 1), f"an index of {type(each).__name__}")
            start, stop, _ = each.indices(x.shape[dim])
            x = hr.narrow(x, dim, start, max(0, stop - start))
            dim += 1
    return x
