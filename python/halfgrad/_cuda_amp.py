"""The older names of torch.cuda.amp."""

from typing import Optional

from . import amp
from ._halfgrad import dtype
from .amp import GradScaler

__all__ = ["GradScaler", "autocast"]


class autocast(amp.autocast):
    """halfgrad.autocast("cuda", ...)."""

    def __init__(self, enabled: bool = True, dtype: Optional[dtype] = None,
                 cache_enabled: Optional[bool] = None) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)
