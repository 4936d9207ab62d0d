"""Functions of PyTorch that Python writes better than C++."""

from typing import Any, Optional, Union

from . import _halfgrad
from ._halfgrad import Tensor, dtype

_BFLOAT16 = {"bits": 16, "eps": 2.0 ** -7, "max": (2 - 2.0 ** -7) * 2.0 ** 127,
             "tiny": 2.0 ** -126, "resolution": 0.01}


class finfo:
    """Limits of a floating-point dtype: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, type: dtype = dtype.float32) -> None:
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


class iinfo:
    """Limits of an integer dtype: bits, max and min."""

    def __init__(self, type: dtype) -> None:
        if type.is_floating_point or type == dtype.bool_:
            raise TypeError(f"iinfo: expected an integer dtype, got {type}")
        import numpy as np

        info = np.iinfo(type.name)
        self.dtype, self.bits = type.name, info.bits
        self.max, self.min = int(info.max), int(info.min)


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


def bernoulli(input: Tensor) -> Tensor:
    """1 with the probability of each element, else 0."""
    return (_halfgrad.rand_like(input) < input).to(input.dtype)


def normal(mean: float, std: float, size: Any, *, dtype: Optional[dtype] = None,
           device: Union[str, _halfgrad.device, None] = None) -> Tensor:
    """Draws elements from a normal distribution."""
    return _halfgrad.empty(size, dtype=dtype, device=device).normal_(mean, std)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Grids of coordinates, [n, m, ...] each, of vectors [n], [m], ...

    indexing="xy" exchanges the first two dimensions, as in NumPy.
    """
    if indexing not in ("ij", "xy"):
        raise ValueError(f"meshgrid: expected indexing \"ij\" or \"xy\", got \"{indexing}\"")
    vectors = list(tensors[0]) if len(tensors) == 1 and not is_tensor(tensors[0]) else list(tensors)
    sizes = [vector.numel() for vector in vectors]
    grids = []
    for i, vector in enumerate(vectors):
        shape = [1] * len(vectors)
        shape[i] = sizes[i]
        grids.append(vector.reshape(shape).expand(sizes))
    if indexing == "xy" and len(grids) > 1:
        grids = [grid.transpose(0, 1) for grid in grids]
    return tuple(grids)


def get_rng_state() -> Tensor:
    """The state of the default generator: 16 bytes, uint8."""
    seed, stream = _halfgrad.default_generator().get_state()
    data = int(seed).to_bytes(8, "little") + int(stream).to_bytes(8, "little")
    return Tensor._from_bytes(data, (16,), dtype.uint8)


def set_rng_state(new_state: Tensor) -> None:
    """Sets what get_rng_state() returned. Raises ValueError for a tensor of another size."""
    data = new_state._to_bytes()
    if len(data) != 16:
        raise ValueError(f"set_rng_state: expected 16 bytes, got {len(data)}")
    _halfgrad.default_generator().set_state(
        (int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")))
