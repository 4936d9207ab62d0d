"""Functions of PyTorch that Python writes better than C++."""

from typing import Any, Optional, Union

from . import _halfgrad
from ._halfgrad import Tensor, dtype

_BFLOAT16 = {"bits": 16, "eps": 2.0 ** -7, "max": (2 - 2.0 ** -7) * 2.0 ** 127,
             "tiny": 2.0 ** -126, "resolution": 0.01}


class finfo:
    """Limits of a floating-point dtype: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, type: Optional[dtype] = None) -> None:
        type = _halfgrad.get_default_dtype() if type is None else type
        if not type.is_floating_point:
            raise TypeError(f"finfo: expected a floating-point dtype, got {type}; see iinfo")
        limits: dict[str, Any] = _BFLOAT16
        if type != dtype.bfloat16:
            import numpy as np

            info = np.finfo(type.name)
            limits = {name: getattr(info, name) for name in _BFLOAT16}
        self.dtype = type.name
        self.bits = int(limits["bits"])
        self.eps, self.max = float(limits["eps"]), float(limits["max"])
        self.tiny = self.smallest_normal = float(limits["tiny"])
        self.resolution = float(limits["resolution"])
        self.min = -self.max

    def __repr__(self) -> str:
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
                f"eps={self.eps:g}, smallest_normal={self.tiny:g}, tiny={self.tiny:g}, "
                f"dtype={self.dtype})")


class iinfo:
    """Limits of an integer dtype: bits, max and min."""

    def __init__(self, type: dtype) -> None:
        if type.is_floating_point or type == dtype.bool_:
            raise TypeError(f"iinfo: expected an integer dtype, got {type}")
        import numpy as np

        info = np.iinfo(type.name)
        self.dtype, self.bits = type.name, info.bits
        self.max, self.min = int(info.max), int(info.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def as_tensor(data: Any, dtype: Optional[dtype] = None,
              device: Union[str, _halfgrad.device, None] = None) -> Tensor:
    """`data` itself if it is such a tensor, else the memory of an array, else a new tensor."""
    import numpy as np

    if isinstance(data, np.ndarray) and data.flags.writeable and data.dtype.kind in "fiub":
        data = _halfgrad.from_numpy(data)
    if not isinstance(data, Tensor):
        return _halfgrad.tensor(data, dtype=dtype, device=device)
    if dtype is not None:
        data = data.to(dtype)
    return data if device is None else data.to(device)


def is_tensor(obj: object) -> bool:
    """Whether the object is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating-point numbers."""
    return input.is_floating_point()


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


def asarray(obj: Any, *, dtype: Optional[dtype] = None,
            device: Union[str, _halfgrad.device, None] = None, copy: Optional[bool] = None,
            requires_grad: bool = False) -> Tensor:
    """as_tensor(), or with copy=True a new tensor."""
    result = as_tensor(obj, dtype, device)
    if copy:
        result = result.detach().clone()
    return result.requires_grad_() if requires_grad else result


def detach(input: Tensor) -> Tensor:
    """A tensor of the same memory outside the graph."""
    return input.detach()


def scalar_tensor(s: Union[bool, int, float], *, dtype: Optional[dtype] = None,
                  device: Union[str, _halfgrad.device, None] = None,
                  requires_grad: bool = False) -> Tensor:
    """The number as a tensor without dimensions, in the default dtype."""
    return _halfgrad.tensor(s, dtype=dtype or _halfgrad.get_default_dtype(), device=device,
                            requires_grad=requires_grad)


def randint_like(input: Tensor, low: int, high: Optional[int] = None, *,
                 dtype: Optional[dtype] = None,
                 device: Union[str, _halfgrad.device, None] = None) -> Tensor:
    """Integers from [low, high), or from [0, low), in the shape and dtype of the input."""
    first, end = (0, low) if high is None else (low, high)
    return _halfgrad.empty_like(input.detach(), dtype=dtype, device=device).random_(first, end)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both have one shape."""
    return input.is_same_size(other)


def is_complex(input: Tensor) -> bool:
    """False: there are no complex numbers."""
    return input.is_complex()


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0."""
    return bool(input)


def result_type(tensor1: Union[Tensor, bool, int, float],
                tensor2: Union[Tensor, bool, int, float]) -> dtype:
    """The dtype of the sum of the two, of which one is a tensor."""
    def without_elements(operand: Any) -> Any:
        has_dims = isinstance(operand, Tensor) and operand.ndim > 0
        return operand.detach().flatten()[:0] if has_dims else operand

    if not isinstance(tensor1, Tensor) and not isinstance(tensor2, Tensor):
        raise TypeError("result_type: expected a tensor, got two numbers")
    total: Tensor = without_elements(tensor1) + without_elements(tensor2)
    return total.dtype
