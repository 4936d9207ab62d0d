"""Convolutions and pooling of PyTorch in halfgrad.reference: windows are gathered, then multiplied or reduced."""

import itertools
import math

from .. import reference as hr
from .._halfgrad import tensor
from ._torch_registry import OPS
from ._torch_trace import UnsupportedOp


def _each(value, dims):
    """One value for each dimension of the window."""
    return list(value) * (1 if len(value) == dims else dims) if isinstance(value, (list, tuple)) else [value] * dims


def _places(sizes, kernel, stride, padding, dilation, ceil_mode=False):
    """The sizes of the result, and for each of its elements the places of its window in a plane.

    A place is an index into the plane in row-major order, or None in the padding.
    """
    results = []
    for size, k, s, p, d in zip(sizes, kernel, stride, padding, dilation):
        span = size + 2 * p - d * (k - 1) - 1
        count = (-(-span // s) if ceil_mode else span // s) + 1
        if ceil_mode and (count - 1) * s >= size + p:
            count -= 1
        results.append(count)
    windows = []
    for at in itertools.product(*(range(count) for count in results)):
        window = []
        for offset in itertools.product(*(range(k) for k in kernel)):
            place = [a * s - p + o * d for a, s, p, o, d in zip(at, stride, padding, offset, dilation)]
            inside = all(0 <= x < size for x, size in zip(place, sizes))
            window.append(sum(x * math.prod(sizes[i + 1:]) for i, x in enumerate(place)) if inside else None)
        windows.append(window)
    return results, windows


def _windows(x, dims, kernel, stride, padding, dilation, filling, ceil_mode=False):
    """The windows of x [..., *sizes] as [planes, windows, elements], and the shape of the result."""
    results, windows = _places(x.shape[-dims:], kernel, stride, padding, dilation, ceil_mode)
    return _gathered(x, dims, windows, filling), [*x.shape[:-dims], *results]


def _gathered(x, dims, windows, filling):
    """The elements at the places of the windows in each plane, as [planes, windows, elements]."""
    plane = math.prod(x.shape[-dims:])
    flat = hr.reshape(x, [-1, plane])
    beyond = hr.masked_fill(hr.zeros_like(hr.narrow(flat, 1, 0, 1)), hr.exact(x, tensor([[1.0]])), filling)
    index = [float(plane if place is None else place) for window in windows for place in window]
    gathered = hr.index_select(hr.cat([flat, beyond], 1), 1, hr.exact(x, tensor(index)))
    return hr.reshape(gathered, [flat.shape[0], len(windows), -1])


def _convolution(dims):
    def convolution(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if isinstance(padding, str) or x.ndim != dims + 2:
            raise UnsupportedOp(f"conv{dims}d with padding={padding!r} and an input of {x.ndim} dimensions")
        kernel = weight.shape[2:]
        gathered, shape = _windows(x, dims, kernel, _each(stride, dims), _each(padding, dims),
                                   _each(dilation, dims), 0.0)
        batch, channels, count = x.shape[0], x.shape[1], gathered.shape[1]
        inside, outside = channels // groups, weight.shape[0] // groups
        # [batch, groups, windows, inside * elements] times [groups, inside * elements, outside]
        columns = hr.reshape(gathered, [batch, groups, inside, count, -1])
        columns = hr.reshape(hr.permute(columns, [1, 0, 3, 2, 4]), [groups, batch * count, -1])
        rows = hr.transpose(hr.reshape(weight, [groups, outside, -1]), 1, 2)
        product = hr.matmul(columns, rows)
        if bias is not None:
            product = product + hr.reshape(bias, [groups, 1, outside])
        product = hr.permute(hr.reshape(product, [groups, batch, count, outside]), [1, 0, 3, 2])
        return hr.reshape(product, [batch, weight.shape[0], *shape[2:]])

    return convolution


def _transposed_places(sizes, kernel, stride, padding, output_padding, dilation):
    """The sizes of the result of a transposed convolution, and for each of its elements the places of the input
    that the kernel's elements multiply, or None."""
    results = [(size - 1) * s - 2 * p + d * (k - 1) + more + 1
               for size, k, s, p, more, d in zip(sizes, kernel, stride, padding, output_padding, dilation)]
    windows = []
    for at in itertools.product(*(range(count) for count in results)):
        window = []
        for offset in itertools.product(*(range(k) for k in kernel)):
            reached = [a + p - o * d for a, p, o, d in zip(at, padding, offset, dilation)]
            inside = all(x % s == 0 and 0 <= x // s < size for x, s, size in zip(reached, stride, sizes))
            window.append(sum(x // s * math.prod(sizes[i + 1:])
                              for i, (x, s) in enumerate(zip(reached, stride))) if inside else None)
        windows.append(window)
    return results, windows


def _transposed_convolution(dims):
    def conv_transpose(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        if x.ndim != dims + 2:
            raise UnsupportedOp(f"conv_transpose{dims}d with an input of {x.ndim} dimensions")
        sizes = x.shape[-dims:]
        results, windows = _transposed_places(sizes, weight.shape[2:], _each(stride, dims), _each(padding, dims),
                                              _each(output_padding, dims), _each(dilation, dims))
        gathered = _gathered(x, dims, windows, 0.0)
        batch, count = x.shape[0], len(windows)
        inside, outside = x.shape[1] // groups, weight.shape[1]
        # [groups, batch * windows, inside * elements] times [groups, inside * elements, outside]
        columns = hr.reshape(gathered, [batch, groups, inside, count, -1])
        columns = hr.reshape(hr.permute(columns, [1, 0, 3, 2, 4]), [groups, batch * count, -1])
        rows = hr.reshape(weight, [groups, inside, outside, -1])
        rows = hr.reshape(hr.permute(rows, [0, 1, 3, 2]), [groups, -1, outside])
        product = hr.matmul(columns, rows)
        if bias is not None:
            product = product + hr.reshape(bias, [groups, 1, outside])
        product = hr.permute(hr.reshape(product, [groups, batch, count, outside]), [1, 0, 3, 2])
        return hr.reshape(product, [batch, groups * outside, *results])

    return conv_transpose


def _max_pool(dims):
    def max_pool(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        if return_indices:
            raise UnsupportedOp("max_pool with return_indices=True")
        kernel = _each(kernel_size, dims)
        gathered, shape = _windows(x, dims, kernel, _each(stride or kernel, dims), _each(padding, dims),
                                   _each(dilation, dims), -math.inf, ceil_mode)
        return hr.reshape(hr.amax(gathered, [2]), shape)

    return max_pool


def _avg_pool(dims):
    def avg_pool(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):
        if ceil_mode or divisor_override is not None or (not count_include_pad and padding not in (0, (0,) * dims)):
            raise UnsupportedOp("avg_pool with ceil_mode, divisor_override or padding that does not count")
        kernel = _each(kernel_size, dims)
        gathered, shape = _windows(x, dims, kernel, _each(stride or kernel, dims), _each(padding, dims),
                                   [1] * dims, 0.0)
        return hr.reshape(hr.mean(gathered, [2]), shape)

    return avg_pool


def _adaptive_avg_pool(dims):
    def adaptive_avg_pool(x, output_size):
        if _each(output_size, dims) != [1] * dims:
            raise UnsupportedOp("adaptive_avg_pool to another size than 1")
        return hr.mean(x, list(range(x.ndim - dims, x.ndim)), True)

    return adaptive_avg_pool


for _name, _make in (("conv", _convolution), ("conv_transpose", _transposed_convolution), ("max_pool", _max_pool), ("avg_pool", _avg_pool),
                     ("adaptive_avg_pool", _adaptive_avg_pool)):
    for _dims in (1, 2, 3):
        OPS[f"{_name}{_dims}d"] = _make(_dims)
