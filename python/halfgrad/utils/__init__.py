"""Checkpointing of activations, and data sets in PyTorch's form."""

from . import checkpoint, data

__all__ = ["checkpoint", "data"]
