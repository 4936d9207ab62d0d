"""Files: safetensors, NumPy's formats, and checkpoints of whole runs."""

from ._halfgrad.io import (Checkpoint, FormatError, load_checkpoint, load_npy, load_npz,
                           load_safetensors, save_checkpoint, save_npy, save_npz, save_safetensors)

__all__ = [
    "Checkpoint", "FormatError", "load_checkpoint", "load_npy", "load_npz", "load_safetensors",
    "save_checkpoint", "save_npy", "save_npz", "save_safetensors",
]
