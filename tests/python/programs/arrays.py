"""Data and initial weights of the programs, from NumPy: the same for PyTorch and halfgrad."""

import numpy as np


def normal(seed, *shape):
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


def integers(seed, high, *shape):
    return np.random.RandomState(seed).randint(0, high, shape).astype(np.int64)


def weights(model, seed):
    """A state dict of NumPy arrays: parameters uniform in [-0.3, 0.3], other entries as they are."""
    random = np.random.RandomState(seed)
    state = {}
    for name, parameter in model.named_parameters():
        state[name] = random.uniform(-0.3, 0.3, tuple(parameter.shape)).astype(np.float32)
    return state
