"""Mixed precision: `autocast` chooses dtypes, `GradScaler` keeps fp16 gradients in range."""

import functools
from typing import Any, Callable, Mapping, Optional

from . import _halfgrad
from ._halfgrad import Tensor
from ._halfgrad import dtype as DType
from ._halfgrad.amp import (AsyncGradScaler, GradScaler, MasterWeights, StepOutcome,
                            clear_autocast_cache, get_autocast_dtype, is_autocast_enabled)
from .regions import Region

__all__ = [
    "AsyncGradScaler", "GradScaler", "MasterWeights", "StepOutcome", "autocast",
    "clear_autocast_cache", "custom_bwd", "custom_fwd", "get_autocast_dtype", "is_autocast_enabled",
]


class autocast(Region):
    """A region of mixed precision, as a context manager or a decorator.

    Inside, each op's operands are cast according to its precision class: float16 (or `dtype`) for
    matrix products, float32 where 16 bits overflow. Casts are differentiable, so float32 weights
    get float32 gradients. The rules are those of torch.autocast for CUDA, on every device.
    """

    def __init__(self, device_type: str = "cpu", dtype: Optional[DType] = None,
                 enabled: bool = True, cache_enabled: Optional[bool] = None) -> None:
        super().__init__(
            lambda: _halfgrad.amp.set_autocast(device_type, dtype, enabled, cache_enabled))


def _cast(value: Any, device_type: str, dtype: DType) -> Any:
    """Casts the tensors that autocast may touch, also inside lists, tuples and mappings."""
    if isinstance(value, Tensor):
        is_eligible = _halfgrad.amp.is_eligible(value, device_type)
        return value.to(dtype) if is_eligible else value
    if isinstance(value, Mapping):
        return {key: _cast(item, device_type, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item, device_type, dtype) for item in value)
    return value


def custom_fwd(fwd: Optional[Callable[..., Any]] = None, *, device_type: str,
               cast_inputs: Optional[DType] = None) -> Any:
    """Decorates forward() of an autograd.Function: backward() will run with the same settings.

    With `cast_inputs` tensors are cast to that dtype in an autocast region, and forward() and
    backward() run without autocast.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        is_enabled = is_autocast_enabled(device_type)
        ctx._autocast = (get_autocast_dtype(device_type), is_enabled and cast_inputs is None)
        if cast_inputs is None or not is_enabled:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, cast_inputs),
                       **_cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd: Optional[Callable[..., Any]] = None, *, device_type: str) -> Any:
    """Decorates backward(): it runs with the settings that custom_fwd() noted."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *gradients: Any) -> Any:
        if not hasattr(ctx, "_autocast"):
            raise ValueError("custom_bwd: expected a forward decorated with custom_fwd, got none")
        dtype, is_enabled = ctx._autocast
        with autocast(device_type, dtype, is_enabled):
            return bwd(ctx, *gradients)

    return backward
