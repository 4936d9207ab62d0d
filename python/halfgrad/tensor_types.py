"""The names of tensors of one dtype from before PyTorch 0.4: FloatTensor([1, 2])."""

from typing import Any

from . import _halfgrad
from ._halfgrad import Tensor

__all__ = ["BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor",
           "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor"]


class _OfOneDtype(type):
    dtype: _halfgrad.dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype

    def __call__(cls, *data: Any) -> Tensor:
        """A tensor of these elements, or with integers a new one of these sizes."""
        if len(data) == 1 and not isinstance(data[0], int):
            return _halfgrad.tensor(data[0], dtype=cls.dtype)
        return _halfgrad.empty(data or 0, dtype=cls.dtype)


class FloatTensor(metaclass=_OfOneDtype):
    dtype = _halfgrad.float32


class DoubleTensor(metaclass=_OfOneDtype):
    dtype = _halfgrad.float64


class HalfTensor(metaclass=_OfOneDtype):
    dtype = _halfgrad.float16


class BFloat16Tensor(metaclass=_OfOneDtype):
    dtype = _halfgrad.bfloat16


class LongTensor(metaclass=_OfOneDtype):
    dtype = _halfgrad.int64


class IntTensor(metaclass=_OfOneDtype):
    dtype = _halfgrad.int32


class ShortTensor(metaclass=_OfOneDtype):
    dtype = _halfgrad.int16


class CharTensor(metaclass=_OfOneDtype):
    dtype = _halfgrad.int8


class ByteTensor(metaclass=_OfOneDtype):
    dtype = _halfgrad.uint8


class BoolTensor(metaclass=_OfOneDtype):
    dtype = _halfgrad.bool_
