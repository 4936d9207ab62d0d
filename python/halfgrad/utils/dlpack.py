"""DLPack capsules under the names of torch.utils.dlpack."""

from .._halfgrad import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
