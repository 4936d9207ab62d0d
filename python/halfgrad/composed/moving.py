"""Moving, stacking, repeating and splitting dimensions."""

from typing import Any, Iterable, Optional, Sequence, Union

from .. import _halfgrad
from .._halfgrad import Tensor, dtype
from ..return_types import Size

Dims = Union[int, Sequence[int]]


def _list(dims: Dims) -> list[int]:
    return [dims] if isinstance(dims, int) else list(dims)


def movedim(input: Tensor, source: Dims, destination: Dims) -> Tensor:
    """A view whose dimensions `source` are at the positions `destination`; the others keep their
    order."""
    count = input.ndim
    moved = [dim % count for dim in _list(source)]
    targets = [dim % count for dim in _list(destination)]
    if len(moved) != len(targets) or len(set(moved)) + len(set(targets)) != 2 * len(moved):
        raise ValueError("movedim: expected as many destinations as sources, each once, got "
                         f"{source} and {destination}")
    order = [dim for dim in range(count) if dim not in moved]
    for target, dim in sorted(zip(targets, moved)):
        order.insert(target, dim)
    return input.permute(order)


moveaxis = movedim


def repeat_interleave(input: Tensor, repeats: Union[int, Tensor, None] = None,
                      dim: Optional[int] = None, *, output_size: Optional[int] = None) -> Tensor:
    """Repeats each element along `dim`, by one number or by one for each; without `dim`, each
    element of the flattened tensor. Without `repeats`, repeats i input[i] times."""
    if repeats is None:
        input, repeats = _halfgrad.arange(input.numel(), device=input.device), input
    if dim is None:
        input, dim = input.flatten(), 0
    count = input.size(dim)
    if isinstance(repeats, int) or repeats.numel() == 1:
        times = [int(repeats)] * count
    else:
        times = repeats.tolist()
    if len(times) != count or min(times, default=0) < 0:
        raise ValueError(f"repeat_interleave: expected {count} repeats of 0 or more, got {times}")
    index = [i for i, n in enumerate(times) for _ in range(n)]
    return input.index_select(dim, _halfgrad.tensor(index, dtype=dtype.int64, device=input.device))


def atleast_1d(input: Tensor) -> Tensor:
    """The tensor with at least one dimension."""
    return input.reshape(1) if input.ndim == 0 else input


def atleast_2d(input: Tensor) -> Tensor:
    """The tensor with at least two dimensions; a vector becomes a row."""
    return atleast_1d(input).unsqueeze(0) if input.ndim < 2 else input


def hstack(tensors: Iterable[Tensor]) -> Tensor:
    """Joins tensors along dimension 1, vectors along dimension 0."""
    parts = [atleast_1d(tensor) for tensor in tensors]
    return _halfgrad.cat(parts, dim=0 if parts and parts[0].ndim == 1 else 1)


def vstack(tensors: Iterable[Tensor]) -> Tensor:
    """Joins tensors along dimension 0; a vector is a row."""
    return _halfgrad.cat([atleast_2d(tensor) for tensor in tensors], dim=0)


row_stack = vstack


def dstack(tensors: Iterable[Tensor]) -> Tensor:
    """Joins tensors along dimension 2; a matrix [n, m] counts as [n, m, 1]."""
    parts = [atleast_2d(tensor) for tensor in tensors]
    return _halfgrad.cat([p.unsqueeze(-1) if p.ndim == 2 else p for p in parts], dim=2)


def column_stack(tensors: Iterable[Tensor]) -> Tensor:
    """Joins tensors along dimension 1; a vector is a column."""
    return hstack([t.reshape(-1, 1) if t.ndim < 2 else t for t in tensors])


def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Splits into that many parts, whose sizes differ by at most one, or before these indices."""
    size = input.size(dim)
    if isinstance(indices_or_sections, int):
        parts = indices_or_sections
        if parts < 1:
            raise ValueError(f"tensor_split: expected at least 1 section, got {parts}")
        short, longer = size // parts, size % parts
        sizes = [short + 1] * longer + [short] * (parts - longer)
    else:
        borders = [0, *(slice(i).indices(size)[1] for i in indices_or_sections), size]
        sizes = [max(0, end - begin) for begin, end in zip(borders, borders[1:])]
        if sum(sizes) != size:
            raise ValueError(f"tensor_split: expected indices that rise, got {indices_or_sections}")
    return input.split(sizes, dim)


def fliplr(input: Tensor) -> Tensor:
    """flip(1)."""
    return input.flip(1)


def flipud(input: Tensor) -> Tensor:
    """flip(0)."""
    return input.flip(0)


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turns the plane of two dimensions by k quarter turns, from the first to the second."""
    first, second = dims
    if k % 4 == 2:
        return input.flip([first, second])
    turned = input if k % 4 == 0 else input.transpose(first, second)
    return turned.flip(first) if k % 4 == 1 else turned.flip(second) if k % 4 == 3 else turned


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape to which tensors of these shapes broadcast."""
    if not shapes:
        return Size()
    return broadcast_tensors(*(_zeros(shape) for shape in shapes))[0].shape


def _zeros(shape: Any) -> Tensor:
    """A tensor of this shape and one element of memory."""
    return _halfgrad.zeros(()).expand(shape)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of all tensors with the shape to which they broadcast."""
    is_list = len(tensors) == 1 and not isinstance(tensors[0], Tensor)
    parts = list(tensors[0]) if is_list else tensors
    sizes: list[int] = []
    for part in parts:
        shape = list(part.shape)
        sizes = [1] * (len(shape) - len(sizes)) + sizes
        shape = [1] * (len(sizes) - len(shape)) + shape
        for dim, (one, other) in enumerate(zip(sizes, shape)):
            if one != other and 1 not in (one, other):
                raise ValueError("broadcast_tensors: expected shapes that broadcast, got "
                                 f"{[list(p.shape) for p in parts]}")
            sizes[dim] = other if one == 1 else one
    return tuple(part.expand(sizes) for part in parts)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of vectors: [n m ..., count], or the vector itself if there
    is only one."""
    if len(tensors) == 1:
        return tensors[0]
    sizes = [tensor.numel() for tensor in tensors]
    columns = []
    for i, tensor in enumerate(tensors):
        shape = [1] * len(sizes)
        shape[i] = sizes[i]
        columns.append(tensor.reshape(shape).expand(sizes).flatten())
    return _halfgrad.stack(columns, dim=1)


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with the elements of the flattened tensor on a diagonal."""
    return input.flatten().diag(offset)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: dtype = dtype.int64,
                 device: Any = None) -> Tensor:
    """Rows and columns of the elements of a lower triangle: [2, count]."""
    triangle = _halfgrad.ones(row, col, device=device).tril(offset)
    return triangle.nonzero().t().contiguous().to(dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: dtype = dtype.int64,
                 device: Any = None) -> Tensor:
    """Rows and columns of the elements of an upper triangle: [2, count]."""
    triangle = _halfgrad.ones(row, col, device=device).triu(offset)
    return triangle.nonzero().t().contiguous().to(dtype)


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of all windows of `size` elements, `step` apart, along a dimension; the window is a
    new last dimension."""
    count = input.size(dimension)
    if not 0 <= size <= count or step < 1:
        raise ValueError(f"unfold: expected a size of at most {count} and a step of at least 1, "
                         f"got {size} and {step}")
    sizes, strides = list(input.shape), list(input.stride())
    dim = dimension % input.ndim
    sizes[dim] = (count - size) // step + 1
    return input.as_strided([*sizes, size],
                            [*strides[:dim], strides[dim] * step, *strides[dim + 1:], strides[dim]])
