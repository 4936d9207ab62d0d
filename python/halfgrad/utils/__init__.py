"""Checkpointing of activations, data sets in PyTorch's form, and DLPack."""

from . import checkpoint, data, dlpack

__all__ = ["checkpoint", "data", "dlpack"]
