"""Mixed precision: `autocast` chooses dtypes, `GradScaler` keeps fp16 gradients in range."""

from typing import Optional

from . import _halfgrad
from ._halfgrad import dtype as DType
from ._halfgrad.amp import (GradScaler, MasterWeights, StepOutcome, clear_autocast_cache,
                            get_autocast_dtype, is_autocast_enabled)
from .regions import Region

__all__ = [
    "GradScaler", "MasterWeights", "StepOutcome", "autocast", "clear_autocast_cache",
    "get_autocast_dtype", "is_autocast_enabled",
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
