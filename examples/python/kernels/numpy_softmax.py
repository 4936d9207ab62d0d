"""Checks two softmax kernels in NumPy: a right one, and one whose vectors of 8 elements forget the tail.

    python examples/python/kernels/numpy_softmax.py
"""

import sys

import halfgrad
import numpy as np


def softmax(x, out):
    """Softmax of each row of [m, k], in float32."""
    wide = x.astype(np.float32)
    e = np.exp(wide - wide.max(axis=1, keepdims=True, initial=-np.inf))
    out[...] = e / e.sum(axis=1, keepdims=True)


def softmax_in_vectors(x, out):
    """The same in vectors of 8 elements. The last k mod 8 columns are forgotten."""
    wide = x.astype(np.float32)
    e = np.exp(wide - wide.max(axis=1, keepdims=True, initial=-np.inf))
    sums = e.sum(axis=1, keepdims=True)
    for column in range(0, x.shape[1] - 7, 8):
        vector = slice(column, column + 8)
        out[:, vector] = e[:, vector] / sums


if __name__ == "__main__":
    good = halfgrad.check(softmax, "softmax", dtype="float16", out=True)
    bad = halfgrad.check(softmax_in_vectors, "softmax", dtype="float16", out=True)
    print(good, bad, sep="\n\n")
    sys.exit(not good.passed or bad.passed)
