"""Elements picked and written by indices."""

from typing import Any, Optional, Union

from .. import _halfgrad
from .._halfgrad import Tensor

Number = Union[bool, int, float]


def _along(dim: int, index: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The index of a vector as one for scatter_add: expanded to `shape`."""
    sizes = [1] * len(shape)
    sizes[dim % len(shape)] = index.numel()
    return index.long().reshape(sizes).expand(shape)


def _places(input: Tensor, dim: int, index: Tensor) -> tuple[Tensor, ...]:
    """An index for each dimension, which picks what gather(dim, index) does."""
    places = []
    for d in range(input.ndim):
        if d == dim % input.ndim:
            places.append(index)
        else:
            shape = [1] * input.ndim
            shape[d] = index.size(d)
            places.append(_halfgrad.arange(index.size(d), device=index.device).reshape(shape))
    return tuple(places)


def scatter_(input: Tensor, dim: int, index: Tensor, src: Union[Tensor, Number, None] = None, *,
             value: Optional[Number] = None) -> Tensor:
    """Does input[index[i][j]][j] = src[i][j] for dim 0, or = value. Of several values for one
    element the last one stays."""
    source = value if src is None else src
    if source is None or (src is not None and value is not None):
        found = "none" if source is None else "both"
        raise TypeError(f"scatter_: expected src or value, got {found}")
    if index.ndim != input.ndim:
        raise ValueError(f"scatter_: expected an index of {input.ndim} dimensions, got "
                         f"{list(index.shape)}")
    if isinstance(source, Tensor) and source.ndim > 0:
        source = source[tuple(slice(0, size) for size in index.shape)]
    if index.numel() > 0:
        input[_places(input, dim, index)] = source
    return input


def scatter(input: Tensor, dim: int, index: Tensor, src: Union[Tensor, Number, None] = None, *,
            value: Optional[Number] = None) -> Tensor:
    """A copy of the input after scatter_()."""
    return scatter_(input.clone(), dim, index, src, value=value)


def index_add_(input: Tensor, dim: int, index: Tensor, source: Tensor, *,
               alpha: Number = 1) -> Tensor:
    """Adds alpha * source[i] to input[index[i]], for dim 0, in place."""
    scaled = source if alpha == 1 else source * alpha
    return input.scatter_add_(dim, _along(dim, index, source.shape), scaled)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *,
              alpha: Number = 1) -> Tensor:
    """A copy of the input after index_add_()."""
    return index_add_(input.clone(), dim, index, source, alpha=alpha)


def _slices(input: Tensor, dim: int, index: Tensor) -> tuple[Any, ...]:
    return (slice(None),) * (dim % input.ndim) + (index,)


def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Fills the slices that `index` lists, in place."""
    input[_slices(input, dim, index)] = value
    return input


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy of the input after index_fill_()."""
    return index_fill_(input.clone(), dim, index, value)


def index_copy_(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Copies slice i of `source` into slice index[i], in place."""
    input[_slices(input, dim, index)] = source
    return input


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy of the input after index_copy_()."""
    return index_copy_(input.clone(), dim, index, source)


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of the input after index_put_()."""
    return input.clone().index_put_(tuple(indices), values, accumulate)


def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Writes the first elements of `source` where mask is True, in row-major order, in place."""
    places = mask.expand(input.shape)
    count = int(places.sum())
    if source.numel() < count:
        raise ValueError(f"masked_scatter_: expected at least {count} elements, got "
                         f"{source.numel()}")
    input[places] = source.flatten()[:count]
    return input


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy of the input after masked_scatter_()."""
    return masked_scatter_(input.clone(), mask, source)


def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Fills the diagonal of a matrix, in place. The diagonal does not wrap."""
    if input.ndim != 2 or wrap:
        raise ValueError("fill_diagonal_: expected a matrix and wrap=False, got shape "
                         f"{list(input.shape)}, wrap={wrap}")
    input.diagonal().fill_(fill_value)
    return input


def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements of the flattened tensor, in the shape of the index."""
    return input.flatten()[index]


def take_along_dim(input: Tensor, indices: Tensor, dim: Optional[int] = None) -> Tensor:
    """gather() with other dimensions broadcast; without `dim`, elements of the flattened tensor."""
    if dim is None:
        return input.flatten().gather(0, indices.flatten())
    shapes = [[*tensor.shape] for tensor in (input, indices)]
    if len(shapes[0]) != len(shapes[1]):
        raise ValueError(f"take_along_dim: expected as many dimensions, got {shapes}")
    for shape, other in (shapes, shapes[::-1]):
        for d in range(input.ndim):
            if d != dim % input.ndim and shape[d] == 1:
                shape[d] = other[d]
    return input.expand(shapes[0]).gather(dim, indices.expand(shapes[1]))
