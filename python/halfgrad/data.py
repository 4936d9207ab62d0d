"""Data sets and loaders."""

from ._halfgrad.data import DataLoader, TensorDataset, load_mnist, synthetic_digits

__all__ = ["DataLoader", "TensorDataset", "load_mnist", "synthetic_digits"]
